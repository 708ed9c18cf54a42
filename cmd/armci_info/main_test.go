// SPDX-License-Identifier: BSD-3-Clause

// Tests of the command: its options, what it prints alone and in a job of armcirun, and that its
// settings can be pasted. The test program starts itself as armci_info.

package main

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"libarmci/internal/bootstrap/launch"
)

const marker = "as-armci_info"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == marker {
		os.Args = os.Args[1:]
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// run starts the command with these settings and no others.
func run(t *testing.T, environ []string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{marker}, args...)...)
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "ARMCI_") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(append(cmd.Env, "GORACE=atexit_sleep_ms=0"), environ...)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if e := cmd.Run(); cmd.ProcessState == nil {
		t.Fatal(e)
	}
	return out.String(), err.String(), cmd.ProcessState.ExitCode()
}

func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !regexp.MustCompile(p).MatchString(text) {
			t.Errorf("nothing matches %q in\n%s", p, text)
		}
	}
}

// TestEverything looks for a line of every section in the output without options.
func TestEverything(t *testing.T) {
	out, stderr, status := run(t, nil)
	if status != 0 || stderr != "" {
		t.Errorf("status %d, %s", status, stderr)
	}
	wants(t, out, `(?m)^libarmci \d+\.\d+\.\d+$`, `built with go1\.`, `Open MPI: \S`,
		`Job: 1 rank\(s\) on 1 node\(s\), not started`,
		`shm: in use within the node`, `of address space at 0x[0-9a-f]+`,
		`may allocate [\d.]+ [KMGT]iB more`, `the machine: [\d.]+ GiB, of which`,
		`(?m)^ARMCI_FASTPATH=y$`)
	if strings.Contains(out, "cost model: ") { // an error of measuring it
		t.Error(out)
	}
}

// TestSectionsAndUsage shows that options select sections, and that wrong ones print the usage.
func TestSectionsAndUsage(t *testing.T) {
	for _, c := range []struct {
		args         string
		has, has_not string
		status       int
	}{
		{"-b", "built with", "Settings", 0}, {"-c", "# Settings", "built with", 0},
		{"-t", "Job:", "Arena", 0},
		{"-d", "Arena", "Job:", 0}, {"-d", "(built in, not measured here)", "Job:", 0},
		{"-tb", "Job:", "Arena", 0},
		{"-h", "usage: armci_info", "Job:", 0},
		{"-x", "", "Job:", 2}, {"-b what", "", "built", 2},
	} {
		out, stderr, status := run(t, nil, strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(out, c.has) ||
			strings.Contains(out, c.has_not) {
			t.Errorf("%s: status %d, output\n%s%s", c.args, status, out, stderr)
		}
		if status == 2 && !strings.Contains(stderr, "usage: armci_info") {
			t.Errorf("%s: no usage on standard error", c.args)
		}
	}
}

// TestSettings looks for settings of every origin, and for the notes on unknown and former names.
func TestSettings(t *testing.T) {
	out, _, status := run(t, []string{"ARMCI_SPIN=7", "ARMCI_NODE=it's a node",
		"ARMCI_SHM_LIMIT=5", "ARMCI_FASTPAHT=n",
		"ARMCI_RDMA_EAGER=1k"}, "-c")
	if status != 0 {
		t.Errorf("status %d", status)
	}
	wants(t, out, `(?m)from the environment, default \d+\]\nARMCI_SPIN=7$`,
		`unset by default\]\nARMCI_NODE='it'\\''s a node'`,
		`# ARMCI_SHM_LIMIT=5: known to ARMCI-MPI`,
		`# ARMCI_FASTPAHT is no setting.*did you mean ARMCI_FASTPATH`,
		`default\]\nARMCI_TRACE=n`,
		`default\]\nARMCI_POLL=auto`,
		`# Counts calls, .*(\n# .*)?Set it if .*\n# \[y or n; default\]\nARMCI_STATS=n`,
		`(?s)# For tests and measurements\n.*ARMCI_COST_MODEL=auto`,
		`# ARMCI_RDMA_EAGER is a former name: set ARMCI_EAGER instead`)
}

// TestPaste gives the output to a shell and looks whether the same settings come out.
func TestPaste(t *testing.T) {
	first, _, _ := run(t, []string{"ARMCI_SPIN=7", "ARMCI_NODE=it's a node"}, "-c")
	shell := exec.Command("sh", "-c", "set -a; "+first+"\nexec \"$0\" "+marker+" -c",
		os.Args[0])
	second, err := shell.Output()
	if err != nil {
		t.Fatal(err)
	}
	values := regexp.MustCompile(`(?m)^ARMCI_\w+=.*$`)
	a, b := values.FindAllString(first, -1), values.FindAllString(string(second), -1)
	if len(a) < 8 || strings.Join(a, "\n") != strings.Join(b, "\n") {
		t.Errorf("%q became %q", a, b)
	}
}

func TestBadSetting(t *testing.T) {
	_, stderr, status := run(t, []string{"ARMCI_SPIN=often"}, "-c")
	if status != statusMissing ||
		!strings.Contains(stderr, `ARMCI_SPIN="often": must be a whole number`) {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// inJob runs the command as a job of armcirun's.
func inJob(t *testing.T, ranks, nodes int) (stdout, stderr string, status int) {
	t.Helper()
	var files [2]*os.File
	for i := range files {
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		files[i] = f
	}
	j, err := launch.Start(launch.Options{Ranks: ranks, Nodes: nodes,
		Argv:    []string{os.Args[0], marker, "-td"},
		Streams: launch.Streams{Stdout: files[0], Stderr: files[1]}, Report: files[1]})
	if err != nil {
		t.Fatal(err)
	}
	status = j.Wait()
	out, _ := os.ReadFile(files[0].Name())
	diagnosis, _ := os.ReadFile(files[1].Name())
	return string(out), string(diagnosis), status
}

// TestJob prints the map and the transports of jobs on one node and on two.
func TestJob(t *testing.T) {
	for _, c := range []struct {
		ranks, nodes, status int
		parts                []string
	}{
		{3, 0, 0, []string{`3 rank\(s\) on 1 node\(s\), started by armcirun`,
			`ranks 0 \(\d+ cores\), 1 \(\d+ cores\), 2 \(`,
			`shm: in use within the node`}},
		{4, 2, 0, []string{`4 rank\(s\) on 2 node\(s\)`,
			`node 0, host node0: ranks 0 .*, 1 `, `node 1, host node1: ranks 2 .*, 3 `,
			`tcp: in use between nodes`,
			`rows of \d+ bytes and more are not packed: ` +
				`a piece of a call costs \d+ ns`}},
	} {
		out, stderr, status := inJob(t, c.ranks, c.nodes)
		if status != c.status {
			t.Errorf("status %d\n%s%s", status, out, stderr)
		}
		wants(t, out, c.parts...)
		if n := strings.Count(out, "Job:"); n != 1 {
			t.Errorf("the job is printed %d times", n)
		}
	}
}

func TestInCache(t *testing.T) {
	cache := []byte(
		"head\x00/usr/lib/libmpi.so.40.30\x00libmpi.so.40\x00/usr/lib/libmpi.so.40\x00tail")
	if got := inCache(cache, []string{"libmpi.so.40"}); got != "/usr/lib/libmpi.so.40" {
		t.Errorf("found %q", got)
	}
	if got := inCache(nil, []string{"libmpi.so.40"}); got != "" {
		t.Errorf("found %q in nothing", got)
	}
}
