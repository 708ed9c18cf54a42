// SPDX-License-Identifier: BSD-3-Clause

// The interface of transports. It must stay narrow: what core can build from it once is not in it.
package transport

import (
	"bytes"
	"slices"
	"time"
)

// Rank is a rank of the job (ARMCI's world).
type Rank int

// Peer is a process as its transport numbers it: within the node the index into the slice given to
// Connect, between nodes its rank.
type Peer int

// PeerAddr is how a transport reaches one process.
type PeerAddr struct {
	Rank Rank
	Addr []byte // the peer's Info().Addr; within the node empty
}

// MaxMessage is the longest body of an active message and of a reply, on every transport: a
// procedure call with header and data of 32 MiB each, and what core puts before them.
const MaxMessage = 64<<20 + 256

// Info is constant after the transport has been opened.
type Info struct {
	Name      string // "shm", "tcp", "rdma"
	Addr      []byte // published to the peers; empty: nobody connects to this process
	Immediate bool   // Put, Get, Acc and RMW are complete at the target when they return
	// a message is handled after every earlier operation to any rank of its node has taken
	// effect
	Ordered   bool
	Fast      bool // it is a FastPath, and small transfers may go there
	Coalesces bool // small transfers take less time as one than one by one
	// puts and accumulates of up to this many bytes are locally complete when they return
	Eager int
}

// Count is a number that is told at the end of a run: how often something has happened.
type Count struct {
	Name  string
	Value int64
}

// Counter is a Transport, or a Fabric, that counts what is rare or tells whether it is used well.
// Every process has the same names.
type Counter interface{ Counts() []Count }

// Alarm is a Transport that calls a function once, on a thread of its own, after as long as it may
// put off what is posted with Xfer.Later. The function must not call the transport. After Close it
// is not called.
type Alarm interface{ CallLater(f func()) }

// Msg is an active message: the peer's handler gets Kind and Body, of at most MaxMessage bytes.
// Send and Call do not keep Body.
type Msg struct {
	Kind uint8
	// Send: up to MaxMessageHead bytes that come before Body; a handler gets them as the
	// beginning of Body
	Head      []byte
	Body      []byte
	Unordered bool // Send: unordered, also with respect to other messages
	// Send, unordered: only if it goes straight to the process, where whoever waits for it
	// reads it; else ErrNotNative
	Straight  bool
	Lent      bool // to a handler: Body is valid during the call only
	Unhurried bool // it may be dealt with some milliseconds later, since only a waiter needs it
	// Replied makes Call nonblocking: it returns once the message has been posted, and Replied
	// is called once, from any goroutine, with what Call would have returned. Replied must not
	// call the transport. It is not called if Call fails. nil: Call waits.
	Replied func(body []byte, err error)
}

// MaxMessageHead is the most bytes of Msg.Head.
const MaxMessageHead = 64

// Whole is Head and Body in one piece.
func (m *Msg) Whole() []byte {
	if len(m.Head) == 0 {
		return m.Body
	}
	return slices.Concat(m.Head, m.Body)
}

// Keep is the body for a handler that needs it after it has returned.
func (m *Msg) Keep() []byte {
	if m.Lent {
		return bytes.Clone(m.Body)
	}
	return m.Body
}

// Handler receives messages, in order for each sender except unordered ones. It must not block:
// what may block runs in a goroutine. It is called on the application's threads for unordered
// messages only. to is the rank that the message is for; it may be another rank of the handler's
// node, since one process serves its node. The handler may keep Body unless it is lent. reply is
// nil for Send; for Call it must be called once, from any goroutine, now or later.
type Handler func(from, to Rank, m Msg, reply func(body []byte))

// Placer tells where the body of an unordered message for the process's own rank belongs, of which
// it gets Kind and Head and the number of bytes of the body. nil: nobody has said, and the Handler
// gets the message. Else the body is received there, and not handled; the memory is the transport's
// until it calls Arrived.
type Placer func(from Rank, m Msg, nbytes int) Placed

// Placed is where a message's body belongs.
type Placed interface {
	Memory() []byte
	Arrived()
}

// Abandoner is a transport, or what one is made of, with something in the file system that the end
// of a process does not remove.
type Abandoner interface {
	// Abandon removes that of this process, and of peers that have died. The process ends,
	// without Close.
	Abandon()
}

