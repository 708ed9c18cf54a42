// SPDX-License-Identifier: BSD-3-Clause

// Tests of what armci_perf does besides starting a worker: its command line and
// the job that it makes. They start no job and measure nothing.
package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestWrongCommandLines(t *testing.T) {
	for _, bad := range []string{"nothing", "-reps 100", "-nodes 65", "-agent rsh",
		"-hosts a,b -nodes 2", "-hosts a,b -launcher run",
		"-launcher run -n 3", "-n 2 -nodes 3", "-n -1", "-bars x"} {
		if _, err := parse(strings.Fields(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

// TestJobs compares the command lines of jobs, and refuses an unknown group.
func TestJobs(t *testing.T) {
	for line, want := range map[string]string{
		"put":                        "",
		"-quick small rmw":           "run -n 2 w -r 3 -q small rmw",
		"-n 4 -reps 7 lock":          "run -n 4 w -r 7 lock",
		"-nodes 3 init":              "run -n 3 -nodes 3 w -r 11 init",
		"-hosts a,b -agent rsh init": "run -n 2 -hosts a,b -agent rsh w -r 11 init",
		"-hosts a,b -n 8 init":       "run -n 8 -hosts a,b w -r 11 init",
	} {
		o, err := parse(strings.Fields(line))
		if want == "" {
			if err == nil {
				t.Errorf("%s was taken", line)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(o.job("run", "w").Argv, " "); got != want {
			t.Errorf("%s: got  %s\nwant %s", line, got, want)
		}
	}
	o, err := parse([]string{"-launcher", "mpirun -n 2"})
	if err != nil {
		t.Fatal(err)
	}
	if got := o.job("", "w").Argv; len(got) != 6+len(groups) || got[0] != "mpirun" {
		t.Errorf("got %v", got)
	}
}

// The list here must be the worker's.
func TestGroupsAreTheWorkers(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("worker", "main.c"))
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, m := range regexp.MustCompile(`\{"([a-z]+)", perf_`).FindAllSubmatch(source, -1) {
		want = append(want, string(m[1]))
	}
	for _, g := range groups {
		got = append(got, g.name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, the worker has %v", got, want)
	}
}
