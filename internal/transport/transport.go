// SPDX-License-Identifier: BSD-3-Clause

// The plug every transport fits. It must stay this narrow: what can be built from it once, in core, is not in it.
package transport

import "time"

// Rank is a rank of the job (ARMCI's world).
type Rank int

// Peer is a process as its transport numbers it: the index into the slice given to Connect.
type Peer int

// PeerAddr tells a transport how to reach one process.
type PeerAddr struct {
	Rank Rank
	Addr []byte // what the peer's Info().Addr said; empty if the peer cannot be reached this way
}

// Native says which operations a transport carries out itself. The others return ErrNotNative before any effect.
type Native struct {
	Acc, RMW bool
}

// Info is constant after the transport has been opened.
type Info struct {
	Name      string // "shm", "tcp", "rdma"
	Addr      []byte // published to the peers
	Native    Native
	MaxMsg    int  // most bytes of a message's body
	Immediate bool // Put, Get, Acc and RMW are complete at the target when they return
	Ordered   bool // a message is handled after every earlier operation to any rank of its node has taken effect
	Eager     int  // puts and accumulates of up to this many bytes are locally complete when they return
}

// Key names memory registered for remote access.
type Key uint64

// Msg is an active message: the peer's handler for Kind is given Body.
type Msg struct {
	Kind  uint8
	Body  []byte
	Loose bool // Send: it may overtake and be overtaken, by messages too
}

// Handler receives messages, in order for each sender but for loose ones, without waiting for anything: what may wait
// starts a goroutine. Messages that are not loose never come on the application's threads. to is the rank the message is for: a rank of the handler's node, which is
// another one than the handler's own where one process serves its node. Body is the handler's to keep. reply is nil
// for Send; for Call it must be called once, from any goroutine, now or later.
type Handler func(from, to Rank, m Msg, reply func(body []byte))

// Transport moves bytes and messages to peers. All methods are safe for concurrent use and drive progress themselves
// when queues are full; none returns "try again". Put, Get and Acc report local completion through Xfer.Done.
// Order: what is posted after the Done of an earlier operation to the same peer takes effect after it; operations that
// are open at the same time have no order, and messages have none with respect to data (core fences before it sends).
// A fence waits for messages as well, but for loose ones, unless the transport is Immediate.
type Transport interface {
	Info() Info
	Connect(peers []PeerAddr) error           // tells who is there; a wire may be made on first use
	Register(mem []byte) (Key, error)         // make mem remotely accessible
	Deregister(k Key) error                   // no operation may still use k
	Put(p Peer, x *Xfer) error                // local section -> remote section
	Get(p Peer, x *Xfer) error                // remote section -> local section
	Acc(p Peer, x *Xfer, s Scale) error       // remote += scale*local, atomic per element
	RMW(p Peer, r *RMW) error                 // fetch-and-add or swap of 4 or 8 bytes
	Send(p Peer, m Msg) error                 // ordered per peer
	Call(p Peer, m Msg) ([]byte, error)       // Send, and wait for the handler's reply
	Fence(ps ...Peer) error                   // every earlier operation to these peers has taken effect; asks all at once
	Progress(wait time.Duration) (int, error) // run completions and handlers; 0 polls
	Close() error                             // idempotent; what is outstanding fails with ErrClosed
}

// DeviceAtomics is a Transport by whose device RMW changes 8-byte words of memory that was declared for it (Node.Declare),
// at ranks of the caller's node, too. All ranks must then use it for such words: a device's atomics are none towards
// processors.
type DeviceAtomics interface {
	DeviceAtomics() bool // false: this device has none
}

// LaneBytes is the longest transfer that a Lane carries.
const LaneBytes = 256

// Lane is a Transport with a short way for small blocking puts and gets that C takes without asking Go.
type Lane interface {
	Learn(p Peer, addr, lo, hi uintptr) // addr lies in memory [lo, hi) of a peer, which may be put to and got from
	Forget(p Peer)                      // some memory of the peer is no more
	Await(p Peer) error                 // waits for a get that C has posted and left to Go
}

// Watcher is a Transport with which loose messages may lie unread in the process they are for until somebody looks.
type Watcher interface {
	// Watch looks for what comes from a peer, on the caller's thread, until met says that it has come or it seems to take
	// long. In that case messages are received without the caller's help until he calls end. He does so in any case.
	Watch(p Peer, met func() bool) (end func())
}
