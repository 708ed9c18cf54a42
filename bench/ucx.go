// SPDX-License-Identifier: BSD-3-Clause

// UCX's own ucx_perftest over the verbs device, beside the figures that do the same: two processes
// of it, started anew for each repetition, between pretended nodes.
package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"libarmci/bench/launch"
	"libarmci/internal/figure"
)

// perftests are tests of ucx_perftest, and what they are beside.
var perftests = []struct{ op, shape, test string }{
	{"put-flag", "half-trip", "ucp_put_lat"},
	{"get/registered", "-", "ucp_get"},
	{"nbput/registered", "batch", "ucp_put_bw"},
	{"fetch-add", "-", "ucp_fadd"},
	{"message", "half-trip", "tag_lat"},
}

// perftestSizes are those of a figure that is measured at many.
var perftestSizes = []int64{8, 64, 512, 4 << 10, 32 << 10, 64 << 10, 256 << 10}

const (
	perftest       = "ucx_perftest"
	perftestStarts = 3
	perftestTime   = 20 * time.Second
	perftestReady  = 3 * time.Second
	perftestBytes  = 4 << 30 // that a test moves, at most
)

// besideUCX measures what rows that were measured are beside.
func (o *options) besideUCX(rows []figure.Row, add func(figure.Row)) error {
	if !o.rdma || slices.Equal(o.mpi, []string{"none"}) || len(o.hosts) > 0 {
		return nil
	}
	if _, err := exec.LookPath(perftest); err != nil || !launch.HasUCX() {
		fmt.Fprintf(os.Stderr, "bench: no comparison with %s: it is not there, or root "+
			"has to make /dev/infiniband\n", perftest)
		return nil
	}
	for _, p := range perftests {
		for _, row := range rows {
			if row.Op != p.op || row.Shape != p.shape || row.Unit != "ns" ||
				!slices.Contains(perftestSizes, row.Bytes) ||
				strings.Contains(row.Where, ",") { // under an MPI
				continue
			}
			v, err := o.perftest(p.test, row.Bytes)
			if err != nil {
				return err
			}
			row.Op, row.Raw, row.Ratio = row.Op+"/ucx", v, row.Ours.Median/v.Median
			row.Where += ", " + perftest
			add(row)
		}
	}
	return nil
}

// perftest is what a message of so many bytes takes in a test, in some starts.
func (o *options) perftest(test string, n int64) (figure.Value, error) {
	starts, iterations := perftestStarts, min(100000, perftestBytes/(n+1))
	if o.quick {
		starts, iterations = 1, iterations/20+1
	}
	var all figure.Samples
	for range starts {
		ns, err := perftestOnce(test, n, iterations)
		if err != nil {
			return figure.Value{}, fmt.Errorf("%s -t %s -s %d: %w", perftest, test, n,
				err)
		}
		all = append(all, ns)
	}
	return all.Value(), nil
}

// perftestOnce runs a server and its client.
func perftestOnce(test string, n, iterations int64) (ns float64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), perftestTime)
	defer cancel()
	port, err := freePort()
	if err != nil {
		return 0, err
	}
	start := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, perftest, append(args, "-p", port)...)
		cmd.Env = append(cmd.Environ(), "UCX_TLS=rc_v,self")
		return cmd
	}
	server := start()
	if err := server.Start(); err != nil {
		return 0, err
	}
	defer server.Wait()
	defer cancel()
	var out []byte
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) { // until the server listens
		client := start("127.0.0.1", "-t", test, "-s", strconv.FormatInt(n, 10), "-n",
			strconv.FormatInt(iterations, 10), "-f", "-v")
		if out, err = client.CombinedOutput(); err == nil {
			break
		}
		if time.Since(begin) > perftestReady {
			return 0, fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
		}
	}
	return perftestTook(string(out))
}

// perftestTook reads how long a message takes over all, which ucx_perftest prints in us.
func perftestTook(out string) (ns float64, err error) {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) < 2 {
		return 0, fmt.Errorf("no figures: %q", out)
	}
	names := strings.Split(lines[len(lines)-2], ",")
	values := strings.Split(lines[len(lines)-1], ",")
	i := slices.Index(names, "overall_lat")
	if i < 0 || i >= len(values) {
		return 0, fmt.Errorf("no overall_lat: %q", out)
	}
	us, err := strconv.ParseFloat(values[i], 64)
	if err == nil && us <= 0 {
		err = fmt.Errorf("no time: %q", out)
	}
	return us * 1000, err
}

// freePort is a port of this machine that nothing listens on now.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}
