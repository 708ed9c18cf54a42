// SPDX-License-Identifier: BSD-3-Clause

// Tests of what armci_perf does with figures over RDMA: jobs, tables, plots.
// They start no job.
package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRDMAOptions(t *testing.T) {
	for _, bad := range []string{"-rdma", "-rdma -nodes 2", "-only rdma-small -hosts a,b", "-rdma -hosts a,b -only put"} {
		if _, err := parse(strings.Fields(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

// A group whose ranks differ in a setting has a job with a rank for each value on both nodes.
func TestRDMAJobs(t *testing.T) {
	dir := t.TempDir()
	o := options{reps: 1, nodes: 3, hosts: []string{"a", "b", "c"}, rdma: true}
	chosen := []*group{{name: "one"}, {name: "many", vary: "X=1,2,3"}, {name: "wide", all: true}}
	if _, err := o.between(chosen, "run", dir); err == nil {
		t.Error("jobs without a worker")
	}
	worker := filepath.Join(dir, "perf-verbs")
	if err := os.WriteFile(worker, nil, 0o777); err != nil {
		t.Fatal(err)
	}
	jobs, err := o.between(chosen, "run", dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"run -n 2 -ppn 1 -hosts a,b " + worker + " -r 1 one",
		"run -n 6 -ppn 3 -hosts a,b " + worker + " -r 1 -e X=1,2,3 many",
		"run -n 3 -ppn 1 -hosts a,b,c " + worker + " -r 1 wide",
	}
	for i, j := range jobs {
		if got := strings.Join(j.argv, " "); i >= len(want) || got != want[i] || strings.Join(j.env, " ") != "ARMCI_TRANSPORT=rdma" {
			t.Errorf("got %s %s", j.env, got)
		}
	}
	if len(jobs) != len(want) {
		t.Errorf("%d jobs", len(jobs))
	}
}

func rdmaRows() []row {
	var all []row
	for i, bytes := range []int64{1 << 10, 1 << 18, 1 << 20} {
		for k, way := range []string{"auto", "buffered", "auto:best"} {
			all = append(all, row{Op: "rdma-get/" + way, Shape: "-", Bytes: bytes, Unit: "MB/s", Ours: float64(100*(i+1) + 10*k),
				Raw: float64(200 * (i + 1)), Ratio: 0.5, Where: "2 hosts"})
		}
	}
	all = append(all, row{Op: "rdma-overlap-get", Shape: "-", Bytes: 1 << 20, Unit: "%", Ours: 80, Raw: -5, Where: "2 hosts"},
		row{Op: "rdma-fence-all", Shape: "1x8", Unit: "ns", Ours: 900, Raw: 1000, Ratio: 0.9, Where: "2 hosts"},
		row{Op: "rdma-fence-all", Shape: "2x8", Unit: "ns", Ours: 1500, Raw: 1000, Ratio: 1.5, Where: "2 hosts"})
	bars, _ := loadBars("")
	for i := range all {
		judge(&all[i], bars)
	}
	return all
}

// Each way has a column; the summary has what is judged, and comparisons, but not each way again.
func TestContestTable(t *testing.T) {
	var out bytes.Buffer
	writeMarkdown(&out, rdmaRows())
	for _, line := range []string{
		"| `rdma-get` | auto | buffered | raw |",
		"| 256K | 200 MB/s | 210 MB/s | 400 MB/s |",
		"| `rdma-get/auto` | 1K to 1M | 100 MB/s to 300 MB/s | 200 MB/s to 600 MB/s | 0.50 | >=0.95 | **missed** |",
		"| `rdma-get/auto:best` |",
	} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no %q in\n%s", line, out.String())
		}
	}
	if strings.Contains(out.String(), "`rdma-get/buffered`") {
		t.Errorf("a way in the summary:\n%s", out.String())
	}
}

func TestRDMAPlots(t *testing.T) {
	want := map[string][]string{
		"rdma-get.svg":     {"contiguous get, over RDMA", "auto", "buffered", "raw read"},
		"rdma-overlap.svg": {"get, raw", "80.0", "1M"},
		"rdma-fence.svg":   {"k = 2", "1.50", "2.00"},
	}
	got := rdmaPlots(rdmaRows())
	if len(got) != len(want) {
		t.Errorf("%d plots", len(got))
	}
	for _, p := range got {
		var out bytes.Buffer
		p.picture.draw(&out)
		for _, text := range want[p.file] {
			if !strings.Contains(out.String(), ">"+text+"<") {
				t.Errorf("%s: no %q", p.file, text)
			}
		}
	}
	if more := plots(rdmaRows()); len(more) > 0 {
		t.Errorf("%d other plots", len(more))
	}
	var out bytes.Buffer
	for _, p := range rdmaPlots([]row{{Op: "rdma-overlap-put", Shape: "-", Bytes: 1 << 16, Unit: "%", Ours: -75, Raw: -26}}) {
		p.picture.draw(&out)
	}
	if !strings.Contains(out.String(), ">64K<") || strings.Contains(out.String(), "NaN") {
		t.Errorf("nothing was hidden: %s", out.String())
	}
}
