// SPDX-License-Identifier: BSD-3-Clause

// Tests of bench windows and bench caf: what ours is held against, tables, charts, command
// lines of launchers. They start no job and measure nothing.
package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"libarmci/internal/figure"
)

// windowRows are figures of two MPIs and of ours.
func windowRows() []figure.Row {
	value := func(v float64) figure.Value { return figure.Value{Median: v, Least: v, Most: v} }
	return []figure.Row{
		{Op: "put+flush", Shape: "-", Bytes: 8, Ranks: 2, Unit: "ns", Ours: value(66),
			Where: "Open MPI"},
		{Op: "put+flush", Shape: "-", Bytes: 8, Ranks: 2, Unit: "ns", Ours: value(90),
			Where: "MPICH"},
		{Op: "put+flush", Shape: "-", Bytes: 8, Ranks: 2, Unit: "ns", Ours: value(16),
			Where: "Open MPI, osc/sm"},
		{Op: "put+flush", Shape: "-", Bytes: 8, Ranks: 2, Unit: "ns", Ours: value(33),
			Where: "ours over MPICH"},
		{Op: "bandwidth-put", Shape: "-", Bytes: 1 << 20, Ranks: 2, Unit: "MB/s",
			Ours: value(8), Raw: value(10), Ratio: 0.8, Where: "ours over MPICH"},
		{Op: "skew-put", Shape: "0", Bytes: 65536, Ranks: 2, Unit: "MB/s",
			Ours: value(1000), Where: "ours over MPICH"},
		{Op: "skew-put", Shape: "10", Bytes: 65536, Ranks: 2, Unit: "MB/s",
			Ours: value(990), Where: "ours over MPICH"},
	}
}

// TestDerived holds ours against the faster MPI as users run it, its own baseline, and itself
// without skew.
func TestDerived(t *testing.T) {
	var all []*series
	for i := range allSeries {
		all = append(all, &allSeries[i])
	}
	bars, err := loadBars(windowBars, "node")
	late, lateErr := loadBars(windowBars, "tcp")
	if err != nil || lateErr != nil {
		t.Fatal(err, lateErr)
	}
	states := map[string]string{}
	for _, r := range derived(windowRows(), all) {
		if x := judge(r, append(bars, late...)); x.state != "" {
			states[r.Op] = x.state
			if r.Op == "put+flush:native" && (r.Raw.Median != 66 || r.Ratio != 0.5) {
				t.Errorf("beside the faster MPI: %+v", r)
			}
		}
	}
	for op, want := range map[string]string{"put+flush": "over", "put+flush:native": "ok",
		"bandwidth-put:raw": "over", "skew-put:late": "ok"} {
		if states[op] != want {
			t.Errorf("%s: got %q, want %q", op, states[op], want)
		}
	}
}

// TestWindowTables looks for lines of the tables, for a chart, and for the best of equal runs.
func TestWindowTables(t *testing.T) {
	w := windows{suite: &oneSided,
		windowOptions: windowOptions{network: "node", runs: 2, reps: 1},
		missing: []absence{{"MPICH", "swap", true, "Signal 11"},
			{"MPICH", "swap", true, "Signal 11"}}}
	for range w.runs {
		for _, r := range windowRows() {
			w.figures.addRow(r)
		}
	}
	bars, _ := loadBars(windowBars, "node")
	var out bytes.Buffer
	w.writeTables(&out, []*series{&allSeries[0], &allSeries[3], &allSeries[5]}, bars)
	for _, want := range []string{
		"| `put+flush` | 8 B | 66.0 ns | 90.0 ns | 33.0 ns |\n",
		"| `skew-put` | 10 ms late | - | - | 990 MB/s |\n",
		"| `put+flush:native` | 8 B | ours over MPICH | 33.0 ns | 66.0 ns | 0.50 | <=1 | " +
			"held |\n",
		"(10.0 MB/s)", "- MPICH: Signal 11 (swap by MPI_Win_create)\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	dir := t.TempDir()
	if err := oneSided.draw(dir, "node", w.rows(), ""); err != nil {
		t.Fatal(err)
	}
	if picture, err := os.ReadFile(filepath.Join(dir, "node-skew-put.svg")); err != nil ||
		!bytes.Contains(picture, []byte(">ours over MPICH<")) {
		t.Errorf("%v\n%s", err, picture)
	}
	w.best = true
	if r := w.rows()[0]; r.Ours.Median != 66 {
		t.Errorf("the best of equal ones: %+v", r)
	}
}

// Every bar's operation must be in the source of the program.
func TestWindowBars(t *testing.T) {
	for _, c := range []struct {
		bars, files, quote string
		networks           []string
	}{{windowBars, "windows/*.c", `"`, []string{"node", "tcp", "rdma"}},
		{cafBars, "caf/*.f90", `'`, []string{"node", "tcp"}}} {
		var source []byte
		files, _ := filepath.Glob(c.files)
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			source = append(source, text...)
		}
		for _, network := range c.networks {
			bars, err := loadBars(c.bars, network)
			if err != nil || len(bars) == 0 {
				t.Fatal(err)
			}
			for _, b := range bars {
				op, _, _ := strings.Cut(b.op, ":")
				if !bytes.Contains(source,
					[]byte(c.quote+strings.TrimSuffix(op, "/create")+c.quote)) {
					t.Errorf("a bar for %s, which nothing measures", b.op)
				}
			}
		}
	}
}

