// SPDX-License-Identifier: BSD-3-Clause

// How core gets at the node and at the wires to other nodes without knowing any transport by name.
package transport

// JoinInfo is what a rank must know to join its node.
type JoinInfo struct {
	Ranks  []Rank                         // world ranks of the node, ascending
	Doors  []string                       // what each of them returned from Door
	Self   int                            // my local number
	Secret []byte                         // of the job
	Lost   func(rank Rank, reason string) // called once when a rank of the node is lost
	Handle Handler                        // receives active messages
}

// Wire is a transport between nodes that may or may not be usable here.
type Wire struct {
	Name  string
	Probe func() error // why it cannot be used on this machine, in words for armci_info; nil if it can
	Open  func(Handler) (Transport, error)
}

// Platform is handed to core.Start: real machines by package drivers, stand-ins by tests.
type Platform interface {
	Door() (string, error)                  // opens the rank's door to its node and names it
	Join(JoinInfo) (Node, Transport, error) // collective over the node
	Wires() []Wire                          // in order of preference
	Abandon()                               // closes the door if Join will not be called
}
