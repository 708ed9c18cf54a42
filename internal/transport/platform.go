// SPDX-License-Identifier: BSD-3-Clause

// How core gets at the node and at the wires to other nodes without knowing any transport by name.
package transport

// JoinInfo is what a rank must know to join its node.
type JoinInfo struct {
	Ranks  []Rank                         // world ranks of the node, ascending
	Doors  []string                       // what each of them returned from Door
	Self   int                            // my local number
	World  int                            // ranks of the job
	Shared int                            // ranks of the job on this machine, those of pretended other nodes included
	Secret []byte                         // of the job
	Lost   func(rank Rank, reason string) // called once when a rank of the node is lost
	Handle Handler                        // receives active messages
}

// WireInfo is what a rank must know to open a wire.
type WireInfo struct {
	Me     Rank
	Nodes  [][]Rank  // ranks of each node, ascending
	MyNode int       // index into Nodes
	Hosts  []string  // host name of each node, for messages
	Hints  [][]byte  // by rank: what its Wire's Hint returned
	Secret []byte    // of the job: proved by who connects, never sent
	Node   Node      // what a data server acts on, for any rank of its node
	Memory Transport // the node's own transport, connected: Peer = local number, every operation immediate
	Handle Handler   // receives active messages for ranks of my node
	// Lost is called once when a rank of another node is lost.
	Lost func(rank Rank, reason string)
}

// Wire is a transport between nodes that may or may not be usable here.
type Wire struct {
	Name  string
	Probe func() error  // why it cannot be used on this machine, in words for armci_info; nil if it can
	Notes func() string // what it would choose here and why, for armci_info
	Hint  func() []byte // what the other ranks should know before they open theirs, such as my network addresses
	// Open makes the wire ready to be connected to; then the ranks exchange Info().Addr and call Connect with all
	// ranks of the job that are not on their node, a Peer's index being its rank (PeerAddr of my own node: no Addr).
	Open func(WireInfo) (Transport, error)
}

// Platform is handed to core.Start: real machines by package drivers, stand-ins by tests.
type Platform interface {
	Door() (string, error)                  // opens the rank's door to its node and names it
	Join(JoinInfo) (Node, Transport, error) // collective over the node
	Wires() []Wire                          // in order of preference
	Abandon()                               // closes the door if Join will not be called
}
