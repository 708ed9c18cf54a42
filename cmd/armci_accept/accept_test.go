// SPDX-License-Identifier: BSD-3-Clause

// Tests of the command line, of the launcher's words, of which transports are tried, and of the
// summary of starts. Whole runs are in tests/bench/accept.sh.

package main

import (
	"fmt"
	"strings"
	"testing"

	"libarmci/internal/figure"
)

// TestLauncher finds the number of ranks, and changes it.
func TestLauncher(t *testing.T) {
	for words, want := range map[string]struct {
		ranks int
		two   string
	}{
		"srun -N 2 -n 4":                 {4, "srun -N 2 -n 2"},
		"srun -N2 -n4":                   {4, "srun -N2 -n2"},
		"srun --ntasks=16 -m block":      {16, "srun --ntasks=2 -m block"},
		"mpirun -np 8 --host a,b":        {8, "mpirun -np 2 --host a,b"},
		"armcirun -nodes 2 -n 2":         {2, "armcirun -nodes 2 -n 2"},
		"srun -N 2 --ntasks-per-node=2":  {0, "srun -N 2 --ntasks-per-node=2"},
		"in.sh -n 3 srun -n 4 sh -c x -": {4, "in.sh -n 3 srun -n 2 sh -c x -"},
		"mpirun --n -n many":             {0, "mpirun --n -n many"},
	} {
		l := newLauncher(strings.Fields(words))
		if l.ranks != want.ranks || strings.Join(l.with(2), " ") != want.two {
			t.Errorf("%s: %d ranks, with 2: %q", words, l.ranks, l.with(2))
		}
	}
}

