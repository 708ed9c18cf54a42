// SPDX-License-Identifier: BSD-3-Clause

// Package batch tells which hosts a batch system has given to the job that this process runs in:
// Slurm, PBS, LSF, Grid Engine. They say so in environment variables, some in a file that a
// variable names.
package batch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"libarmci/internal/bootstrap/launch"
	"libarmci/internal/config"
)

// Allocation is the hosts of a batch job, each with the ranks that it should have.
type Allocation struct {
	System   string // "Slurm"
	Variable string // which names the hosts
	Hosts    []launch.Host
	// what brings a command to them: AGENT HOST COMMAND...; nil: the system has none, or it is
	// not installed
	Agent   []string
	NoShell bool // the agent does not give the command to a shell
}

// system is how a batch system tells of hosts.
type system struct {
	name     string
	variable string
	read     func(value string) ([]launch.Host, error)
	agent    []string
	noShell  bool
}

// srun starts steps of one process beside others, without binding and without messages at the end.
var srun = strings.Fields("srun -Q --overlap --nodes=1 --ntasks=1 --ntasks-per-node=1 --mpi=none " +
	"--cpu-bind=none --export=ALL -w")

var systems = []system{
	{"Slurm", "SLURM_JOB_NODELIST", slurm, srun, true},
	{"LSF", "LSB_MCPU_HOSTS", parsePairs, []string{"blaunch"}, false},
	{"LSF", "LSB_HOSTS", func(v string) ([]launch.Host,
		error) {
		return countNames(strings.Fields(v))
	}, []string{"blaunch"}, false},
	{"PBS", "PBS_NODEFILE", inFile(nodeFile), []string{"pbs_tmrsh"}, false},
	{"Grid Engine", "PE_HOSTFILE", inFile(peFile), []string{"qrsh", "-inherit"}, false},
}

// Current is the allocation of this process; nil where it is in no batch job.
func Current() (*Allocation, error) {
	for _, s := range systems {
		value := config.Batch(s.variable)
		if value == "" {
			continue
		}
		hosts, err := s.read(value)
		if err == nil && len(hosts) == 0 {
			err = errors.New("it names no host")
		}
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", s.variable, s.name, err)
		}
		a := &Allocation{System: s.name, Variable: s.variable, Hosts: hosts,
			NoShell: s.noShell}
		if _, err := exec.LookPath(s.agent[0]); err == nil {
			a.Agent = s.agent
		} else {
			a.NoShell = false // another agent
		}
		return a, nil
	}
	return nil, nil
}

// IsThisHost tells whether all of it is this host.
func (a *Allocation) IsThisHost() bool {
	self, err := os.Hostname()
	short := func(name string) string { first, _, _ := strings.Cut(name, "."); return first }
	return err == nil && len(a.Hosts) == 1 && (short(a.Hosts[0].Name) == short(self) ||
		a.Hosts[0].Name == "localhost")
}

// Has tells whether all of some hosts belong to it.
func (a *Allocation) Has(some []launch.Host) bool {
	for _, h := range some {
		if !slices.ContainsFunc(a.Hosts,
			func(own launch.Host) bool { return own.Name == h.Name }) {
			return false
		}
	}
	return true
}

// slurm reads n[1-4,7],m1, with how many tasks each node has: 2(x4),1,3. Where no number of tasks
// was asked for, with its processors.
func slurm(value string) ([]launch.Host, error) {
	hosts, err := launch.ParseHosts(value)
	if err != nil {
		return nil, err
	}
	name := "SLURM_TASKS_PER_NODE"
	if config.Batch(name) == "" {
		name = "SLURM_JOB_CPUS_PER_NODE"
	}
	list := config.Batch(name)
	if list == "" {
		return hosts, nil
	}
	i := 0
	for word := range strings.SplitSeq(list, ",") {
		number, times, found := strings.Cut(strings.TrimSuffix(word, ")"), "(x")
		n, err := strconv.Atoi(number)
		t, err2 := strconv.Atoi(cmp.Or(times, "1"))
		if err != nil || err2 != nil || found != strings.HasSuffix(word, ")") || n < 1 ||
			t < 1 || i+t > len(hosts) {
			return nil, fmt.Errorf("%s=%s is not a number for each of %d nodes", name,
				list, len(hosts))
		}
		for range t {
			hosts[i].Slots = n
			i++
		}
	}
	if i != len(hosts) {
		return nil, fmt.Errorf("%s=%s has numbers for %d nodes of %d", name, list, i,
			len(hosts))
	}
	return hosts, nil
}

// parsePairs reads names that are followed by numbers of ranks.
func parsePairs(value string) ([]launch.Host, error) {
	words := strings.Fields(value)
	if len(words)%2 != 0 {
		return nil, errors.New("it is no list of hosts and numbers")
	}
	var hosts []launch.Host
	for i := 0; i < len(words); i += 2 {
		n, err := strconv.Atoi(words[i+1])
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%s is followed by %q, which is no number of ranks",
				words[i], words[i+1])
		}
		var err2 error
		if hosts, err2 = addHost(hosts, words[i], n); err2 != nil {
			return nil, err2
		}
	}
	return hosts, nil
}

// countNames counts how often each name is in the list.
func countNames(names []string) (hosts []launch.Host, err error) {
	for _, name := range names {
		if hosts, err = addHost(hosts, name, 1); err != nil {
			return nil, err
		}
	}
	return hosts, nil
}

// addHost adds ranks to a host of the list, or the host to the list.
func addHost(hosts []launch.Host, name string, ranks int) ([]launch.Host, error) {
	if i := slices.IndexFunc(hosts,
		func(h launch.Host) bool { return h.Name == name }); i >= 0 {
		hosts[i].Slots += ranks
		return hosts, nil
	}
	some, err := launch.ParseHosts(name) // which refuses what is no name
	if err != nil {
		return nil, err
	}
	some[0].Slots = ranks
	return append(hosts, some[0]), nil
}

// inFile reads the lines of a file that the variable names.
func inFile(read func(lines [][]string) ([]launch.Host, error)) func(string) ([]launch.Host,
	error) {
	return func(name string) ([]launch.Host, error) {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var lines [][]string
		for line := range bytes.Lines(text) {
			if words := strings.Fields(string(line)); len(words) > 0 {
				lines = append(lines, words)
			}
		}
		hosts, err := read(lines)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return hosts, nil
	}
}

// nodeFile has a line for each rank: its host.
func nodeFile(lines [][]string) ([]launch.Host, error) {
	var names []string
	for _, words := range lines {
		names = append(names, words[0])
	}
	return countNames(names)
}

// peFile has lines of HOST SLOTS QUEUE PROCESSORS.
func peFile(lines [][]string) ([]launch.Host, error) {
	var list []string
	for _, words := range lines {
		if len(words) < 2 {
			return nil, fmt.Errorf("%q: a line is HOST SLOTS ...", words[0])
		}
		list = append(list, words[:2]...)
	}
	return parsePairs(strings.Join(list, " "))
}
