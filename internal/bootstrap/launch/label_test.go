// SPDX-License-Identifier: BSD-3-Clause

// Labelled output, placement in turn, and the time limit.

package launch

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestLabels: lines of four ranks that write half lines at the same time, more than a pipe holds,
// and a last line without an end.
func TestLabels(t *testing.T) {
	for _, remote := range []Remote{{}, twoHosts()} {
		r := begin(t, Options{Ranks: 4, Label: true, Remote: remote}, "chat")
		r.waitAndCheck(t, 0, "")
		next := map[int]int{}
		got := strings.Split(strings.TrimSuffix(r.output(t), "\n"), "\n")
		for _, line := range got {
			var rank, by, n int
			_, err := fmt.Sscanf(line, "[%d] rank %d line %d", &rank, &by, &n)
			if err != nil || rank != by || n != next[rank] ||
				!strings.HasSuffix(line, " end") && n != chatLines {
				t.Fatalf("line %q, expected number %d", line, next[rank])
			}
			next[rank]++
		}
		if len(got) != 4*(chatLines+1) {
			t.Errorf("%d lines", len(got))
		}
	}
}

// TestLabelOfWhatStays: a process that a rank leaves behind has the pipe, and does not keep the
// job.
func TestLabelOfWhatStays(t *testing.T) {
	o := &output{}
	cmd := exec.Command("sh", "-c", "sleep 5 &")
	ended := o.connect(cmd, "[0] ", nil, nil)
	cmd.Stdout = &strings.Builder{}
	begun := time.Now()
	if err := cmd.Run(); err != exec.ErrWaitDelay {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
	ended()
}

// With Cyclic ranks are dealt to pretended nodes in turn.
func TestInTurn(t *testing.T) {
	r := begin(t, Options{Ranks: 5, Nodes: 2, Cyclic: true}, "node")
	r.waitAndCheck(t, 0, "")
	want := []string{"rank 0 is on node0", "rank 1 is on node1", "rank 2 is on node0",
		"rank 3 is on node1", "rank 4 is on node0"}
	if got := r.lines(t); !slices.Equal(got, want) {
		t.Errorf("printed %q", got)
	}
}

// With Cyclic ranks are dealt to hosts in turn.
func TestHostsInTurn(t *testing.T) {
	r := begin(t, Options{Ranks: 5, Cyclic: true, Remote: twoHosts()}, "meet")
	r.waitAndCheck(t, 0, "")
	for i, c := range r.children {
		if want := []string{"127.0.0.1", "localhost"}[i%2]; c.rank != i ||
			c.host.name != want {
			t.Errorf("child %d is rank %d on %s", i, c.rank, c.host.name)
		}
	}
}

// Ranks are dealt in blocks or in turn, as many as each has room for.
func TestDeal(t *testing.T) {
	for _, c := range []struct {
		counts []int
		cyclic bool
		want   string
	}{
		{[]int{3, 1}, false, "[[0 1 2] [3]]"},
		{[]int{3, 1}, true, "[[0 2 3] [1]]"},
		{[]int{1, 0, 2}, true, "[[0] [] [1 2]]"},
		{[]int{2, 2, 1}, true, "[[0 3] [1 4] [2]]"},
	} {
		if got := fmt.Sprint(dealRanks(c.counts, c.cyclic)); got != c.want {
			t.Errorf("deal(%v, %v): %s", c.counts, c.cyclic, got)
		}
	}
}

// A job that takes longer than its timeout is ended.
func TestTimeout(t *testing.T) {
	for _, remote := range []Remote{{}, twoHosts()} {
		r := begin(t, Options{Ranks: 2, Timeout: 300 * time.Millisecond, Remote: remote},
			"sleep")
		r.waitAndCheck(t, statusExpired, "armcirun: the job has not ended within 300ms\n")
	}
	begin(t, Options{Ranks: 2, Timeout: time.Hour}, "exit", "0").waitAndCheck(t, 0, "")
}
