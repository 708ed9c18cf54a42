// SPDX-License-Identifier: BSD-3-Clause

// What the server in rank 0 of a launcher's job costs that rank: docs/growth.md has the figures.
// The others, 64 on a node, are in a process of their own.
package jobserver

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/bootstrap/jobwire"
)

const (
	// set in the process of the ranks: how many, address, secret
	ranksVariable = "JOBSERVER_TEST_RANKS"
	nodeRanks     = 64
	cardBytes     = 140 // of a node, in an exchange
)

// TestMain runs the tests, or is the process of the ranks for oneStart.
func TestMain(m *testing.M) {
	if ranks, err := strconv.Atoi(os.Getenv(ranksVariable)); err == nil {
		var s jobwire.Secret
		if s, err = jobwire.ParseSecret(os.Args[2]); err == nil {
			err = beRanks(os.Args[1], s, ranks)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// beRanks joins as all ranks, goes through the exchange of a start, and stays until standard input
// ends.
func beRanks(addr string, s jobwire.Secret, n int) error {
	conns := make([]net.Conn, n)
	for r := range conns {
		var err error
		if conns[r], err = jobwire.Dial(addr, patience); err != nil {
			return err
		}
		if err = jobwire.Greet(conns[r], s, jobwire.Hello, r, n); err != nil {
			return err
		}
		place, _ := jobwire.PackSplit(strconv.Itoa(r/nodeRanks), "@link")
		if err = jobwire.Write(conns[r], jobwire.Split, place); err != nil {
			return err
		}
	}
	for r, c := range conns {
		if _, err := jobwire.Read(c, jobwire.Placed); err != nil {
			return err
		}
		if r%nodeRanks == 0 {
			if err := jobwire.Write(c, jobwire.Contribute,
				make([]byte, cardBytes)); err != nil {
				return err
			}
		}
	}
	for r := 0; r < n; r += nodeRanks {
		if _, err := jobwire.Read(conns[r], jobwire.Collected); err != nil {
			return err
		}
	}
	fmt.Println("started")
	_, err := fmt.Scanln()
	_ = err // the end of standard input
	for _, c := range conns {
		if err := jobwire.Write(c, jobwire.Bye, nil); err != nil {
			return err
		}
	}
	for _, c := range conns {
		if _, err := jobwire.Read(c, jobwire.Done); err != nil {
			return err
		}
	}
	return nil
}

func processorTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// resident is the memory of this process, in bytes.
func resident() (n int64) {
	text, _ := os.ReadFile("/proc/self/statm")
	var all int64
	fmt.Sscan(string(text), &all, &n)
	return n * int64(os.Getpagesize())
}

func descriptors() int {
	all, _ := os.ReadDir("/proc/self/fd")
	return len(all)
}

// BenchmarkStart measures what the start of a job costs its server.
func BenchmarkStart(b *testing.B) {
	for _, ranks := range []int{64, 1024, 4096} {
		b.Run(fmt.Sprintf("ranks=%d", ranks), func(b *testing.B) {
			for b.Loop() {
				oneStart(b, ranks)
			}
		})
	}
}

// oneStart starts a job of so many ranks in another process and reports the server's costs.
func oneStart(b *testing.B, ranks int) {
	l, err := net.Listen("unix", jobwire.NewAddress())
	if err != nil {
		b.Fatal(err)
	}
	open, memory, busy := descriptors(), resident(), processorTime()
	s := NewWithin(ranks, 0, func(int, int, []int) {}, func(int) {}, []net.Listener{l})
	others := exec.Command(os.Args[0], s.Addr(0), s.Secret().String())
	others.Env = append(os.Environ(), ranksVariable+"="+strconv.Itoa(ranks))
	others.Stderr = os.Stderr
	leave, _ := others.StdinPipe()
	out, _ := others.StdoutPipe()
	if err := others.Start(); err != nil {
		b.Fatal(err)
	}
	if n, err := out.Read(make([]byte, 8)); n == 0 {
		b.Fatal(err)
	}
	b.ReportMetric(float64(descriptors()-open), "descriptors")
	b.ReportMetric(float64(resident()-memory)/1e6, "MB")
	b.ReportMetric(float64((processorTime() - busy).Milliseconds()), "cpu-ms")
	leave.Close()
	if err := others.Wait(); err != nil {
		b.Fatal(err)
	}
	<-s.Empty()
	s.Close()
}
