// SPDX-License-Identifier: BSD-3-Clause

// The groups of figures that the worker can measure, and what each must
// produce. Which jobs measure them is plan.go's business.
package main

import (
	"fmt"
	"io"
	"slices"
)

// group is a set of figures that the worker measures in one go.
type group struct {
	name  string
	ranks []int    // one job for each
	mpi   bool     // compared with an MPI where there is one
	apart bool     // in a job of its own
	nodes bool     // needs two ranks on different nodes
	all   bool     // and on all nodes there are, three at least
	rdma  bool     // over RDMA, beside raw verbs
	env   []string // settings of that job
	vary  string   // a setting in which the ranks of a node differ: NAME=VALUE,...; a job of its own
	doc   string
	ops   []string // the figures it must produce
}

// ownCore has ranks wait as if each had a core of its own: of those that take turns only one does anything.
var ownCore = []string{"ARMCI_SPIN=2000"}

var groups = []group{
	{name: "put", ranks: []int{2}, doc: "8-byte put, get and value operations, and put with fence, beside an 8-byte memcpy",
		ops: []string{"put", "get", "put-value", "get-value", "put+fence/put", "put+fence"}},
	{name: "bandwidth", ranks: []int{2}, doc: "contiguous put and get of 1 KiB to 16 MiB beside memcpy",
		ops: []string{"put-bandwidth", "get-bandwidth"}},
	{name: "strided", ranks: []int{2}, doc: "patches of 4x4 to 512x512 doubles beside a loop of memcpys",
		ops: []string{"put-strided", "get-strided"}},
	{name: "vector", ranks: []int{2}, doc: "1000 scattered doubles beside a loop of assignments",
		ops: []string{"put-vector", "get-vector"}},
	{name: "acc", ranks: []int{2}, doc: "accumulate of 8 bytes and 1 MiB, by one rank and by all, beside loops without a lock",
		ops: []string{"acc", "acc-neighbours", "acc-same-array"}},
	{name: "rmw", ranks: []int{2, 4}, doc: "fetch-and-add and swap, alone and contended, beside the bare atomic",
		ops: []string{"fetch-add", "fetch-add-contended", "swap"}},
	{name: "lock", ranks: []int{2, 4}, doc: "mutexes, alone and contended, with shares, beside a process-shared pthread mutex",
		ops: []string{"lock+unlock", "lock-contended", "lock-least-share"}},
	{name: "barrier", ranks: []int{2, 4}, doc: "barriers beside a sense-reversing barrier that yields",
		ops: []string{"barrier", "msg-barrier"}},
	{name: "malloc", ranks: []int{2}, doc: "ARMCI_Malloc and ARMCI_Free of 1 MiB, memory reused",
		ops: []string{"malloc+free", "malloc+free-local"}},
	{name: "nonblocking", ranks: []int{2}, doc: "1000 nonblocking 8-byte puts: implicit, with handles, aggregated",
		ops: []string{"nbput-implicit", "nbput-handles", "nbput-aggregate"}},
	{name: "message", ranks: []int{2}, mpi: true, doc: "armci_msg_snd and _rcv there and back beside a bare mailbox or an MPI",
		ops: []string{"message"}},
	{name: "collective", ranks: []int{2}, mpi: true, doc: "broadcast and sum of 8 B to 4 MiB beside an MPI",
		ops: []string{"bcast", "gop-sum"}},
	{name: "malloc-new", ranks: []int{2}, apart: true, env: []string{"ARMCI_SHM_KEEP=0"},
		doc: "ARMCI_Malloc of 1 MiB of new pages, and ARMCI_Free, beside populating a memory file and punching a hole",
		ops: []string{"malloc-new", "free-new"}},
	{name: "init", ranks: []int{4}, apart: true, doc: "time to initialise", ops: []string{"init"}},
	{name: "idle", ranks: []int{2}, apart: true, doc: "processor time while idle, resident memory",
		ops: []string{"resident", "idle-asleep", "idle-in-barrier"}},
	{name: "remote-small", nodes: true,
		doc: "8-byte get, put and fence, fetch-and-add beside raw round trips in three ways to wait",
		ops: styles("remote-get", styles("remote-put+fence", styles("remote-fetch-add",
			"remote-get-rare", "remote-put", "remote-fence-idle")...)...)},
	{name: "remote-asleep", nodes: true, apart: true, env: []string{"ARMCI_SPIN=1", "ARMCI_TCP_POLL=0"},
		doc: "the same in a job that sleeps instead of polling, beside blocking raw round trips",
		ops: []string{"remote-get-asleep", "remote-put+fence-asleep", "remote-fetch-add-asleep"}},
	{name: "remote-bandwidth", nodes: true,
		doc: "contiguous put and get of 1 KiB to 8 MiB, and streams of them, beside a raw socket",
		ops: []string{"remote-put-bandwidth", "remote-get-bandwidth", "remote-put-stream", "remote-get-stream"}},
	{name: "remote-strided", nodes: true,
		doc: "patches of 16x16 to 512x512 doubles beside as many bytes on a raw socket",
		ops: []string{"remote-put-strided", "remote-get-strided", "remote-acc-strided"}},
	{name: "remote-vector", nodes: true, doc: "1000 scattered doubles beside as many bytes on a raw socket",
		ops: []string{"remote-put-vector", "remote-get-vector"}},
	{name: "remote-batch", nodes: true,
		doc: "1000 nonblocking 8-byte puts and a fence, aggregated and not, beside a raw socket",
		ops: []string{"remote-nbput", "remote-nbput-aggregate"}},
	{name: "remote-meeting", nodes: true,
		doc: "locks beside fetch-and-add, alone and contended, barriers beside raw round trips",
		ops: styles("remote-barrier", "remote-lock+unlock", "remote-lock-beside-owner", "remote-lock-contended")},
	{name: "remote-busy", nodes: true, doc: "operations on a rank that computes beside those on one that sleeps",
		ops: busy("remote-busy")},
	{name: "remote-crowded", nodes: true,
		doc: "the same with a thread that computes on each of the target's cores",
		ops: busy("remote-crowded")},
	{name: "remote-overlap", nodes: true,
		doc: "how much of a 1 MiB nonblocking get hides behind computation, with a core to spare and without",
		ops: []string{"remote-overlap", "remote-overlap-crowded"}},
	{name: "remote-all", nodes: true, all: true,
		doc: "a fence of all nodes beside one and beside raw sockets to all, a lock wanted by all; for 3 nodes and more",
		ops: []string{"remote-fence-all/one", "remote-fence-all/raw", "remote-lock-all", "remote-lock-least-share"}},
	{name: "rdma-small", nodes: true, rdma: true,
		doc: "8-byte put and fence, get, fetch-and-add, lock, and accumulates, beside raw requests that spin",
		ops: []string{"rdma-put+fence", "rdma-get", "rdma-fetch-add", "rdma-acc+fence", "rdma-lock+unlock"}},
	{name: "rdma-asleep", nodes: true, rdma: true, apart: true, env: []string{"ARMCI_SPIN=1", "ARMCI_RDMA_POLL=0"},
		doc: "the same in a job that sleeps instead of polling, beside raw requests that sleep",
		ops: []string{"rdma-put+fence-asleep", "rdma-get-asleep", "rdma-fetch-add-asleep"}},
	{name: "rdma-memory", nodes: true, rdma: true,
		doc: "registration beside a copy, puts from new memory beside raw writes that register it",
		ops: []string{"rdma-register", "rdma-put-new"}},
	{name: "rdma-contiguous", nodes: true, rdma: true, env: ownCore, vary: "ARMCI_RDMA_CONTIGUOUS=auto,buffered,zerocopy",
		doc: "contiguous put and get of 1 KiB to 4 MiB by protocol, beside a raw request",
		ops: ways([]string{"rdma-put", "rdma-get"}, "auto", "auto:best", "buffered", "zerocopy")},
	{name: "rdma-strided", nodes: true, rdma: true, env: ownCore, vary: "ARMCI_RDMA_STRIDED=auto,nic,host,host-atomic,push",
		doc: "patches of 16x16 to 512x512 doubles by protocol, packed by the program, and by programs at both ends, beside a raw request",
		ops: ways([]string{"rdma-put-strided", "rdma-get-strided"}, "auto", "nic", "host", "host-atomic", "packed", "by-hand", "auto:best", "auto:packed", "auto:by-hand")},
	{name: "rdma-busy", nodes: true, rdma: true, doc: "operations on a rank that computes beside those on one that sleeps",
		ops: busy("rdma-busy")},
	{name: "rdma-overlap", nodes: true, rdma: true,
		doc: "how much of nonblocking put and get of 64 KiB to 4 MiB hides behind computation, beside raw requests",
		ops: []string{"rdma-overlap-put", "rdma-overlap-get"}},
	{name: "rdma-fences", nodes: true, all: true, rdma: true, doc: "a fence of one, two, ... nodes beside a fence of one",
		ops: []string{"rdma-fence-all"}},
}

// styles adds to ops a figure for each way a raw socket waits.
func styles(name string, ops ...string) []string {
	return append(ops, name+"/mixed", name+"/spinning", name+"/blocking")
}

// ways names what a contest of protocols produces.
func ways(ops []string, ways ...string) []string {
	var all []string
	for _, op := range ops {
		for _, way := range ways {
			all = append(all, op+"/"+way)
		}
	}
	return all
}

// busy names the operations on a target that computes.
func busy(name string) []string {
	return []string{name + "-get", name + "-put+fence", name + "-acc+fence", name + "-fetch-add", name + "-lock"}
}

func findGroup(name string) *group {
	i := slices.IndexFunc(groups, func(g group) bool { return g.name == name })
	if i < 0 {
		return nil
	}
	return &groups[i]
}

func printGroups(w io.Writer) {
	for _, g := range groups {
		fmt.Fprintf(w, "%-16s %s\n", g.name, g.doc)
	}
}