// TestParse takes a command line with a launcher that has options, too, and refuses bad ones.
func TestParse(t *testing.T) {
	o, err := parse(strings.Fields("-quick -only speed -transports tcp,ofi:verbs;ofi_rxm " +
		"srun -n 4 -quick"))
	if err != nil || !o.quick || o.seconds != 1 || o.starts != 1 || o.seed < 1 ||
		len(o.transports) != 2 || len(o.launcher.words) != 4 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, bad := range []string{"", "-quick", "-only nothing srun", "-transports udp srun",
		"-transports ofi srun", "-seconds -1 srun", "-starts 100 srun", "-x srun"} {
		if _, err := parse(strings.Fields(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// nodesWith are two nodes with these transports, usable on both or on the first.
func nodesWith(both, first []string) []Node {
	nodes := make([]Node, 2)
	for i := range nodes {
		for _, name := range both {
			nodes[i].Transports = append(nodes[i].Transports,
				Probe{name, true, "", nil})
		}
		for _, name := range first {
			nodes[i].Transports = append(nodes[i].Transports,
				Probe{name, i == 0, "no device", nil})
		}
	}
	return nodes
}

// TestChoose says which transports are tried, in which order, and what is a failure.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		asked, set, want, failures string
	}{
		{"", "", "rdma ofi:psm3 tcp ofi:tcp;ofi_rxm", ""},
		{"", "auto", "rdma ofi:psm3 tcp ofi:tcp;ofi_rxm", ""},
		{"", "tcp", "tcp", ""},
		{"tcp", "", "tcp", ""},
		{"ofi:shm,tcp", "", "ofi:shm tcp", ""},
		{"ofi:cxi", "", "", `ofi:cxi was asked for: not usable on node 1: no device`},
		{"ofi:opx,tcp", "", "tcp", `ofi:opx was asked for: libfabric has no such provider`},
	} {
		t.Setenv("ARMCI_TRANSPORT", c.set)
		a := &acceptance{options: &options{transports: list(c.asked)},
			report: newReport(&options{})}
		a.report.Nodes = nodesWith([]string{"tcp", "rdma", "ofi:tcp;ofi_rxm", "ofi:shm",
			"ofi:psm3", "ofi:net"}, []string{"ofi:cxi"})
		some, err := a.choose()
		var got []string
		for _, s := range some {
			got = append(got, s.String())
		}
		failures := strings.Join(a.report.Failures, "; ")
		if err != nil || strings.Join(got, " ") != c.want ||
			!strings.HasPrefix(failures, c.failures) || (failures == "") !=
			(c.failures == "") {
			t.Errorf("%q, set %q: %q, failures %q, %v", c.asked, c.set, got, failures,
				err)
		}
	}
}

// TestNoProviders says why libfabric has none, where one was asked for.
func TestNoProviders(t *testing.T) {
	a := &acceptance{options: &options{transports: []string{"ofi:cxi"}},
		report: newReport(&options{})}
	a.report.Nodes = nodesWith([]string{"tcp"}, nil)
	a.report.Nodes[0].Facts = []Fact{{noProviders, "no such file"}}
	const want = "ofi:cxi was asked for: libfabric offers no provider on node 0: no such file"
	if _, err := a.choose(); err != nil || len(a.report.Failures) != 1 ||
		a.report.Failures[0] != want {
		t.Errorf("%v, %q", err, a.report.Failures)
	}
}

// TestNoTransport is a failure: two nodes that can use none.
func TestNoTransport(t *testing.T) {
	a := &acceptance{options: &options{}, report: newReport(&options{})}
	a.report.Nodes = nodesWith(nil, []string{"tcp"})
	if some, err := a.choose(); err != nil || len(some) > 0 || len(a.report.Failures) != 1 {
		t.Errorf("%v, %v, %q", some, err, a.report.Failures)
	}
}

// TestSeries summarises three starts: of times and of rates.
func TestSeries(t *testing.T) {
	var all series
	for _, v := range []string{"100\t50", "300\t50", "200\t50"} {
		for _, head := range []string{"get\t-\t8\t2\tns\t", "get\t-\t1024\t2\tMB/s\t"} {
			r, err := figure.ParseRow(head + v)
			if err != nil {
				t.Fatal(err)
			}
			all.add([]figure.Row{r})
		}
	}
	f := all.figures()
	if len(f) != 2 || f[0].Starts != 3 || *f[0].Ours != (Range{200, 100, 300}) ||
		*f[0].Ratio != (Range{4, 2, 6}) || f[1].Ratio.Median != 0.25 {
		t.Errorf("%+v", f)
	}
}

// TestDifferences names the facts and transports in which a node differs from the first.
func TestDifferences(t *testing.T) {
	nodes := nodesWith([]string{"tcp"}, []string{"rdma"})
	nodes[0].Facts = []Fact{{"kernel", "6.1"}, {"verbs x", "ACTIVE"}, {"memory", "4 GiB"}}
	nodes[1].Facts = []Fact{{"kernel", "6.2"}, {"memory", "4 GiB"}, {"settings", "A=1"}}
	got := strings.Join(differences(nodes), "; ")
	if got != `kernel: "6.2" on node 1, "6.1" on node 0; settings: "A=1" on node 1, "" on `+
		`node 0; verbs x: "" on node 1, "ACTIVE" on node 0; rdma: usable on node 0, but `+
		`not on node 1` {
		t.Error(got)
	}
}

// started is an acceptance with a launcher that prints a text, ends with a status, and starts
// nothing.
func started(text string, status int) *acceptance {
	o := &options{starts: 1}
	o.launcher = newLauncher([]string{"sh", "-c", fmt.Sprintf("printf '%s'; exit %d", text,
		status), "-"})
	return &acceptance{options: o, report: newReport(o), names: &names{}}
}

// TestMeasureReports says what is a failure: wrong totals always, else only if the launcher is sure
// to start the worker.
func TestMeasureReports(t *testing.T) {
	const wrong = `CHECK\tsum\t1\t2\twrong\n`
	for _, c := range []struct {
		text   string
		status int
		sure   bool
		failed bool
	}{{wrong, 0, false, true}, {wrong, 1, false, true}, {"", 1, false, false},
		{"", 1, true, true}} {
		a := started(c.text, c.status)
		a.measure(withinNode, "an MPI", "worker", nil, c.sure)
		if failed := len(a.report.Failures) == 1; failed != c.failed ||
			len(a.report.Failures)+len(a.report.Notes) != 1 {
			t.Errorf("%+v: failures %q, notes %q", c, a.report.Failures, a.report.Notes)
		}
	}
	a := started(wrong, 0)
	a.good, a.launcher.ranks = []transport{withinNode}, 2
	if a.grow(2, "worker"); len(a.report.Failures) != 1 {
		t.Error("growth with a wrong total is no failure")
	}
}

// TestLookAround reads what nodes tell, and has launchers that start nothing refused.
func TestLookAround(t *testing.T) {
	t.Setenv("ARMCI_TRANSPORT", "")
	const job = `JOB\t{"Kind":"x","Ranks":4}\n`
	for text, want := range map[string]string{
		"": "status 0, but without", job: "status 0, but without", `JOB\t{\n`: "JSON",
		job + `NODE\t{"Ranks":[0,1,2,3],"Host":"a"}\n`: ""} {
		a := started(text, 0)
		err := a.lookAround()
		if (err == nil) != (want == "") || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%q: %v", text, err)
		}
		if err == nil && (a.report.Ranks != 4 || len(a.report.Nodes) != 1) {
			t.Errorf("%q: %+v", text, a.report)
		}
	}
}

// TestRecordNodes lets a number be that of ranks only if there are so many ranks.
func TestRecordNodes(t *testing.T) {
	for words, at := range map[string]int{"srun -n 4": 2, "script -n 2": -1, "srun -n 8": -1} {
		o := &options{launcher: newLauncher(strings.Fields(words))}
		a := &acceptance{options: o, report: newReport(o), names: &names{}}
		a.recordNodes(jobRecord{Ranks: 4}, make([]nodeRecord, 1))
		if a.launcher.at != at || a.launcher.ranks != 4 {
			t.Errorf("%s: %+v", words, a.launcher)
		}
	}
}
