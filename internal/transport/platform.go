// SPDX-License-Identifier: BSD-3-Clause

// How core opens the node and the transports between nodes without knowing any transport by name.
package transport

import "slices"

// Procs is the GOMAXPROCS of a process, whatever the machine, where few threads of the application
// call the library (guest.SetProcs). Few goroutines run at the same time, since the cores belong to
// the application. But those of transports spend their time in system calls, and Go's monitor takes
// up to 10 ms to notice that a processor is free meanwhile, so some are needed to spare.
const Procs = 8

// JoinInfo is what a rank must know to join its node.
type JoinInfo struct {
	Ranks     []Rank   // world ranks of the node, ascending
	Listeners []string // result of Listen on each of them
	Self      int      // my local number
	Node      int      // number of the node
	Nodes     int      // of the job
	// address space that the arena of any node may use
	Need  int64
	World int // ranks of the job
	// ranks of the job on this machine, those of pretended other nodes included
	MachineRanks int
	NetnsRanks   int // ranks of the job in this network namespace
	// number of this node among those of the network namespace
	NetnsNode int
	Secret    []byte                         // of the job
	Lost      func(rank Rank, reason string) // called once when a rank of the node is lost
	Handle    Handler                        // receives active messages
}

// OpenInfo is what a rank must know to open a transport between nodes.
type OpenInfo struct {
	Me     Rank
	Nodes  [][]Rank   // ranks of each node, ascending
	MyNode int        // index into Nodes
	NodeBy []int32    // by rank: index into Nodes; nil: NodeOf looks for it
	Hosts  []string   // host name of each node, for messages
	Hints  [][]byte   // by node: result of its first rank's Provider.Hint
	Secret []byte     // of the job: connecting processes prove that they know it; never sent
	Node   NodeMemory // what a data server accesses, for any rank of its node
	// by which it does accumulates and read-modify-writes, and reaches private memory, for any
	// rank of its node
	Memory LocalMemory
	Handle Handler // receives active messages for ranks of my node
	Place  Placer  // knows where bodies of unordered messages belong; nil: nobody does
	// Backlogged reports whether two-sided messages for a local rank of my node wait for room.
	Backlogged func(local int) bool
	// Lost is called when a rank of another node is lost. It does not block.
	Lost func(rank Rank, reason string)
}

// NodeOf is the node of a rank, -1 if there is no such rank.
func (o *OpenInfo) NodeOf(rank Rank) int {
	if o.NodeBy != nil {
		if rank < 0 || int(rank) >= len(o.NodeBy) {
			return -1
		}
		return int(o.NodeBy[rank])
	}
	return slices.IndexFunc(o.Nodes, func(ranks []Rank) bool {
		_, ok := slices.BinarySearch(ranks, rank)
		return ok
	})
}

// Local is the number of a rank on this node, -1 if it is of another.
func (o *OpenInfo) Local(rank Rank) int {
	if at, ok := slices.BinarySearch(o.Nodes[o.MyNode], rank); ok {
		return at
	}
	return -1
}

// HostOf is the name of a rank's host, for messages.
func (o *OpenInfo) HostOf(rank Rank) string {
	if node := o.NodeOf(rank); node >= 0 && node < len(o.Hosts) {
		return o.Hosts[node]
	}
	return "?"
}

// Provider opens a transport between nodes, which may or may not be usable here.
type Provider struct {
	Name string
	// why it cannot be used on this machine, in words for armci_info; nil if it can
	Probe func() error
	Notes func() string // what it would choose here and why, for armci_info
	Spare func() string // what there is though Probe fails, for armci_info; may be nil
	// Hint is sent to all ranks before they open theirs, such as this host's network addresses.
	// The first rank of each node is asked. All get it, so it should be short: tens of bytes.
	Hint func() []byte
	// Open opens the transport, so that others can connect; then Connect is called with the
	// ranks that have an Info().Addr, in ascending order. Here a Peer is a rank, of which there
	// are those of OpenInfo.Nodes.
	Open func(OpenInfo) (Transport, error)
}

// Platform is an argument of core.Start: package drivers has that of real machines, tests have
// stand-ins.
type Platform interface {
	Memory() int64 // of this machine, in bytes
	// opens a listening socket for ranks of the node, and returns its name
	Listen() (string, error)
	Join(JoinInfo) (Node, Transport, error) // collective over the node
	Providers() []Provider                  // in order of preference
	Abandon()                               // closes that socket if Join will not be called
}
