// SPDX-License-Identifier: BSD-3-Clause

// Tests of what is run and drawn, without running anything.
package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every series of every figure is of an experiment that there is, at a place and in a variant in
// which it runs.
func TestFiguresHaveExperiments(t *testing.T) {
	used := map[string]bool{}
	for _, f := range figures {
		for _, c := range f.charts {
			for _, l := range c.lines {
				i := slices.IndexFunc(experiments,
					func(e experiment) bool { return e.name == l.experiment })
				if i < 0 {
					t.Errorf("%s: no experiment %s", f.id, l.experiment)
					continue
				}
				e := &experiments[i]
				used[e.name] = true
				if l.variant != "" != (len(e.variants) > 0 &&
					e.variants[0].name != "") {
					t.Errorf("%s, %s: variant %q", f.id, l.name, l.variant)
				}
				if l.place != "" && !slices.Contains(strings.Fields(e.places),
					l.place) {
					t.Errorf("%s, %s: %s does not run at %s", f.id, l.name,
						e.name, l.place)
				}
			}
		}
	}
	for _, e := range experiments {
		if !used[e.name] {
			t.Errorf("no figure shows %s", e.name)
		}
	}
}

// All experiments are done in less than two hours.
func TestTotal(t *testing.T) {
	o := options{dir: t.TempDir(), runs: 1, programs: programs{device: "device", blas: "blas"},
		hosts: strings.Split("a b c d e f g h", " "), agent: "agent"}
	var all []string
	for _, e := range experiments {
		all = append(all, e.name)
	}
	steps := o.steps(all)
	if total := o.total(steps); total > 110*time.Minute || total < 10*time.Minute ||
		len(o.left) > 0 {
		t.Errorf("%d steps, %s, left out %v", len(steps), total, o.left)
	}
}

// TestCommandLines looks for what matters in the command lines of steps at several places.
func TestCommandLines(t *testing.T) {
	o := options{dir: "dir", build: "/build", source: "/source", runs: 1,
		programs: programs{device: "/device", ucx: true},
		hosts:    []string{"a", "b"}, agent: "agent"}
	line := func(name, where, variant string) string {
		e := &experiments[slices.IndexFunc(experiments,
			func(e experiment) bool { return e.name == name })]
		p, err := o.parsePlace(where)
		if err != nil {
			t.Fatal(err)
		}
		s := step{experiment: e, place: p}
		for _, v := range e.variants {
			if v.name == variant {
				s.variant = v
			}
		}
		return strings.Join(o.command(&s).Argv, " ")
	}
	for _, c := range []struct{ name, place, variant, want string }{
		{"mg-W", "hosts-2x2", "", "--host a:2,b:2 "},
		{"mg-W", "hosts-2x2", "", "--mca btl vader,tcp,self "},
		{"mg-W", "hosts-2x1", "", "--mca btl tcp,self "},
		{"mg-W", "hosts-2x1", "", " env ARMCI_TRANSPORT=tcp /build/bench/apps/mg -r 3 W"},
		{"mg-W", "rdma-2x2", "",
			"/source/tests/softverbs/with.sh /device mpirun.openmpi --oversubscribe " +
				"-n 4 "},
		{"mg-W", "rdma-2x2", "", "RANK:-$PMI_RANK} / 2)) "},
		{"windows", "rdma-2x1", "ours", "UCX_TLS=rc_v,self ARMCI_TRANSPORT=rdma " +
			"LD_PRELOAD=/build/lib/libarmci-mpirma.so /build/bench/windows-openmpi"},
		{"windows", "hosts-2x1", "messages", "--mca osc pt2pt "},
		{"nwchem", "node-4", "",
			"/source/bench/apps/nwchem.sh dir libarmci dft_siosi3 -- mpirun.openmpi"},
	} {
		if got := line(c.name, c.place, c.variant); !strings.Contains(got, c.want) {
			t.Errorf("%s at %s: no %q in %s", c.name, c.place, c.want, got)
		}
	}
	for _, bad := range []string{"hosts-3x1", "moon-2", "node-2x2", "node-"} {
		if _, err := o.parsePlace(bad); err == nil {
			t.Errorf("place %q was taken", bad)
		}
	}
}

// What steps have left in files is drawn: a chart, bars with a gain, a page and markdown.
func TestWrite(t *testing.T) {
	o := options{dir: t.TempDir(), runs: 2, figures: []string{"000-22", "002-4"}, draw: true,
		programs: programs{device: "device"}}
	if err := os.MkdirAll(filepath.Join(o.dir, "data"), 0o777); err != nil {
		t.Fatal(err)
	}
	head := "op,shape,bytes,ranks,where,unit,median,least,most,raw,raw_least,raw_most,ratio\n"
	for file, text := range map[string]string{
		"mg-W@node-2.0.csv": "mg/mpi,W,0,2,x,ns,3e9,3e9,3e9,0,0,0,0\n" +
			"mg/armci,W,0,2,x,ns,1e9,1e9,1e9,0,0,0,0\n",
		"mg-W@node-2.1.csv": "mg/mpi,W,0,2,x,ns,5e9,5e9,5e9,0,0,0,0\n" +
			"mg/armci,W,0,2,x,ns,1e9,1e9,1e9,0,0,0,0\n",
		"transfer@rdma-2x1.0.csv": "transfer/get,-,1024,2,x,MB/s,100,90,110,0,0,0,0\n" +
			"transfer/get,-,4096,2,x,MB/s,200,90,210,0,0,0,0\n",
	} {
		if err := os.WriteFile(filepath.Join(o.dir, "data", file), []byte(head+text),
			0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.runAndDraw(); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(o.dir, "papers.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "<td>4.00 s (3.00 s to 5.00 s)</td>",
		"<td>75.0 % (66.7 % to 80.0 %)</td>",
		"<td>4 KiB</td><td>200 MB/s (90.0 MB/s to 210 MB/s)</td>", "node 2"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q in the page", want)
		}
	}
	if strings.Contains(string(page), "<script") {
		t.Error("a script in the page")
	}
	for _, file := range []string{"papers.md", "figures/000-22-a.svg", "figures/002-4.svg"} {
		if _, err := os.Stat(filepath.Join(o.dir, file)); err != nil {
			t.Error(err)
		}
	}
}

// Figures of small problems are not taken for those of a full run.
func TestQuickApart(t *testing.T) {
	s := step{experiment: named("mg-A"), place: place{name: "node-2"}}
	full, quick := options{dir: "dir"}, options{dir: "dir", quick: true}
	if full.file(&s, "csv") == quick.file(&s, "csv") {
		t.Error("both are in " + full.file(&s, "csv"))
	}
}

func TestParse(t *testing.T) {
	for _, bad := range []string{"", "-hosts a,b -out dir", "-runs 0 -out dir",
		"-out dir -only 000-99", "-moon -out dir", "-out dir 000-14"} {
		if _, err := parse(strings.Fields(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}
