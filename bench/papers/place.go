// SPDX-License-Identifier: BSD-3-Clause

// Where the programs run: places by name, and the command line of a program there.
package main

import (
	"fmt"
	"path/filepath"
	"strconv"

	"libarmci/bench/launch"
)

// place is a number of ranks on a network: node-4 (ranks of one node), hosts-2x1 (two hosts with a rank each, over TCP),
// rdma-2x2 (pretended nodes over the software verbs device). Without hosts the ranks of hosts-... run on pretended nodes.
type place struct {
	launch.Place
	name string
}

func (o *options) place(name string) (place, error) {
	p := place{name: name}
	var nodes, each int
	switch {
	case scan(name, "node-%d", &each):
		nodes, p.Network = 1, "node"
	case scan(name, "hosts-%dx%d", &nodes, &each):
		p.Network, p.Hosts, p.Agent = "hosts", o.hosts, o.agent
		if len(o.hosts) == 0 {
			p.Network = "nodes"
		} else if nodes > len(o.hosts) {
			return p, fmt.Errorf("%s: there are %d hosts", name, len(o.hosts))
		}
	case scan(name, "rdma-%dx%d", &nodes, &each):
		p.Network = "rdma"
		if o.device == "" {
			return p, fmt.Errorf("%s: the software verbs device is not built (target armci_tests)", name)
		}
	default:
		return p, fmt.Errorf("no place %q", name)
	}
	p.Ranks, p.Each = nodes*each, each
	return p, nil
}

func scan(name, format string, to ...any) bool {
	n, err := fmt.Sscanf(name, format, to...)
	if err != nil || n != len(to) {
		return false
	}
	values := make([]any, len(to))
	for i, v := range to {
		values[i] = *v.(*int)
	}
	return fmt.Sprintf(format, values...) == name
}

// title is a place for people.
func (o *options) title(name string) string {
	var nodes, each int
	where := "hosts over TCP"
	if len(o.hosts) == 0 {
		where = "pretended nodes over TCP"
	}
	switch {
	case scan(name, "node-%d", &each):
		return plural(each, "rank") + " of a node"
	case scan(name, "rdma-%dx%d", &nodes, &each):
		where = "pretended nodes over RDMA"
	default:
		scan(name, "hosts-%dx%d", &nodes, &each)
	}
	if each == 1 {
		return fmt.Sprintf("%d %s", nodes, where)
	}
	return fmt.Sprintf("%d %s, %s each", nodes, where, plural(each, "rank"))
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// label is a place in a chart: short.
func label(name string) string {
	var nodes, each int
	switch {
	case scan(name, "node-%d", &each):
		return "node " + strconv.Itoa(each)
	case scan(name, "rdma-%dx%d", &nodes, &each):
		return fmt.Sprintf("rdma %dx%d", nodes, each)
	}
	scan(name, "hosts-%dx%d", &nodes, &each)
	return fmt.Sprintf("tcp %dx%d", nodes, each)
}

// argv is the command line of a step there, and what is in its environment.
func (o *options) argv(s *step) (argv, env []string) {
	words, env := s.place.Words(launch.OpenMPI)
	argv = append(launch.Words(launch.OpenMPI, o.build), words...)
	argv = append(argv, s.variant.words...)
	transport := "ARMCI_TRANSPORT=tcp"
	if s.place.Network == "rdma" {
		transport = "ARMCI_TRANSPORT=rdma"
		argv = append([]string{o.source + "/tests/softverbs/with.sh", o.device}, argv...)
	}
	switch s.place.Network {
	case "node":
		argv = append(argv, "--mca", "pml", "ob1", "--mca", "btl", "vader,self")
	case "rdma": // no MPI knows the device: messages go through shared memory
		argv = append(argv, "--mca", "pml", "ob1")
		fallthrough
	default:
		env = append(env, transport)
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
