// SPDX-License-Identifier: BSD-3-Clause

// Tests of what is told of a node: a verbs device in a directory like the kernel's, the version of
// a library, and that this machine has all facts.

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"libarmci/internal/config"
)

// TestDevices reads a port with all that cards tell.
func TestDevices(t *testing.T) {
	class := t.TempDir()
	for file, text := range map[string]string{"hca_type": "MT4129", "board_id": "MT_0838",
		"fw_ver": "28.39.1002", "device/numa_node": "1", "ports/1/state": "4: ACTIVE",
		"ports/1/link_layer": "InfiniBand", "ports/1/rate": "400 Gb/sec (4X NDR)"} {
		path := filepath.Join(class, "mlx5_0", file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := Fact{"verbs mlx5_0 port 1", "4: ACTIVE, InfiniBand, 400 Gb/sec (4X NDR); " +
		"MT4129 MT_0838, firmware 28.39.1002, NUMA node 1"}
	if got := devices(class); len(got) == 0 || got[0] != want {
		t.Errorf("%q", got)
	}
	a := &acceptance{report: newReport(&options{})}
	a.report.Nodes = []Node{{Facts: []Fact{want}}}
	if a.oddDevice("rdma"); len(a.report.Notes) != 1 {
		t.Errorf("an active port that is not used: notes %q", a.report.Notes)
	}
}

// TestLibraryOf knows libraries by their names, and prefers the file that is loaded.
func TestLibraryOf(t *testing.T) {
	loaded := []string{"/opt/x/libfabric.so.1.31.0", "/opt/x/libmpi.so.40.30.7"}
	for line, want := range map[string]bool{"7f 00:01 5 /x/libmpi_abi.so.1.0.0": true,
		"7f 00:01 5 /x/libmpi.so.40": true, "7f 00:01 5 /x/libmpifort.so.1": false} {
		if networkLibrary.MatchString(line) != want {
			t.Errorf("%s: not %v", line, want)
		}
	}
	for soname, want := range map[string]string{"libfabric.so.1": "libfabric.so.1.31.0",
		"libmpi.so.40": "libmpi.so.40.30.7", "libnothing.so.1": "none"} {
		if got := libraryOf(soname, loaded); got != want {
			t.Errorf("%s: %q", soname, got)
		}
	}
}

// TestAnswerOf has what a probe prints, or the beginning of what it said when it crashed.
func TestAnswerOf(t *testing.T) {
	p, err := answerOf(exec.Command("echo", `{"Usable":true,"Text":"here"}`))
	if err != nil || !p.Usable || p.Text != "here" {
		t.Errorf("%+v, %v", p, err)
	}
	_, err = answerOf(exec.Command("sh", "-c", "echo SIGSEGV: bad >&2; echo more >&2; exit 2"))
	if err == nil || err.Error() != "exit status 2: SIGSEGV: bad" {
		t.Errorf("a crash: %v", err)
	}
}

// TestDescribe wants every fact of this machine, with a value.
func TestDescribe(t *testing.T) {
	cfg, err := config.LoadFrom(nil)
	if err != nil {
		t.Fatal(err)
	}
	n := Node{Facts: factsOf(cfg, nil)}
	for _, name := range strings.Split("kernel,distribution,C library,processor,processors,"+
		"memory,limit memlock,limit nofile,limit /dev/shm", ",") {
		if factOf(n, name) == "" {
			t.Errorf("no %s", name)
		}
	}
}
