// SPDX-License-Identifier: BSD-3-Clause

// Tests of what armci_perf does besides starting workers: reading figures,
// bars, planning, drawing. They start no job and measure nothing.
package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func TestParseRow(t *testing.T) {
	r, err := parseRow("put\t-\t8\t2\tns\t4.5\t4.1\t2\t1.9\t2.25")
	want := row{Op: "put", Shape: "-", Bytes: 8, Ranks: 2, Unit: "ns", Ours: 4.5, OursBest: 4.1, Raw: 2, RawBest: 1.9, Ratio: 2.25}
	if err != nil || r != want {
		t.Errorf("got %+v, %v", r, err)
	}
	for _, bad := range []string{"", "put\t-\t8\t2\tns\t4.5", "put\t-\tx\t2\tns\t1\t1\t1\t1\t1", "put\t-\t8\t2\tns\t1\t1\t1\t1\tq"} {
		if _, err := parseRow(bad); err == nil {
			t.Errorf("%q was taken for a figure", bad)
		}
	}
}

func TestBars(t *testing.T) {
	bars, err := loadBars("")
	if err != nil || len(bars) == 0 {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, g := range groups {
		for _, op := range g.ops {
			known[op] = true
		}
	}
	for _, b := range bars {
		if !known[b.op] {
			t.Errorf("a bar for %s, which no group measures", b.op)
		}
	}
	for _, c := range []struct {
		row   row
		state string
	}{
		{row{Op: "put", Bytes: 8, Ranks: 2, Raw: 1, Ratio: 2.4}, "ok"},
		{row{Op: "put", Bytes: 8, Ranks: 2, Raw: 1, Ratio: 2.6}, "over"},
		{row{Op: "put-strided", Bytes: 128, Ranks: 2, Raw: 1, Ratio: 9}, ""},
		{row{Op: "put-strided", Bytes: 2048, Ranks: 2, Raw: 1, Ratio: 9}, "over"},
		{row{Op: "put-bandwidth", Bytes: 1 << 20, Ranks: 2, Raw: 1, Ratio: 0.96}, "ok"},
		{row{Op: "put-bandwidth", Bytes: 1 << 20, Ranks: 2, Raw: 1, Ratio: 0.94}, "over"},
		{row{Op: "malloc+free", Ranks: 2, Ours: 1999}, "ok"},
		{row{Op: "malloc-new", Ranks: 2, Ours: 50000, Raw: 29000}, "over"},
		{row{Op: "bcast", Bytes: 8, Ranks: 2}, ""}, // no baseline, no verdict
	} {
		judge(&c.row, bars)
		if c.row.BarState != c.state {
			t.Errorf("%+v: got %q, want %q", c.row, c.row.BarState, c.state)
		}
	}
}

func TestBadBars(t *testing.T) {
	for _, bad := range []string{"put 8", "put 8 * ratio 2.5", "put x * ratio <=2", "put 8 y ratio <=2", "put 8 * speed <=2"} {
		if _, err := parseBar(bad); err == nil {
			t.Errorf("%q was taken for a bar", bad)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, bad := range [][]string{{"x"}, {"-only", "nothing"}, {"-mpi", "lam"}, {"-reps", "100"}, {"-worker", "w"}} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	o, err := parse([]string{"-quick", "-only", "put,rmw", "-launcher", "mpirun -n 2", "-worker", "w"})
	if err != nil || o.reps != 3 || len(o.only) != 2 || len(o.launcher) != 3 {
		t.Errorf("got %+v, %v", o, err)
	}
	jobs, err := plan(&o, "/nowhere")
	if err != nil || len(jobs) != 1 || strings.Join(jobs[0].argv, " ") != "mpirun -n 2 w -r 3 -q put rmw" {
		t.Errorf("got %+v, %v", jobs, err)
	}
}

func TestGroupsApart(t *testing.T) {
	o := options{reps: 1}
	jobs := o.byLauncher([]*group{findGroup("malloc-new"), findGroup("put"), findGroup("rmw")}, []string{"run"}, "w", "title")
	if len(jobs) != 2 || len(jobs[0].env) != 0 || len(jobs[1].env) != 1 || len(jobs[0].expect) != 9 {
		t.Errorf("got %+v", jobs)
	}
}

func TestReportCountsWrongTotals(t *testing.T) {
	var out bytes.Buffer
	r := report{out: &out}
	r.check("acc\t5\t5\tok")
	r.check("lock\t4\t5\tWRONG")
	r.finish()
	if r.wrong != 1 || !strings.Contains(out.String(), "1 of 2 totals exact") || !strings.Contains(out.String(), "NOT EXACT: lock") {
		t.Error(out.String())
	}
}

func TestChartIsXML(t *testing.T) {
	var rows []row
	for b := int64(8); b <= 4<<20; b *= 4 {
		rows = append(rows, row{Op: "bcast", Where: "openmpi", Bytes: b, Ranks: 2, Unit: "ns", Ours: float64(b) / 3, Raw: float64(b) / 2})
	}
	all := plots(rows)
	if len(all) != 1 || all[0].file != "bcast-openmpi-2-ranks.svg" {
		t.Fatalf("got %+v", all)
	}
	var out bytes.Buffer
	all[0].picture.draw(&out)
	if circles := count(t, &out, "circle"); circles != 2*len(rows) {
		t.Errorf("%d circles for %d points", circles, 2*len(rows))
	}
}

// count is how many elements of a name a picture has; it must be XML.
func count(t *testing.T, picture io.Reader, name string) int {
	t.Helper()
	n := 0
	d := xml.NewDecoder(picture)
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == name {
			n++
		}
	}
}

func TestAxis(t *testing.T) {
	a := axisOver([]float64{30, 4000}, 10, 0, 300)
	if a.low != 10 || a.high != 10000 || math.Abs(a.at(100)-100) > 1e-9 {
		t.Errorf("got %+v, 100 at %g", a, a.at(100))
	}
	if b := axisOver([]float64{8}, 2, 0, 1); b.low >= b.high {
		t.Errorf("one value: %+v", b)
	}
}
