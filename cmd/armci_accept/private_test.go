// SPDX-License-Identifier: BSD-3-Clause

// Tests that no name is left in a report, in both forms.

package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

const (
	full = "gpu-017: srun of jane: GPU-018.cluster.example at 10.1.2.3:999 or fe80::1:2, " +
		"/home/jane/home/jane/x on login; " +
		"libibverbs.so.1.14.44.0, gpu-0171"
	bare = "node 0: srun of USER: node 1 at ADDRESS:999 or ADDRESS, " +
		"HOME/home/USER/x on HOST; libibverbs.so.1.14.44.0, gpu-0171"
)

// known are the names of a user, of three hosts, and a directory.
func known() *names {
	n := &names{}
	n.add(address, "ADDRESS")
	n.directories([]directory{{"/home/jane", "HOME"}})
	n.word("jane", "USER")
	n.host("login.cluster.example", -1)
	n.host("gpu-017.cluster.example", 0)
	n.host("gpu-018.cluster.example", 1)
	return n
}

// TestNames removes names from a text and from a command.
func TestNames(t *testing.T) {
	n := known()
	if got := n.text(full); got != bare {
		t.Errorf("%q", got)
	}
	if got := n.words(strings.Fields("mpirun --host x,y -H z --hostfile=/h -n 2")); got !=
		"mpirun --host NAMES -H NAMES --hostfile=NAMES -n 2" {
		t.Errorf("%q", got)
	}
	for words, want := range map[string]string{
		"srun -wnode1 -Aacct -J run -n4 -x gpu2": "srun -wNAMES -ANAMES -J NAMES -n4 " +
			"-x NAMES",
		"mpirun -Hx:2 -x PATH -x A=b -wdir /x": "mpirun -HNAMES -x PATH -x A=b -wdir /x",
		"armcirun -hosts a,b -ppn 2 -f x":      "armcirun -hosts NAMES -ppn 2 -f x",
	} {
		if got := n.words(strings.Fields(words)); got != want {
			t.Errorf("%s: %s", words, got)
		}
	}
}

// TestDirectories removes a directory in another whole.
func TestDirectories(t *testing.T) {
	n := &names{}
	n.directories([]directory{{"/", "PREFIX"}, {"/home/jane", "HOME"},
		{"/home/jane/secret-project/run", "PREFIX"}, {"/home/jane/secret-project", "HERE"}})
	if got := n.text("/home/jane/x /home/jane/secret-project/y " +
		"/home/jane/secret-project/run/z"); got != "HOME/x HERE/y PREFIX/z" {
		t.Errorf("%q", got)
	}
}

// TestReportWithoutNames looks for names in what is written of a report that is full of them.
func TestReportWithoutNames(t *testing.T) {
	text := full
	r := newReport(&options{})
	r.Command, r.MPI, r.Launcher = text, text, text
	r.fail("%s", text)
	r.note("%s", text)
	r.Differences = []string{text}
	r.Nodes = []Node{{[]int{0}, []Fact{{text, text}}, []Probe{{"tcp", true, text, nil}}}}
	r.Checks = []Check{{Done: text, Detail: text, Again: text, Ranks: 2}}
	r.Growth = []Growth{{Detail: text}}
	r.Application = []Application{{Name: "mg", Detail: text}}
	r.conclude()
	known().clean(r)
	var plain, object bytes.Buffer
	if err := r.writeText(&plain); err != nil {
		t.Fatal(err)
	}
	if err := r.writeJSON(&object); err != nil || !json.Valid(object.Bytes()) {
		t.Fatal(err)
	}
	left := regexp.MustCompile(`jane|login|gpu-01[78]\b|10\.1`)
	for _, out := range []string{plain.String(), object.String()} {
		if found := left.FindString(out); found != "" || !strings.Contains(out, "node 1") {
			t.Errorf("%q is in\n%s", found, out)
		}
	}
	if r.Verdict != failed || !strings.Contains(plain.String(), "Verdict: FAILED") {
		t.Errorf("the verdict is %q", r.Verdict)
	}
}
