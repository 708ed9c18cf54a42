// SPDX-License-Identifier: BSD-3-Clause

// Where the programs run: places by name, and the command line of a program there.
package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"

	"libarmci/bench/launch"
)

// place is a number of ranks on a network: node-4 (ranks of one node), hosts-2x1 (two hosts with a
// rank each, over TCP), rdma-2x2 (pretended nodes over the software verbs device). Without hosts
// the ranks of hosts-... run on pretended nodes.
type place struct {
	launch.Place
	name string
}

// parsePlace parses the name of a place, and returns an error if it is not available here.
func (o *options) parsePlace(name string) (place, error) {
	network, nodes, each, ok := parts(name)
	p := place{Place: launch.Place{Network: network, Ranks: nodes * each, Each: each},
		name: name}
	switch {
	case !ok:
		return p, fmt.Errorf("no place %q", name)
	case network == "hosts" && len(o.hosts) == 0:
		p.Network = "nodes"
	case network == "hosts" && nodes > len(o.hosts):
		return p, fmt.Errorf("%s: there are %d hosts", name, len(o.hosts))
	case network == "hosts":
		p.Hosts, p.Agent = o.hosts, o.agent
	case network == "rdma" && o.device == "":
		return p, fmt.Errorf("%s: the software verbs device is not built (target "+
			"armci_tests)", name)
	}
	return p, nil
}

var placeName = regexp.MustCompile(`^(?:(node)-(\d+)|(hosts|rdma)-(\d+)x(\d+))$`)

// parts are what the name of a place says.
func parts(name string) (network string, nodes, each int, ok bool) {
	m := placeName.FindStringSubmatch(name)
	if m == nil {
		return "", 0, 0, false
	}
	number := func(text string) int { n, _ := strconv.Atoi(text); return n }
	if m[1] != "" {
		return m[1], 1, number(m[2]), true
	}
	return m[3], number(m[4]), number(m[5]), true
}

// label is a place in a chart: short.
func label(name string) string {
	network, nodes, each, _ := parts(name)
	switch network {
	case "node":
		return fmt.Sprintf("node %d", each)
	case "hosts":
		network = "tcp"
	}
	return fmt.Sprintf("%s %dx%d", network, nodes, each)
}

// argv is the command line of a step there, and what is in its environment.
func (o *options) argv(s *step) (argv, env []string) {
	at := s.place.Place
	at.NoUCX = !o.ucx
	words, env := at.Words(launch.OpenMPI)
	argv = append(launch.Words(launch.OpenMPI, o.build), words...)
	if s.place.Network != "rdma" { // UCX has windows of its own
		argv = append(argv, s.variant.words...)
	}
	switch s.place.Network {
	case "node":
		argv = append(argv, "--mca", "pml", "ob1", "--mca", "btl", "vader,self")
	case "rdma":
		script := o.source + "/tests/softverbs/with.sh"
		argv = append(launch.OverDevice(script, o.device), argv...)
		env = append(env, "ARMCI_TRANSPORT=rdma")
	default:
		env = append(env, "ARMCI_TRANSPORT=tcp")
	}
	env = append(env, s.variant.env...)
	if s.variant.preload {
		env = append(env, "LD_PRELOAD="+filepath.Join(o.build, "lib", "libarmci-mpirma.so"))
	}
	if s.variant.blas && o.blas != "" {
		env = append(env, "LD_PRELOAD="+o.blas)
	}
	argv = append(argv, s.place.Pretend()...)
	if len(env) > 0 {
		argv = append(append(argv, "env"), env...)
	}
	return argv, launch.Environment(launch.OpenMPI)
}
