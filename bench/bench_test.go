// SPDX-License-Identifier: BSD-3-Clause

// Tests of what bench does besides starting workers: bars, jobs, tables, the
// comparison of two builds. They start no job and measure nothing.
package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"libarmci/internal/figure"
)

// TestBars checks on which side of its bar a figure is, and that malformed bars are refused.
func TestBars(t *testing.T) {
	value := func(v float64) figure.Value { return figure.Value{Median: v, Least: v, Most: v} }
	for _, c := range []struct {
		network, state string
		row            figure.Row
	}{
		{"node", "ok", figure.Row{Op: "put", Bytes: 8, Ranks: 2, Raw: value(1),
			Ratio: 2.4}},
		{"node", "over", figure.Row{Op: "put", Bytes: 8, Ranks: 2, Raw: value(1),
			Ratio: 2.6}},
		{"node", "", figure.Row{Op: "put", Bytes: 8, Ranks: 2}}, // no baseline, no verdict
		{"tcp", "", figure.Row{Op: "get", Bytes: 8, Ranks: 2, Raw: value(1), Ratio: 9}},
		{"node", "", figure.Row{Op: "put-strided", Bytes: 128, Ranks: 2, Raw: value(1),
			Ratio: 9}},
		{"node", "over", figure.Row{Op: "put-strided", Bytes: 2048, Ranks: 2, Raw: value(1),
			Ratio: 9}},
		{"node", "ok", figure.Row{Op: "put-bandwidth", Bytes: 1 << 20, Ranks: 2,
			Raw: value(1), Ratio: 0.96}},
		{"node", "over", figure.Row{Op: "put-bandwidth", Bytes: 1 << 20, Ranks: 2,
			Raw: value(1), Ratio: 0.94}},
		{"node", "ok", figure.Row{Op: "malloc+free", Ranks: 2, Ours: value(1999)}},
		{"node", "over", figure.Row{Op: "malloc-new", Ranks: 2, Ours: value(50000),
			Raw: value(29000)}},
		{"ofi", "ok", figure.Row{Op: "get/spinning", Bytes: 8, Ranks: 2, Raw: value(1),
			Ratio: 1.3}},
		{"rdma", "over", figure.Row{Op: "protocol-get/auto", Bytes: 1 << 20, Ranks: 6,
			Raw: value(1), Ratio: 0.5}},
	} {
		bars, err := loadBars(ourBars, c.network)
		if err != nil || len(bars) == 0 {
			t.Fatal(err)
		}
		if got := judge(c.row, bars); got.state != c.state {
			t.Errorf("%s %+v: got %q, want %q", c.network, c.row, got.state, c.state)
		}
	}
	for _, bad := range []string{"node put 8", "node put 8 * ratio 2.5",
		"node put x * ratio <=2", "node put 8 y ratio <=2",
		"node put 8 * speed <=2", "moon put 8 * ratio <=2"} {
		if _, _, err := parseBar(bad); err == nil {
			t.Errorf("%q was taken for a bar", bad)
		}
	}
}

// Every bar's operation must be in the source of a worker.
func TestBarsAreOfOperations(t *testing.T) {
	var source []byte
	for _, pattern := range []string{"../cmd/armci_perf/worker/*.c", "worker/*.c", "rdma/*.c",
		"ofi/*.c"} {
		files, _ := filepath.Glob(pattern)
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			source = append(source, text...)
		}
	}
	for _, network := range []string{"node", "tcp", "rdma", "ofi"} {
		bars, err := loadBars(ourBars, network)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range bars {
			op, _, _ := strings.Cut(b.op, "/")
			if !bytes.Contains(source, []byte(`"`+op)) {
				t.Errorf("a bar for %s, which nothing measures", b.op)
			}
		}
	}
}

