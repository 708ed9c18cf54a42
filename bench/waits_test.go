// SPDX-License-Identifier: BSD-3-Clause

// Tests of bench -waits: its command lines, what it would start, and that each
// verdict follows from the figures. They start no job and measure nothing.
package main

import (
	"bytes"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"libarmci/internal/figure"
)

func TestWrongWaits(t *testing.T) {
	for _, bad := range []string{"x", "-starts 0", "-rows nothing", "-rows (",
		"-quiet -disturbed", "-hosts a", "-hosts a,b", "-agent rsh", "-limit 0s",
		"-sample 0", "-sample NaN"} {
		if _, err := parseWaits(strings.Fields(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestConditions(t *testing.T) {
	for line, want := range map[string][]condition{
		"": {quiet, disturbed}, "-quiet": {quiet}, "-disturbed": {disturbed}} {
		o, err := parseWaits(strings.Fields(line))
		if err != nil || !slices.Equal(o.conditions, want) || len(o.cores) == 0 {
			t.Errorf("%q: %v, %v", line, o, err)
		}
	}
}

// placeNamed is a place with one of its rows.
func placeNamed(t *testing.T, place, row string) waitPlace {
	t.Helper()
	o := waitOptions{rows: regexp.MustCompile("^" + place + "/" + row + "$")}
	all := o.chosen()
	if len(all) != 1 || len(all[0].rows) != 1 {
		t.Fatalf("%s/%s: %d places", place, row, len(all))
	}
	all[0].ways = slices.Clone(all[0].ways)
	return all[0]
}

// measured is a run that has the figures of a row by way.
func measured(p *waitPlace, c condition, figures map[string][]float64) *waitRun {
	m := &waitRun{waitOptions: &waitOptions{conditions: []condition{c}}, figures: waitFigures{}}
	for _, w := range p.ways {
		r := &p.rows[0]
		m.figures[waitKey{p.name, w.op(r), r.bytes, w.name, c}] = figures[w.name]
	}
	return m
}

// The bar of the median is by the fastest of the rivals that it is about; that of the 90th
// percentile by our median, or on a disturbed node by the rivals' own. No figure is no verdict.
func TestVerdicts(t *testing.T) {
	type byWay = map[string][]float64
	for _, c := range []struct {
		place, row string
		condition  condition
		figures    byWay
		want       string
	}{
		{"node-2", "barrier", quiet,
			byWay{"ours": {100, 100, 210}, "openmpi": {120}, "mpich": {90}},
			"1.11 <=1: **no** 2.10 <=2 of the median: **no**"},
		{"node-2", "barrier", disturbed,
			byWay{"ours": {80, 80, 210}, "openmpi": {99, 99, 250}, "mpich": {90, 230}},
			"0.81 <=1: yes 0.91 <=1 of theirs: yes"},
		{"node-2", "notify", disturbed, byWay{"ours": {80}}, "   "},
		{"node-2", "barrier", quiet, byWay{"openmpi": {80}}, "   "},
		{"node-2", "barrier", quiet, byWay{"ours": {80}}, "  1.00 <=2 of the median: yes"},
		{"tcp-2", "put-flag", disturbed,
			byWay{"ours": {21}, "openmpi": {20}, "mpich": {10}},
			"1.05 <=1.1: yes 1.00 <=2 of the median: yes"},
		{"tcp-2", "get-mixed", quiet, byWay{"ours": {30}, "raw": {20}},
			"1.50 <=1.25: **no** 1.00 <=2 of the median: yes"},
		{"lock-3", "lock-remote", quiet, byWay{"ours": {33000}},
			"33.0 us <=33.3 us: yes 1.00 "},
		{"lock-3", "lock-remote", quiet, byWay{"ours": {34000}},
			"34.0 us <=33.3 us: **no** 1.00 "},
	} {
		p := placeNamed(t, c.place, c.row)
		m := measured(&p, c.condition, c.figures)
		l := m.line(&p, &p.rows[0], c.condition)
		got := strings.Join(append(l.median.cells(), l.tail.cells()...), " ")
		if got != c.want {
			t.Errorf("%s/%s, %s: %q, want %q", c.place, c.row, c.condition, got, c.want)
		}
	}
}

// The other build is a column, and nothing may be slower than with it.
func TestBeside(t *testing.T) {
	p := placeNamed(t, "node-4", "barrier")
	before := p.ways[0]
	before.name, before.title, before.role = "before", "ours, before", isBefore
	p.ways = []waitWay{p.ways[0], before, yielding(openMPI)}
	m := measured(&p, quiet,
		map[string][]float64{"ours": {106}, "before": {100}, "openmpi-yield": {50}})
	m.waitOptions.beside = "/before"
	var out bytes.Buffer
	held, bars := m.table(&out, &p, quiet)
	want := "\n| `barrier` | 106 ns | 106 ns | 100 ns | 100 ns | 50.0 ns | 50.0 ns |" +
		" 2.12 |  | 1.00 |  | 1.06 | <=1.05: **no** | 1 |\n"
	if !strings.Contains(out.String(), want) || held != 0 || bars != 1 {
		t.Errorf("%d of %d held, got%s", held, bars, out.String())
	}
}

// The rows that are written have a sample for each start.
func TestWaitsRows(t *testing.T) {
	p := placeNamed(t, "lock-3", "lock-remote")
	m := measured(&p, disturbed, map[string][]float64{"ours": {7, 9}})
	m.places = []waitPlace{p}
	want := []figure.Row{{Op: "lock-remote", Shape: "ours", Bytes: 8, Ranks: 3,
		Where: "lock-3, disturbed", Unit: "ns", Samples: figure.Samples{7, 9},
		Ours: figure.Value{Median: 8, Least: 7, Most: 9}}}
	if got := m.startRows(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

// Every operation of a row is in the source of the programs that it is asked of.
func TestWaitsOperations(t *testing.T) {
	sources := map[string]string{
		"waits-armci": "ours.c", "waits-openmpi": "messages.c", "waits-mpich": "messages.c"}
	named := func(program, op string) bool {
		text, err := os.ReadFile("waits/" + sources[program])
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(text, []byte(`{.name = "`+op+`"`))
	}
	for _, p := range waitPlaces {
		for i := range p.rows {
			for _, w := range p.ways {
				op := w.op(&p.rows[i])
				if op != "" && sources[w.program] != "" && !named(w.program, op) {
					t.Errorf("%s: %s has no %s", p.name, w.program, op)
				}
			}
		}
	}
}

// started is the command line of a row by one way.
func started(t *testing.T, o *waitOptions, place, row, way string) string {
	t.Helper()
	p := placeNamed(t, place, row)
	i := slices.IndexFunc(p.ways, func(w waitWay) bool { return w.name == way })
	if i < 0 {
		t.Fatalf("%s has no way %s", place, way)
	}
	j := o.job(&p, &p.ways[i])
	if j.Limit <= 0 || j.Limit > 2*time.Minute {
		t.Errorf("%s, %s: a start may take %s", place, way, j.Limit)
	}
	return strings.Join(j.Argv, " ")
}

// TestStarted compares command lines of ours, the MPIs and the raw socket at several places.
func TestStarted(t *testing.T) {
	o := &waitOptions{sample: 20,
		waitPrograms: waitPrograms{build: "/b", workers: "/b/bench", device: "/d"},
		waitHosts: waitHosts{hosts: []string{"x", "y", "z", "u"}, agent: "rsh",
			cores: []int{4, 5, 6}}}
	each := "sh -c case ${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$ARMCI_JOB_RANK}} in " +
		`0) core=4 ;; 1) core=5 ;; esac; exec taskset -c $core "$@" - `
	openmpi := "mpirun.openmpi --oversubscribe -n 2 --bind-to none " +
		"--leave-session-attached --host x:1,y:1 " +
		"--map-by slot --mca plm rsh --mca plm_rsh_agent rsh " +
		"--mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include eth0 " +
		"--mca btl_tcp_if_include eth0 --mca pml ob1 " +
		"--mca btl tcp,self --mca mpi_yield_when_idle 0 "
	armcirun := "/b/bin/armcirun -n 2 -hosts x,y -ppn 1 -agent rsh " + each
	asleep := "ARMCI_SPIN=1 ARMCI_POLL=0 "
	ours := "env LD_LIBRARY_PATH=/b/lib /b/bench/waits-armci -t 20 -r 5 -b /b "
	for _, c := range []struct{ place, row, way, want string }{
		{"node-2", "barrier", "ours", "/b/bin/armcirun -n 2 " + ours + "barrier:8"},
		{"tcp-2", "barrier", "openmpi",
			openmpi + each + "/b/bench/waits-openmpi -t 20 -r 5 barrier:8"},
		{"tcp-2", "get-mixed", "raw", armcirun + ours + "trip-mixed:8"},
		{"tcp-2-asleep", "get", "ours", armcirun +
			strings.Replace(ours, "lib ", "lib "+asleep, 1) + "get:8"},
		{"epoch-2", "epoch", "ours", openmpi + each + "env LD_LIBRARY_PATH=/b/lib " +
			"LD_PRELOAD=/b/lib/libarmci-mpirma.so " +
			"/b/bench/waits-openmpi -t 20 -r 5 -b /b epoch:8"},
		{"images-2", "sync-images", "opencoarrays",
			openmpi + "--mca osc pt2pt " + each +
				"/b/bench/caf-openmpi -t 20 -r 5 sync"},
		{"tcp-4", "bcast-512", "ours", "/b/bin/armcirun -n 4 -hosts x,y,z,u -ppn 1 " +
			"-agent rsh taskset -c 4,5 " + ours + "bcast:512"},
	} {
		if got := started(t, o, c.place, c.row, c.way); got != c.want {
			t.Errorf("%s, %s: got\n%s", c.place, c.way, got)
		}
	}
}

// Open MPI decides by itself unless it is told whether ranks yield.
func TestYielding(t *testing.T) {
	o := &waitOptions{waitHosts: waitHosts{hosts: []string{"x", "y", "z", "u"}, agent: "rsh"}}
	for way, want := range map[string]string{"openmpi-yield": "idle 1", "openmpi": "idle 0"} {
		for _, place := range []string{"node-4", "tcp-4"} {
			got := started(t, o, place, "barrier", way)
			if !strings.Contains(got, "mpi_yield_when_"+want) {
				t.Errorf("%s, %s: %s", place, way, got)
			}
		}
	}
}

// The other build has its own launcher and library, and the same program.
func TestStartedBefore(t *testing.T) {
	o := &waitOptions{sample: 1,
		waitPrograms: waitPrograms{build: "/b", workers: "/b/bench", beside: "/a"}}
	p := placeNamed(t, "node-2", "barrier")
	p.ways[0].role = isBefore
	want := "/a/bin/armcirun -n 2 env LD_LIBRARY_PATH=/a/lib " +
		"/b/bench/waits-armci -t 1 -r 5 -b /a barrier:8"
	if got := strings.Join(o.job(&p, &p.ways[0]).Argv, " "); got != want {
		t.Errorf("got %s", got)
	}
}
