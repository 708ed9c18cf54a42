// SPDX-License-Identifier: BSD-3-Clause

// How core opens the node and the transports between nodes without knowing any transport by name.
package transport

import "slices"

// Procs is the GOMAXPROCS of a process, whatever the machine, if few threads of the application
// call the library (guest.SetProcs). Few goroutines run at the same time, because the cores belong
// to the application. But goroutines of transports are mostly in system calls, and Go's monitor
// takes up to 10 ms to retake the processor of such a call. So there are some to spare.
const Procs = 8

// JoinInfo is what a rank must know to join its node.
type JoinInfo struct {
	Ranks     []Rank   // world ranks of the node, ascending
	Listeners []string // result of Listen on each of them
	Self      int      // local number of this rank
	Node      int      // number of the node
	Nodes     int      // number of nodes of the job
	// bytes of address space that the arena of any node may use
	Need  int64
	World int // number of ranks of the job
	// ranks of the job on this machine, those of pretended other nodes included
	MachineRanks int
	NetnsRanks   int // ranks of the job in this network namespace
	// number of this node among those of the network namespace
	NetnsNode int
	Secret    []byte                         // of the job
	OnLoss    func(rank Rank, reason string) // called once when a rank of the node is lost
	Handle    Handler                        // receives active messages
}

// OpenInfo is what a rank must know to open a transport between nodes.
type OpenInfo struct {
	Me     Rank
	Nodes  [][]Rank   // ranks of each node, ascending
	MyNode int        // index into Nodes
	NodeBy []int32    // by rank: index into Nodes; nil: NodeOf searches Nodes
	Hosts  []string   // host name of each node, for the texts of errors
	Hints  [][]byte   // by node: result of its first rank's Provider.Hint
	Secret []byte     // of the job: connecting processes prove that they know it; never sent
	Node   NodeMemory // memory that the data server accesses, of any rank of its node
	// Memory carries out the server's accumulates and read-modify-writes, and its accesses to
	// private memory, for any rank of its node.
	Memory    LocalMemory
	Handle    Handler // receives active messages for ranks of this node
	PlaceBody Placer  // returns the memory for bodies of unordered messages; nil: always Handle
	// Backlogged reports whether two-sided messages for a local rank of this node are queued
	// outside its mailbox.
	Backlogged func(local int) bool
	// OnLoss is called when a rank of another node is lost. It does not block.
	OnLoss func(rank Rank, reason string)
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

// LocalIndex is the index of a rank among the ranks of this node, -1 if it belongs to another.
func (o *OpenInfo) LocalIndex(rank Rank) int {
	if at, ok := slices.BinarySearch(o.Nodes[o.MyNode], rank); ok {
		return at
	}
	return -1
}

// HostName is the name of a rank's host, for the texts of errors; "?" if it is not known.
func (o *OpenInfo) HostName(rank Rank) string {
	if node := o.NodeOf(rank); node >= 0 && node < len(o.Hosts) {
		return o.Hosts[node]
	}
	return "?"
}

// Provider opens a transport between nodes, which may or may not be usable on this machine.
type Provider struct {
	Name string
	// Probe returns why the transport cannot be used on this machine, in words for armci_info;
	// nil if it can.
	Probe func() error
	Notes func() string // the devices that Open would choose, and why, for armci_info
	Spare func() string // devices found although Probe fails, for armci_info; may be nil
	// Hint returns what other ranks should know before they open theirs, such as the network
	// addresses of this host. It is called at the first rank of each node and sent to all
	// ranks, so it should have tens of bytes only.
	Hint func() []byte
	// Open opens the transport, so that other ranks can connect. The caller then calls Connect
	// with the ranks that have an Info().Addr, in ascending order. A Peer is a rank of
	// OpenInfo.Nodes.
	Open func(OpenInfo) (Transport, error)
}

// Platform is an argument of core.Start: the machine that the process runs on. Package drivers has
// that of real machines, tests have stand-ins. core calls the methods from one thread.
type Platform interface {
	// Memory is the memory of this machine in bytes.
	Memory() int64
	// Listen opens a listening socket for the ranks of the node and returns its name. The
	// caller then calls Join or Abandon.
	Listen() (string, error)
	// Join opens the node's shared memory and its transport. It is collective over the node.
	Join(JoinInfo) (Node, Transport, error)
	// Providers lists the transports between nodes in order of preference.
	Providers() []Provider
	// Abandon closes the socket of Listen. It is called if Join will not be.
	Abandon()
}
