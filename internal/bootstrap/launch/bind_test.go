// SPDX-License-Identifier: BSD-3-Clause

// Where ranks may run, and a rank under a debugger.
package launch

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Two sockets of two cores of two threads, as the kernel may number them; processor 7 must not be
// used, of 8 nothing is known.
func TestTopology(t *testing.T) {
	dir := t.TempDir()
	for cpu := range 8 {
		at := filepath.Join(dir, fmt.Sprintf("cpu%d", cpu), "topology")
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		os.WriteFile(filepath.Join(at, "physical_package_id"),
			fmt.Appendf(nil, "%d\n", cpu%2), 0o644)
		os.WriteFile(filepath.Join(at, "core_id"), fmt.Appendf(nil, "%d\n", cpu%4/2), 0o644)
	}
	cores, sockets := topology(dir, []int{0, 1, 2, 3, 4, 5, 6, 8})
	if got, want := fmt.Sprint(cores), "[[0 4] [2 6] [8] [1 5] [3]]"; got != want {
		t.Errorf("cores %s, not %s", got, want)
	}
	if got, want := fmt.Sprint(sockets), "[[0 2 4 6 8] [1 3 5]]"; got != want {
		t.Errorf("sockets %s, not %s", got, want)
	}
}

// Ranks are bound to cores or sockets, if there are enough.
func TestBind(t *testing.T) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	places, _, err := bindings(BindCore, 1)
	if err != nil || len(places) != 1 || len(places[0]) == 0 {
		t.Fatalf("%v, error %v", places, err)
	}
	if places, _, err := bindings(BindNone, 2); err != nil || len(places) != 2 ||
		places[0] != nil {
		t.Errorf("unbound: %v, error %v", places, err)
	}
	if _, _, err := bindings(BindCore, set.Count()+1); err == nil ||
		!strings.Contains(err.Error(), "cores may be used") {
		t.Errorf("more ranks than cores: error %v", err)
	}
	places, _, err = bindings(BindSocket, 5)
	if err != nil || len(places) != 5 ||
		!slices.IsSortedFunc(places, func(a, b []int) int { return slices.Compare(a, b) }) {
		t.Errorf("to sockets: %v, error %v", places, err)
	}
	for _, remote := range []Remote{{}, {Hosts: twoHosts().Hosts[:1], Agent: twoHosts().Agent,
		Proxy: twoHosts().Proxy, Env: twoHosts().Env}} {
		want, _, err := bindings(BindCore, min(set.Count(), 2))
		if err != nil {
			t.Skip(err)
		}
		r := begin(t, Options{Ranks: len(want), Bind: BindCore, Remote: remote}, "bound")
		r.waitAndCheck(t, 0, "")
		for rank, line := range r.lines(t) {
			if line != fmt.Sprintf("rank %d on %v", rank, want[rank]) {
				t.Errorf("rank %d of %d prints %q, not %v", rank, len(want), line,
					want[rank])
			}
		}
	}
	var after unix.CPUSet
	if unix.SchedGetaffinity(0, &after) != nil || after != set {
		t.Error("the launcher itself is bound")
	}
}

// The debugged rank has the standard input and the debugger, here one that says what it has got.
func TestDebugger(t *testing.T) {
	dir := t.TempDir()
	script := "#!/bin/sh\nread line\necho \"gdb has $line\"\nwhile [ \"$1\" != --args ]; do " +
		"shift; done\nshift\nexec \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "gdb"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	for _, remote := range []Remote{{}, twoHosts()} {
		in, err := os.CreateTemp(dir, "in")
		if err != nil {
			t.Fatal(err)
		}
		in.WriteString("typed\nmore\n")
		in.Seek(0, 0)
		rank := 2
		r := begin(t, Options{Ranks: 3, Debug: &rank, Streams: Streams{Stdin: in},
			Remote: remote}, "stdin")
		r.waitAndCheck(t, 0, "")
		got := strings.Join(r.lines(t), "; ")
		want := `gdb has typed; rank 0 read "" <nil>; rank 1 read "" <nil>; rank 2 read`
		if !strings.HasPrefix(got, want) {
			t.Errorf("printed %q, not %q", got, want)
		}
		in.Close()
	}
}

func cpuSet(cpus ...int) (set unix.CPUSet) {
	for _, cpu := range cpus {
		set.Set(cpu)
	}
	return set
}

// Of itself a launcher gives each rank cores of its own, and none on which another process is
// bound.
func TestShares(t *testing.T) {
	cores := [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}
	for _, c := range []struct {
		ranks int
		taken unix.CPUSet
		want  string
	}{
		{4, cpuSet(), "[[0 4] [1 5] [2 6] [3 7]]"},
		{2, cpuSet(), "[[0 4 1 5] [2 6 3 7]]"},
		{1, cpuSet(), "[[]]"},
		{5, cpuSet(), "[[] [] [] [] []]"},
		{3, cpuSet(5), "[[0 4] [2 6] [3 7]]"},
		{4, cpuSet(5), "[[] [] [] []]"},
		{1, cpuSet(0), "[[1 5 2 6 3 7]]"},
		{2, cpuSet(0, 1, 2, 3), "[[] []]"},
	} {
		if got := fmt.Sprint(shareCores(cores, c.ranks, &c.taken)); got != c.want {
			t.Errorf("%d ranks: %s, not %s", c.ranks, got, c.want)
		}
	}
}

// Processes that may run on all processors, threads of the kernel and those that have ended take
// none.
func TestTaken(t *testing.T) {
	dir := t.TempDir()
	for pid, flags := range map[string]string{"1": "4194560", "2": "2129984", "3": "4194304",
		"self": "4194560"} {
		os.Mkdir(filepath.Join(dir, pid), 0o755)
		stat := pid + " (a) b) R 1 1 1 0 -1 " + flags + " 0 0"
		if err := os.WriteFile(filepath.Join(dir, pid, "stat"), []byte(stat),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
	os.Mkdir(filepath.Join(dir, "4"), 0o755)
	usable := cpuSet(0, 1, 2)
	runs := map[int]unix.CPUSet{1: cpuSet(0, 1, 2, 3), 2: cpuSet(0), 3: cpuSet(1, 3),
		4: cpuSet(2)}
	taken := takenBy(dir, &usable, func(pid int, set *unix.CPUSet) error {
		*set = runs[pid]
		return nil
	})
	if want := cpuSet(1); taken != want {
		t.Errorf("%v are taken, not %v", listed(&taken), listed(&want))
	}
}

// Two jobs of this machine that start while the other one runs do not share cores, and one that
// finds too few is unbound.
func TestJobsApart(t *testing.T) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	places, release, err := bindings(BindAuto, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if places[0] == nil {
		t.Skip("the cores of this machine are too few, or other jobs have them")
	}
	var child *exec.Cmd
	if err := startBound(places[0], func() error {
		child = exec.Command("sleep", "60")
		return child.Start()
	}); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer child.Process.Kill()
	release()
	next, again, err := bindings(BindAuto, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer again()
	for _, cpu := range places[0] {
		if slices.Contains(next[0], cpu) || slices.Contains(next[1], cpu) {
			t.Errorf("processes are bound to %v, and the next job is on %v", places[0],
				next)
		}
	}
}
