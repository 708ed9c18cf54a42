// SPDX-License-Identifier: BSD-3-Clause

// Tests of what armci_perf does for several nodes besides starting workers:
// which jobs on which hosts, which plots. They start no job.
package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestHostOptions(t *testing.T) {
	for _, bad := range []string{"-hosts a", "-agent rsh", "-hosts a,b -nodes 2", "-hosts a,b -launcher run"} {
		if _, err := parse(strings.Fields(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
	o, err := parse([]string{"-hosts", "a,b,c", "-agent", "rsh -4"})
	if err != nil || o.nodes != 3 || len(o.hosts) != 3 || o.agent != "rsh -4" {
		t.Errorf("got %+v, %v", o, err)
	}
}

// Most groups take the first two hosts, whose number matters not; those about all take all.
func TestJobsOnHosts(t *testing.T) {
	o := options{reps: 1, nodes: 3, hosts: []string{"a", "b", "c"}, agent: "rsh -4"}
	jobs, err := o.between([]*group{findGroup("remote-small"), findGroup("remote-all"), findGroup("remote-asleep")}, "run", "w")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"run -n 2 -ppn 1 -hosts a,b -agent rsh -4 w/perf-none -r 1 remote-small",
		"run -n 2 -ppn 1 -hosts a,b -agent rsh -4 w/perf-none -r 1 remote-asleep",
		"run -n 3 -ppn 1 -hosts a,b,c -agent rsh -4 w/perf-none -r 1 remote-all",
	}
	if len(jobs) != len(want) {
		t.Fatalf("got %+v", jobs)
	}
	for i, j := range jobs {
		if got := strings.Join(j.argv, " "); got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
	if jobs[0].title != "2 hosts" || jobs[2].title != "3 hosts" || len(jobs[1].env) != 2 {
		t.Errorf("got %+v", jobs)
	}
}

func TestGroupsByNodes(t *testing.T) {
	for nodes, want := range map[int]string{1: "put", 2: "remote-small", 3: "remote-all"} {
		o := options{nodes: nodes}
		for _, name := range []string{"put", "remote-small", "remote-all"} {
			if is, should := o.takes(findGroup(name)), name == want || nodes == 3 && name == "remote-small"; is != should {
				t.Errorf("%d nodes, %s: %v", nodes, name, is)
			}
		}
	}
}

func TestNodePlots(t *testing.T) {
	var rows []row
	for b := int64(1024); b <= 16<<10; b *= 2 {
		rows = append(rows, row{Op: "remote-put-bandwidth", Bytes: b, Ranks: 2, Ours: 2, Raw: 3},
			row{Op: "remote-acc-strided", Bytes: b, Ranks: 2, Ours: 2, Raw: 3})
	}
	for _, style := range []string{"mixed", "spinning", "blocking"} {
		rows = append(rows, row{Op: "remote-get/" + style, Bytes: 8, Ranks: 2, Ours: 9000, Raw: 8000})
	}
	if own := plots(rows); len(own) != 0 {
		t.Errorf("%d plots of figures between nodes were drawn as within one", len(own))
	}
	all := nodePlots(rows)
	if len(all) != 3 {
		t.Fatalf("got %+v", all)
	}
	for i, want := range []struct {
		element string
		n       int
	}{{"circle", 10}, {"circle", 5}, {"rect", 1 + 4 + 4}} { // ours and raw; ours alone; columns, legend, background
		var out bytes.Buffer
		all[i].picture.draw(&out)
		if n := count(t, &out, want.element); n != want.n {
			t.Errorf("%s: %d %ss, want %d", all[i].file, n, want.element, want.n)
		}
	}
	if len(nodePlots(nil)) != 0 {
		t.Error("plots of nothing")
	}
}

func TestMarkdown(t *testing.T) {
	var out bytes.Buffer
	writeMarkdown(&out, []row{
		{Op: "a", Shape: "-", Bytes: 8, Where: "here", Unit: "ns", Ours: 9, Raw: 6, Ratio: 1.5, Bar: "ratio <=2", BarState: "ok"},
		{Op: "b", Shape: "-", Bytes: 1024, Where: "here", Unit: "MB/s", Ours: 50, Raw: 100, Ratio: 0.5, Bar: "ratio >=0.9", BarState: "over"},
		{Op: "b", Shape: "-", Bytes: 2048, Where: "here", Unit: "MB/s", Ours: 99, Raw: 100, Ratio: 0.99, Bar: "ratio >=0.9", BarState: "ok"},
		{Op: "c", Shape: "computing", Where: "there", Unit: "ns", Ours: 2e6, Bar: "ours <=1500", BarState: "over"},
	})
	want := `
| here | size | ours | raw | ours/raw | bar | |
|---|---|---|---|---|---|---|
| ~a~ | 8 | 9.00 ns | 6.00 ns | 1.50 | <=2 | held |
| ~b~ | 1K to 2K | 50.0 MB/s to 99.0 MB/s | 100 MB/s | 0.50 to 0.99 | >=0.9 | **held at 1 of 2** |

| there | size | ours | raw | ours/raw | bar | |
|---|---|---|---|---|---|---|
| ~c~ | - | 2.00 ms |  |  | <=1.5 us | **missed** |
`
	if got := strings.ReplaceAll(out.String(), "`", "~"); got != want {
		t.Errorf("got\n%s", got)
	}
}