// TestCafCommandLines compares command lines of bench caf on every network.
func TestCafCommandLines(t *testing.T) {
	w, ours := windows{suite: &coarrays, dir: "build/bench",
		windowOptions: windowOptions{network: "nodes", reps: 3}}, &coarrays.series[2]
	for network, want := range map[string]string{
		"node":  "build/bin/armcirun -n 2 build/bench/caf-armci -r 3 put",
		"nodes": "build/bin/armcirun -n 2 -nodes 2 build/bench/caf-armci -r 3 put",
		"rdma": "build/bin/armcirun -n 2 -nodes 2 env ARMCI_TRANSPORT=rdma " +
			"build/bench/caf-armci -r 3 put",
	} {
		w.network = network
		if got := strings.Join(ours.argv(&w, batch{ranks: 2}, []string{"put"}),
			" "); got != want {
			t.Errorf("%s: %s", network, got)
		}
	}
	w.network, w.hosts, w.agent = "hosts", []string{"a", "b"}, "agent"
	if got := strings.Join(ours.argv(&w, batch{ranks: 2}, nil), " "); !strings.Contains(got,
		" -hosts a,b -ppn 1 -agent agent build/bench/caf-armci") {
		t.Error(got)
	}
	if got := strings.Join(coarrays.series[0].argv(&w, batch{ranks: 2}, nil),
		" "); strings.Contains(got, "LD_PRELOAD") || !strings.Contains(got, "caf-openmpi") {
		t.Error(got)
	}
}

// TestWindowsCommandLines refuses wrong options, and looks for words in command lines of bench
// windows.
func TestWindowsCommandLines(t *testing.T) {
	for _, bad := range []string{"-network moon", "-network hosts", "-hosts a,b",
		"-only nothing", "-series nothing", "-ranks 1", "-reps 100", "word"} {
		if _, err := oneSided.parse(strings.Fields(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	w := windows{suite: &oneSided, dir: "dir",
		windowOptions: windowOptions{network: "hosts", hosts: []string{"a", "b", "c"},
			agent: "agent", library: "ours.so", reps: 3}}
	argv := strings.Join(allSeries[4].argv(&w, batch{ranks: 2, created: true},
		[]string{"small"}), " ")
	for _, want := range []string{"--host a:1,b:1 ",
		" env LD_PRELOAD=ours.so dir/windows-openmpi -r 3 -c -s small"} {
		if !strings.Contains(argv, want) {
			t.Errorf("no %q in %s", want, argv)
		}
	}
	w = windows{suite: &oneSided, dir: "dir",
		windowOptions: windowOptions{network: "rdma", library: "ours.so", most: 3}}
	argv = strings.Join(allSeries[5].argv(&w, batch{ranks: 2}, nil), " ")
	for _, want := range []string{"ARMCI_NODE=node",
		"ARMCI_TRANSPORT=rdma LD_PRELOAD=ours.so dir/windows-mpich"} {
		if !strings.Contains(argv, want) {
			t.Errorf("no %q in %s", want, argv)
		}
	}
	if slices.ContainsFunc(w.asked(), func(b batch) bool { return b.ranks > 3 }) {
		t.Error("more ranks than there may be")
	}
}

// What a preloaded library that could not start leaves to the MPI is not ours.
func TestWindowsOfTheMPI(t *testing.T) {
	rows := []figure.Row{{Op: "put+flush", Bytes: 8, Where: "ours over Open MPI"}}
	const says = "[0@node0] MPI_Init: no transport"
	for _, c := range []struct {
		preloads bool
		stderr   string
		kept     bool
	}{
		{true, "", true}, {true, "a word of the MPI\n", true}, {true, says + "\n", false},
		{false, says, true},
	} {
		w := windows{suite: &oneSided}
		s := series{title: "ours over Open MPI", mpi: "openmpi", ours: c.preloads}
		kept := w.keepFigures(&s, false, []string{"small"}, rows, []byte(c.stderr))
		missing, taken := w.isMissing(&s, "small", false), len(w.rows()) > 0
		if kept != c.kept || missing == c.kept || taken != c.kept {
			t.Errorf("%+v: kept %v, missing %v", c, kept, w.missing)
		}
	}
}