// Transport moves bytes and messages to peers. All methods are safe for concurrent use. When queues
// are full they drive progress themselves; none returns "try again". Put, Get and Acc report local
// completion through Xfer.Done. Order: what is posted after the Done of an earlier operation to the
// same peer takes effect after it; operations that are open at the same time have no order, and
// messages have none with respect to data (core fences before it sends). A fence also waits for
// messages, except unordered ones, unless the transport is Immediate.
type Transport interface {
	Info() Info
	// gives addresses; connections may be made on first use
	Connect(peers []PeerAddr) error
	Put(p Peer, x *Xfer) error          // local section -> remote section
	Get(p Peer, x *Xfer) error          // remote section -> local section
	Acc(p Peer, x *Xfer, s Scale) error // remote += scale*local, atomic per element
	RMW(p Peer, r *RMW) error           // of 4 or 8 bytes
	Send(p Peer, m Msg) error           // ordered per peer
	Call(p Peer, m Msg) ([]byte, error) // Send, and wait for the reply; see m.Replied
	// every earlier operation to these peers has taken effect; all are asked before the first
	// is waited for
	Fence(ps ...Peer) error
	Progress(wait time.Duration) (int, error) // run completions and handlers; 0 polls
	// idempotent; what is outstanding fails with ErrClosed
	Close() error
}

// DeviceAtomics is a Transport whose device executes RMW on 8-byte words of declared memory
// (Allocator.Declare), also for ranks of the caller's node. All ranks must use it for such words:
// device atomics are not atomic with respect to CPUs.
type DeviceAtomics interface {
	DeviceAtomics() bool // false: this device has no atomics
}

// Sharer is a Transport whose device may reach private memory of a process that is alone on its
// node. The processes pass keys on themselves: a peer knows a key from Learn to Forget. While a
// peer may use a key its memory must stay shared: a key that is not valid ends the connection.
type Sharer interface {
	// as of DirectFabric; not ok: peers reach it by messages
	Share(lo, hi uintptr) (key uint64, release func(), ok bool)
	Learn(p Peer, r Range) // shared memory of a peer
	// ends one Learn: what is posted from now on does not use the key
	Forget(p Peer, r Range)
}

// Notifier is a Transport whose device may write notify counters.
type Notifier interface {
	Notifies() bool // false: there is no device, and nothing else of this is called
	// Notify has a device write my counter at a peer, behind everything that I have stored
	// there, which wakes nobody. at is where. It is 0 where a device cannot, or some stores are
	// on their way by messages: then the peer's handler gets a message of a kind, without a
	// body, behind them.
	Notify(p Peer, kind uint8, count uint32) (at uintptr, err error)
	// WritesWords tells whether WriteWord is faster than a message: not for a device in
	// software, for which a thread at the peer has to work, too.
	WritesWords() bool
	// WriteWord has a device write an aligned word of a peer's arena memory, behind everything
	// that I have stored there, which wakes no waiter. Where a device cannot, or some stores
	// are on their way by messages, written is false and the peer's handler gets m behind them.
	// Only this process writes the word, and that handler for it.
	WriteWord(p Peer, addr uintptr, value uint32, m Msg) (written bool, err error)
}

// Incoming is the receiving side of a Transport. A waiter of this process may run the data server
// in its own thread: to be woken by the server's takes longer than to receive.
type Incoming interface {
	Shares() bool // false: the server's thread alone receives, and nothing else of this is called
	// PollIncoming receives what has come, unless another thread is about to, and returns how
	// much that was. From the first call to LeaveIncoming the server's thread leaves it to the
	// waiter.
	PollIncoming(v *Visit) int
	// ReceiveAfter is for how long a waiter looks at memory first, where devices write what it
	// mostly waits for.
	ReceiveAfter() time.Duration
	// SleepIn is where a waiter that polls, and has a descriptor to look at, may sleep: see
	// SharedListener. It then polls again. Negative: nowhere.
	SleepIn() int
	// LeaveIncoming ends that. The waiter has found what it waits for, or else goes to sleep.
	LeaveIncoming(v *Visit, found bool)
}

// Visit is how far a waiter has come with receiving, zero before PollIncoming and after
// LeaveIncoming. It is struct shm_visit of C.
type Visit struct {
	Stage VisitStage
	// Ready is a descriptor, once the waiter polls: while it is not readable, PollIncoming
	// would find nothing. Negative: there is none at the moment. PollIncoming may change it.
	Ready int32
}

// VisitStage is what a waiter does.
type VisitStage int32

const (
	VisitAway    VisitStage = iota // nothing
	VisitWanting                   // it would poll, but another thread does
	VisitPolling
)

// Watcher is a Transport whose unordered messages may stay unread at the receiving process until a
// thread there polls.
type Watcher interface {
	// Watch polls for messages of a peer on the caller's thread until met() is true, or until
	// that seems to take long. Then messages are received without the caller's help until it
	// calls end. The caller must always call end. Without a connection to the peer's node its
	// messages take longer: mayConnect makes one if this is not the first time.
	Watch(p Peer, met func() bool, mayConnect bool) (end func())
}
