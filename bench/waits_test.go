// SPDX-License-Identifier: BSD-3-Clause

// Tests of bench -waits: its command lines, what it would start, and that each
// verdict follows from the figures. They start no job and measure nothing.
package main

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"libarmci/bench/launch"
)

func TestWrongWaits(t *testing.T) {
	for _, bad := range []string{"x", "-starts 0", "-rows nothing", "-rows (", "-quiet -disturbed", "-hosts a",
		"-hosts a,b", "-agent rsh", "-limit 0s", "-sample 0", "-sample NaN"} {
		if _, err := parseWaits(strings.Fields(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestConditions(t *testing.T) {
	for line, want := range map[string][]condition{"": {quiet, disturbed}, "-quiet": {quiet}, "-disturbed": {disturbed}} {
		o, err := parseWaits(strings.Fields(line))
		if err != nil || !slices.Equal(o.conditions, want) {
			t.Errorf("%q: %v, %v", line, o, err)
		}
	}
}

func TestPercentile(t *testing.T) {
	twenty := make([]float64, 20)
	for i := range twenty {
		twenty[i] = float64(20 - i)
	}
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{7}, 7}, {[]float64{3, 9}, 9}, {twenty, 18}} {
		if got := percentile(c.values, 90); got != c.want {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
}

// run has figures of a place: of each way by its name.
func run(place string, c condition, op string, figures map[string][]float64) *waitRun {
	m := &waitRun{waitOptions: &waitOptions{conditions: []condition{c}}, figures: waitFigures{}}
	for way, values := range figures {
		for _, of := range []string{op, "one-way", "trip-mixed"} {
			m.figures[waitKey{place, of, 8, way, c}] = values
		}
	}
	m.places = waitPlaces[slices.IndexFunc(waitPlaces, func(p waitPlace) bool { return p.name == place }):][:1]
	return m
}

// A bar of the median is by the fastest of the rivals that it is about; that of the 90th percentile by the
// median, or on a disturbed node by the rivals' own.
func TestVerdicts(t *testing.T) {
	starts := func(v ...float64) []float64 { return v }
	for _, c := range []struct {
		place, row, op string
		condition      condition
		figures        map[string][]float64
		median, tail   string // value, bar, held
	}{
		{"node-2", "barrier", "barrier", quiet, map[string][]float64{"ours": starts(100, 100, 210), "openmpi": starts(120), "mpich": starts(90)},
			"1.11 <=1 **no**", "2.10 <=2 of the median **no**"},
		{"node-2", "barrier", "barrier", disturbed, map[string][]float64{"ours": starts(80, 80, 210), "openmpi": starts(120, 130, 250), "mpich": starts(90, 90, 230)},
			"0.89 <=1 yes", "0.91 <=1 of theirs yes"},
		{"node-2", "notify", "notify", disturbed, map[string][]float64{"ours": starts(80)}, "  ", "  "},
		{"node-2", "barrier", "barrier", quiet, map[string][]float64{"openmpi": starts(80)}, "  ", "  "}, // no figure is no verdict
		{"tcp-2", "put-flag", "put-flag", disturbed, map[string][]float64{"ours": starts(21), "openmpi": starts(20), "mpich": starts(10)},
			"1.05 <=1.1 yes", "1.00 <=2 of the median yes"},
		{"tcp-2", "get-mixed", "get", quiet, map[string][]float64{"ours": starts(30), "raw": starts(20)}, "1.50 <=1.25 **no**", "1.00 <=2 of the median yes"},
		{"lock-3", "lock-remote", "lock-remote", quiet, map[string][]float64{"ours": starts(33000)}, "33.0 us <=33.3 us yes", "1.00  "},
		{"lock-3", "lock-remote", "lock-remote", quiet, map[string][]float64{"ours": starts(34000)}, "34.0 us <=33.3 us **no**", "1.00  "},
	} {
		m := run(c.place, c.condition, c.op, c.figures)
		p := &m.places[0]
		row := slices.IndexFunc(p.rows, func(r waitRow) bool { return r.name == c.row })
		l := m.line(p, &p.rows[row], c.condition)
		if got := strings.Join(l.median.cells(), " "); got != c.median {
			t.Errorf("%s/%s, %s: median %q, want %q", c.place, c.row, c.condition, got, c.median)
		}
		if got := strings.Join(l.tail.cells(), " "); got != c.tail {
			t.Errorf("%s/%s, %s: 90th percentile %q, want %q", c.place, c.row, c.condition, got, c.tail)
		}
	}
}

// The other build is a column, and nothing may be slower than with it.
func TestBeside(t *testing.T) {
	m := run("node-4", quiet, "barrier", map[string][]float64{"ours": {106}, "before": {100}, "openmpi-yield": {50}})
	m.beside = "/before"
	p := m.places[0]
	before := p.ways[0]
	before.name, before.title, before.role = "before", "ours, before", isBefore
	p.ways, p.rows = []waitWay{p.ways[0], before, openMPIYields}, p.rows[:1]
	var out bytes.Buffer
	held, bars := m.table(&out, &p, quiet)
	want := "| `barrier` | 106 ns | 106 ns | 100 ns | 100 ns | 50.0 ns | 50.0 ns | 2.12 |  |  | 1.00 |  |  | 1.06 | <=1.05 | **no** | 1 |"
	if !strings.Contains(out.String(), want) || held != 0 || bars != 1 {
		t.Errorf("%d of %d held, got%s", held, bars, out.String())
	}
}

// Every operation of a row is in the source of the programs that it is asked of.
func TestWaitsOperations(t *testing.T) {
	sources := map[string]string{"waits-armci": "ours.c", "waits-openmpi": "messages.c", "waits-mpich": "messages.c"}
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
				if op := w.op(&p.rows[i]); op != "" && sources[w.program] != "" && !named(w.program, op) {
					t.Errorf("%s: %s has no operation %s", p.name, w.program, op)
				}
			}
		}
	}
}

// started are the command lines of a place, with one way.
func started(t *testing.T, o *waitOptions, place, way string) string {
	t.Helper()
	for _, p := range o.chosen() {
		for _, w := range p.ways {
			if p.name == place && w.name == way {
				j := o.job(&p, &w)
				return strings.Join(j.Argv, " ")
			}
		}
	}
	t.Fatalf("no way %s at %s", way, place)
	return ""
}

func TestStarted(t *testing.T) {
	o := &waitOptions{rows: regexp.MustCompile("^(node-2|epoch-2|tcp-2-asleep|lock-3)/|tcp-2/(barrier|get-mixed)|tcp-4/bcast-512"),
		build: "/b", workers: "/b/bench", sample: 20, cores: []int{4, 5, 6}, hosts: []string{"x", "y", "z", "u"}, agent: "rsh"}
	each := `sh -c case $((${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$ARMCI_JOB_RANK}})) in 0) core=4 ;; 1) core=5 ;; ` +
		`esac; exec taskset -c $core "$@" - `
	openmpi := "mpirun.openmpi --oversubscribe -n 2 --bind-to none --host x:1,y:1 --map-by slot --mca plm rsh --mca plm_rsh_agent rsh " +
		"--mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include eth0 --mca btl_tcp_if_include eth0 --mca pml ob1 --mca btl tcp,self " +
		"--mca mpi_yield_when_idle 0 "
	for _, c := range []struct{ place, way, want string }{
		{"node-2", "ours", "/b/bin/armcirun -n 2 env LD_LIBRARY_PATH=/b/lib /b/bench/waits-armci -t 20 -r 5 -b /b " +
			"barrier:8 message:8 notify:8 lock:8 bcast:8"},
		{"tcp-2", "openmpi", openmpi + each + "/b/bench/waits-openmpi -t 20 -r 5 barrier:8"},
		{"tcp-2", "raw", "/b/bin/armcirun -n 2 -hosts x,y -ppn 1 -agent rsh " + each +
			"env LD_LIBRARY_PATH=/b/lib /b/bench/waits-armci -t 20 -r 5 trip-mixed:8"},
		{"tcp-2-asleep", "ours", "/b/bin/armcirun -n 2 -hosts x,y -ppn 1 -agent rsh " + each +
			"env LD_LIBRARY_PATH=/b/lib ARMCI_SPIN=1 ARMCI_POLL=0 /b/bench/waits-armci -t 20 -r 5 -b /b get:8"},
		{"epoch-2", "ours", openmpi + each + "env LD_LIBRARY_PATH=/b/lib LD_PRELOAD=/b/lib/libarmci-mpirma.so " +
			"/b/bench/waits-openmpi -t 20 -r 5 epoch:8"},
		{"tcp-4", "ours", "/b/bin/armcirun -n 4 -hosts x,y,z,u -ppn 1 -agent rsh taskset -c 4,5 " +
			"env LD_LIBRARY_PATH=/b/lib /b/bench/waits-armci -t 20 -r 5 -b /b bcast:512"},
	} {
		if got := started(t, o, c.place, c.way); got != c.want {
			t.Errorf("%s, %s: got\n%s", c.place, c.way, got)
		}
	}
	if got := started(t, o, "tcp-4", "openmpi-yield"); !strings.Contains(got, "mpi_yield_when_idle 1") {
		t.Errorf("ranks that should yield: %s", got)
	}
	before := byLibrary
	before.role = isBefore
	o.beside = "/a"
	if j := o.job(&waitPlaces[0], &before); j.Argv[0] != "/a/bin/armcirun" || !slices.Contains(j.Argv, "LD_LIBRARY_PATH=/a/lib") ||
		j.Limit <= 0 || j.Limit > 2*time.Minute || before.launcher != launch.Armcirun {
		t.Errorf("the other build: %q", j.Argv)
	}
}
