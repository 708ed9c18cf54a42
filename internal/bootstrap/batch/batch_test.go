// SPDX-License-Identifier: BSD-3-Clause

// What batch systems say, rightly and wrongly, and what is read from it.
package batch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"libarmci/internal/bootstrap/launch"
)

// with sets the environment to what a batch system says; PATH has the agents that are named.
func with(t *testing.T, environment string, agents ...string) {
	t.Helper()
	for _, name := range []string{"SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE",
		"SLURM_JOB_CPUS_PER_NODE", "PBS_NODEFILE", "LSB_HOSTS",
		"LSB_MCPU_HOSTS", "PE_HOSTFILE"} {
		t.Setenv(name, "")
	}
	path := t.TempDir()
	t.Setenv("PATH", path)
	for _, a := range agents {
		if err := os.WriteFile(filepath.Join(path, a), []byte("#!/bin/sh\n"),
			0o755); err != nil {
			t.Fatal(err)
		}
	}
	for e := range strings.SplitSeq(environment, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(e), "=")
		if text, isFile := strings.CutPrefix(value, "file:"); isFile {
			value = filepath.Join(path, "nodes")
			if err := os.WriteFile(value, []byte(strings.ReplaceAll(text, "|", "\n")),
				0o644); err != nil {
				t.Fatal(err)
			}
		}
		if name != "" {
			t.Setenv(name, value)
		}
	}
}

func text(hosts []launch.Host) string {
	var words []string
	for _, h := range hosts {
		words = append(words, fmt.Sprintf("%s:%d", h.Name, h.Slots))
	}
	return strings.Join(words, " ")
}

// The variables and files of each batch system are read as hosts with slots.
func TestCurrent(t *testing.T) {
	for _, c := range []struct{ environment, agent, hosts, uses string }{
		{"SLURM_JOB_NODELIST=n[1-3,7],m1; SLURM_TASKS_PER_NODE=2(x3),1(x1),4", "srun",
			"n1:2 n2:2 n3:2 n7:1 m1:4", "srun"},
		{"SLURM_JOB_NODELIST=r[1-2]n[08-09]; SLURM_JOB_CPUS_PER_NODE=8(x4)", "srun",
			"r1n08:8 r1n09:8 r2n08:8 r2n09:8", "srun"},
		{"SLURM_JOB_NODELIST=n1", "", "n1:0", ""},
		{"LSB_MCPU_HOSTS=a 4 b 2 a 1", "blaunch", "a:5 b:2", "blaunch"},
		{"LSB_HOSTS=a a b a", "blaunch", "a:3 b:1", "blaunch"},
		{"PBS_NODEFILE=file:n1.site|n1.site|n2.site|", "pbs_tmrsh", "n1.site:2 n2.site:1",
			"pbs_tmrsh"},
		{"PBS_NODEFILE=file:n1|n2", "", "n1:1 n2:1", ""},
		{"PE_HOSTFILE=file:a 4 all.q@a UNDEFINED|b 1 all.q@b UNDEFINED|", "qrsh", "a:4 b:1",
			"qrsh"},
		{"", "srun", "", ""},
	} {
		with(t, c.environment, strings.Fields(c.agent)...)
		a, err := Current()
		if err != nil || (a == nil) != (c.hosts == "") {
			t.Errorf("%s: %v, error %v", c.environment, a, err)
			continue
		}
		if a == nil {
			continue
		}
		agent := ""
		if a.Agent != nil {
			agent = a.Agent[0]
		}
		if text(a.Hosts) != c.hosts || agent != c.uses || a.NoShell != (agent == "srun") {
			t.Errorf("%s: hosts %s, agent %q, without a shell: %v", c.environment,
				text(a.Hosts), agent, a.NoShell)
		}
	}
}

// Malformed lists of hosts are refused with the reason.
func TestWhatIsNoList(t *testing.T) {
	for environment, want := range map[string]string{
		"SLURM_JOB_NODELIST=n[1-": "SLURM_JOB_NODELIST of " +
			"Slurm",
		"SLURM_JOB_NODELIST=n[1-2]; SLURM_TASKS_PER_NODE=2(x3)": "is not a number for " +
			"each of 2 nodes",
		"SLURM_JOB_NODELIST=n[1-2]; SLURM_TASKS_PER_NODE=2":     "numbers for 1 nodes of 2",
		"SLURM_JOB_NODELIST=n[1-2]; SLURM_TASKS_PER_NODE=2(x2":  "is not a number for each",
		"SLURM_JOB_NODELIST=n[1-2]; SLURM_TASKS_PER_NODE=0(x2)": "is not a number for each",
		"LSB_MCPU_HOSTS=a 4 b": "no list of hosts and " +
			"numbers",
		"LSB_MCPU_HOSTS=a b":          `a is followed by "b"`,
		"LSB_HOSTS=-oProxyCommand=x":  "no name of a host",
		"PBS_NODEFILE=/nowhere/nodes": "no such file",
		"PBS_NODEFILE=file:|":         "it names no host",
		"PE_HOSTFILE=file:a":          "a line is HOST SLOTS",
		// as many as it says
		"SLURM_JOB_NODELIST=n1; SLURM_TASKS_PER_NODE=99999999999(x1)": "",
	} {
		with(t, environment)
		a, err := Current()
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", environment, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, error %v, not one with %q", environment, a, err, want)
		}
	}
}

// An allocation knows whether it is this host alone, and which hosts belong to it.
func TestHereAndHas(t *testing.T) {
	self, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	for hosts, here := range map[string]bool{self: true, self + ".site": true,
		"localhost": true, self + "x": false, self + ",other": false} {
		list, err := launch.ParseHosts(hosts)
		if err != nil {
			t.Skip(err)
		}
		a := &Allocation{Hosts: list}
		if a.IsThisHost() != here {
			t.Errorf("%s on %s: %v", hosts, self, !here)
		}
		if !a.Has(list[:1]) || a.Has([]launch.Host{{Name: "elsewhere"}}) ||
			a.Has(append(list, launch.Host{Name: "elsewhere"})) {
			t.Errorf("%s: what belongs to it", hosts)
		}
	}
}