func TestWrongCommandLines(t *testing.T) {
	for _, bad := range []string{"x", "-only nothing", "-reps 100", "-rdma", "-hosts a",
		"-agent rsh", "-hosts a,b -nodes 2",
		"-ofi shm", "-ofi shm -rdma -nodes 2", "-ofi shm -nodes 2 -busy", "-crowded 0",
		"-crowded many", "-busy -hosts a,b"} {
		if _, err := parse(strings.Fields(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

// lines are the command lines of an option line's jobs.
func lines(t *testing.T, line string) []string {
	t.Helper()
	o, err := parse(strings.Fields(line))
	if err != nil {
		t.Fatal(err)
	}
	o.workers, o.build = t.TempDir(), "/b"
	for _, w := range []string{"worker-none", "worker-verbs", "worker-ofi"} {
		if err := os.WriteFile(filepath.Join(o.workers, w), nil, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	jobs, err := o.plan()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, j := range jobs {
		run := j.with(o.build, o)
		text := strings.Join(append(run.Env, run.Argv...), " ")
		all = append(all, strings.ReplaceAll(text, o.workers+"/", ""))
	}
	return all
}

func cores(factor int) string { return strconv.Itoa(factor * runtime.NumCPU()) }

func crowded(place string) string {
	return "ARMCI_SPIN=1 ARMCI_POLL=0 LD_LIBRARY_PATH=/b/lib /b/bin/armcirun " + place +
		" worker-none -b /b -r 11 -l /asleep lock"
}

// TestJobs compares the command lines of the jobs that options select.
func TestJobs(t *testing.T) {
	for line, want := range map[string][]string{
		"-quick -only put-new,rmw,idle": {
			"LD_LIBRARY_PATH=/b/lib /b/bin/armcirun -n 2 worker-none -b /b -r 3 -q rmw",
			"LD_LIBRARY_PATH=/b/lib /b/bin/armcirun -n 4 worker-none -b /b -r 3 -q rmw",
			"LD_LIBRARY_PATH=/b/lib /b/bin/armcirun -n 2 worker-none -b /b -r 3 -q " +
				"idle"},
		"-nodes 2 -ofi tcp;ofi_rxm -only bandwidth": {
			"LD_LIBRARY_PATH=/b/lib ARMCI_TRANSPORT=ofi " +
				"ARMCI_OFI_PROVIDER=tcp;ofi_rxm IPATH_NO_BACKTRACE=1 " +
				"/b/bin/armcirun -n 2 -nodes 2 worker-ofi -b /b -r 11 bandwidth"},
		"-hosts a,b,c -agent rsh -only rmw,all-nodes": {
			"LD_LIBRARY_PATH=/b/lib /b/bin/armcirun -n 2 -ppn 1 -hosts a,b -agent " +
				"rsh worker-none -b /b -r 11 rmw",
			"ARMCI_SPIN=1 ARMCI_POLL=0 LD_LIBRARY_PATH=/b/lib /b/bin/armcirun -n 2 " +
				"-ppn 1 -hosts a,b -agent rsh worker-none -b /b -r 11 -l /asleep " +
				"rmw",
			"LD_LIBRARY_PATH=/b/lib /b/bin/armcirun -n 3 -ppn 1 -hosts a,b,c -agent " +
				"rsh worker-none -b /b -r 11 all-nodes"},
		"-crowded 2 -busy -only lock -mpi none": {
			crowded("-n " + cores(2)), crowded("-n " + cores(1))},
		"-nodes 4 -crowded 4 -only lock -mpi none": {crowded("-n " + cores(4) +
			" -nodes 4")},
		"-hosts a,b -rdma -reps 2 -only protocols,fences": {
			"ARMCI_SPIN=2000 LD_LIBRARY_PATH=/b/lib ARMCI_TRANSPORT=rdma " +
				"/b/bin/armcirun -n 6 -ppn 3 -hosts a,b worker-verbs -b /b " +
				"-e ARMCI_CONTIGUOUS=auto,buffered,zerocopy -r 2 protocols"},
		"-nodes 4 -rdma -only rmw,fences": {
			"LD_LIBRARY_PATH=/b/lib ARMCI_TRANSPORT=rdma /b/bin/armcirun -n 2 -nodes " +
				"2 worker-verbs -b /b -r 11 rmw",
			"ARMCI_SPIN=1 ARMCI_POLL=0 LD_LIBRARY_PATH=/b/lib ARMCI_TRANSPORT=rdma " +
				"/b/bin/armcirun -n 2 -nodes 2 worker-verbs " +
				"-b /b -r 11 -l /asleep rmw",
			"LD_LIBRARY_PATH=/b/lib ARMCI_TRANSPORT=rdma /b/bin/armcirun -n 4 -nodes " +
				"4 worker-verbs -b /b -r 11 fences"},
		"-hosts a,b -rdma -against /a -reps 2 -only protocols,put-new,busy": {
			"LD_LIBRARY_PATH=/b/lib ARMCI_TRANSPORT=rdma /b/bin/armcirun -n 2 -ppn 1 " +
				"-hosts a,b worker-none -b /b -r 2 -a busy"},
	} {
		if got := lines(t, line); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: got\n%s", line, strings.Join(got, "\n"))
		}
	}
}

// TestMarkdown compares the tables of a few figures: summaries of sizes, verdicts, and contests.
func TestMarkdown(t *testing.T) {
	v := func(m float64) figure.Value { return figure.Value{Median: m} }
	row := func(op, place string, bytes int64, unit string, ours, raw,
		ratio float64) figure.Row {
		return figure.Row{Op: op, Shape: "-", Bytes: bytes, Where: place, Unit: unit,
			Ours: v(ours), Raw: v(raw), Ratio: ratio}
	}
	var out bytes.Buffer
	writeMarkdown(&out, []judged{
		{row("a", "here", 8, "ns", 9, 6, 1.5), "<=2", "ok"},
		{row("b", "here", 1024, "MB/s", 50, 100, 0.5), ">=0.9", "over"},
		{row("b", "here", 2048, "MB/s", 99, 100, 0.99), ">=0.9", "ok"},
		{row("protocol-get/auto", "there", 1024, "MB/s", 10, 40, 0.25), ">=0.95", "over"},
		{row("protocol-get/buffered", "there", 1024, "MB/s", 20, 40, 0.5), "", ""},
		{row("protocol-get/auto:best", "there", 1024, "MB/s", 10, 20, 0.5), "", ""},
	})
	want := `
| here | size | ours | raw | ours/raw | bar | |
|---|---|---|---|---|---|---|
| ~a~ | 8 B | 9.00 ns | 6.00 ns | 1.50 | <=2 | held |
| ~b~ | 1 KiB to 2 KiB | 50.0 MB/s to 99.0 MB/s | 100 MB/s | ` +
		`0.50 to 0.99 | >=0.9 | **held at 1 of 2** |

| there | size | ours | raw | ours/raw | bar | |
|---|---|---|---|---|---|---|
| ~protocol-get/auto~ | 1 KiB | 10.0 MB/s | 40.0 MB/s | 0.25 | >=0.95 | **missed** |
| ~protocol-get/auto:best~ | 1 KiB | 10.0 MB/s | 20.0 MB/s | 0.50 |  |  |

| ~protocol-get~ | auto | buffered | raw |
|---|---|---|---|
| 1 KiB | 10.0 MB/s | 20.0 MB/s | 40.0 MB/s |
`
	if got := strings.ReplaceAll(out.String(), "`", "~"); got != want {
		t.Errorf("got\n%s", got)
	}
}

// A run counts as the median of its starts.
func TestStarts(t *testing.T) {
	p := &pair{starts: [2]figure.Samples{{10, 99, 11}, {20, 1, 22}}}
	p.endRun()
	p.starts[0] = figure.Samples{7} // the other build has not been measured
	p.endRun()
	if p.RawSamples.String() != "11" || p.Samples.String() != "20" || p.Ratio != 20.0/11 {
		t.Errorf("%+v", p.Row)
	}
}

// A rate that falls costs as much as a time that rises; only a row that is slower in every run is
// flagged.
func TestComparison(t *testing.T) {
	row := func(op, unit string, before, after figure.Samples) *pair {
		p := pair{Row: figure.Row{Op: op, Shape: "-", Bytes: 8, Where: "here", Unit: unit,
			Samples: after, RawSamples: before}}
		p.Summarise()
		return &p
	}
	var out bytes.Buffer
	writeComparison(&out, []*pair{
		row("always", "ns", figure.Samples{10, 10, 10}, figure.Samples{12, 13, 11.6}),
		row("once", "ns", figure.Samples{10, 10, 10}, figure.Samples{20, 10, 10}),
		row("rate", "MB/s", figure.Samples{120, 120, 120},
			figure.Samples{100, 100, 100}),
	})
	want := `
| here | size | before | after | after/before, by run | |
|---|---|---|---|---|---|
| ~always~ | 8 B | 10.0 ns | 12.0 ns | 1.20 1.30 1.16 | **slower** |
| ~once~ | 8 B | 10.0 ns | 10.0 ns | 2.00 1.00 1.00 |  |
| ~rate~ | 8 B | 120 MB/s | 100 MB/s | 1.20 1.20 1.20 | **slower** |

3 rows; median of all ratios 1.200 (at most 1.02 wanted); 2 rows above 1.15 in every run.
`
	if got := strings.ReplaceAll(out.String(), "`", "~"); got != want {
		t.Errorf("got\n%s", got)
	}
}
