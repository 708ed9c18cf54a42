// SPDX-License-Identifier: BSD-3-Clause

// Tests of the starts of bench -waits, with launchers that are scripts and start nothing.
package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const barrierFigure = `printf 'PERF\tbarrier\t-\t8\t2\tns\t7\t-\n'`

// scripted is a run with a script in the place of each launcher.
func scripted(t *testing.T, place, row, script string) *waitRun {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, launcher := range []string{"armcirun", "mpirun.openmpi"} {
		text, path := []byte("#!/bin/sh\n"+script+"\n"), filepath.Join(dir, "bin", launcher)
		if err := os.WriteFile(path, text, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
	o := &waitOptions{starts: 1, sample: 1, conditions: []condition{quiet},
		waitPrograms: waitPrograms{build: dir, workers: dir},
		waitHosts:    waitHosts{cores: []int{0, 1}}}
	p := placeNamed(t, place, row)
	p.ways = p.ways[:1]
	return &waitRun{waitOptions: o, figures: waitFigures{}, places: []waitPlace{p}}
}

// taken are the figures of a run.
func (m *waitRun) taken() (n int) {
	for _, values := range m.figures {
		n += len(values)
	}
	return n
}

// TestStartCounts shows which starts count as figures and which as failures, and what the notes
// say.
func TestStartCounts(t *testing.T) {
	for _, c := range []struct {
		name, script    string
		figures, failed int
		left            string
	}{
		{"good", barrierFigure + "; echo END", 1, 0, ""},
		{"fails behind the end", barrierFigure + "; echo END; exit 1", 1, 0, ""},
		{"fails before the end", barrierFigure + "; exit 3", 1, 1, "exit status 3"},
		{"no end", barrierFigure, 1, 1, "did not come to its end"},
		{"wrong result", barrierFigure + `; printf 'CHECK\tbarrier\tWRONG\nEND\n'`, 1, 0,
			"1 results of a start were wrong"},
	} {
		m := scripted(t, "node-2", "barrier", c.script)
		m.round(&m.places[0], 0)
		left := strings.Join(m.left, "; ")
		failed := m.places[0].ways[0].failures
		if m.taken() != c.figures || failed != c.failed {
			t.Errorf("%s: %d figures, %d failures", c.name, m.taken(), failed)
		}
		if !strings.Contains(left, c.left) || (c.left == "") != (left == "") {
			t.Errorf("%s: left out: %q", c.name, left)
		}
	}
}

// A way that fails again and again is not started for ever.
func TestFailuresEnd(t *testing.T) {
	m := scripted(t, "node-2", "barrier", `echo . >>"$(dirname "$0")/starts"; exit 1`)
	for round := range 5 {
		m.round(&m.places[0], round)
	}
	starts, _ := os.ReadFile(filepath.Join(m.build, "bin", "starts"))
	if len(starts) != 2*mostFailures {
		t.Errorf("%d starts", len(starts)/2)
	}
	if last := m.left[len(m.left)-1]; !strings.Contains(last, "no start after 3") {
		t.Errorf("left out: %s", last)
	}
}

// A preloaded library that cannot start says why, and the windows are the MPI's own: no figure of
// ours.
func TestNoFiguresOfTheMPIsWindows(t *testing.T) {
	figure := strings.Replace(barrierFigure, "barrier", "epoch", 1) + "; echo END"
	for script, want := range map[string]int{
		figure: 1,
		"echo '[0@node0] MPI_Init: no transport' >&2; " + figure: 0,
		"echo 'a warning of the MPI' >&2; " + figure:             1,
	} {
		m := scripted(t, "epoch-2", "epoch", script)
		m.round(&m.places[0], 0)
		if m.taken() != want || m.places[0].ways[0].failures != 1-want {
			t.Errorf("%s: %d figures", script, m.taken())
		}
	}
}
