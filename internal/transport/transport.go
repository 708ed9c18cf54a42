// SPDX-License-Identifier: BSD-3-Clause

// The interface of transports. It must stay narrow: what core can build on top of it, once for all
// transports, is not part of it.
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

// Info describes an open transport. It is constant after Open.
type Info struct {
	Name string // "shm", "tcp", "rdma"
	// Addr is published to the peers. Empty: no process connects to this one.
	Addr []byte
	// Immediate says that Put, Get, Acc, updates and RMW are complete at the target when they
	// return.
	Immediate bool
	// Ordered says that a message is handled after every earlier operation to any rank of its
	// node has taken effect.
	Ordered bool
	// Fast says that the transport is a FastPath, and that small transfers may be made by it.
	Fast bool
	// Coalesces says that one transfer of several small pieces takes less time than a transfer
	// for each.
	Coalesces bool
	// Eager is the most bytes of puts and accumulates that are locally complete at return.
	Eager int
}

// Count is one counter of a statistics report, which is printed at the end of a run.
type Count struct {
	Name  string
	Value int64
}

// Counter is a Transport, or a Fabric, with statistics: counters of rare events, and of those that
// tell whether it is used well. The names are the same in every process.
type Counter interface{ Counts() []Count }

// Alarm is a Transport with a timer for delayed transfers. CallLater calls f once, on a thread of
// the transport, after the longest time for which it delays transfers posted with Xfer.Later. f
// must not call the transport. After Close it is not called.
type Alarm interface{ CallLater(f func()) }

// Msg is an active message: the peer's handler gets Kind and Body, of at most MaxMessage bytes.
// Send and Call do not keep Head and Body after they have returned.
type Msg struct {
	Kind uint8
	// Head is up to MaxMessageHead bytes in front of Body, which the handler gets as the
	// beginning of Body. Send only.
	Head []byte
	Body []byte
	// Unordered gives up all order, also with respect to other messages. Send only.
	Unordered bool
	// ToProcess sends an unordered message only to the receiver's own process, where the
	// waiting thread reads it, and not by its node's server. If that cannot be, Send returns
	// ErrNotNative.
	ToProcess bool
	// Lent says that Body is valid during the handler's call only. It is set for handlers.
	Lent bool
	// Unhurried lets the receiver handle the message some milliseconds later.
	Unhurried bool
	// Replied makes Call nonblocking: Call returns once the message has been posted, and
	// Replied is called once, from any goroutine, with the results that Call would have
	// returned. Replied must not call the transport. It is not called if Call fails. nil: Call
	// blocks.
	Replied func(body []byte, err error)
}

// MaxMessageHead is the most bytes of Msg.Head.
const MaxMessageHead = 64

// Joined returns Head and Body of a message that is sent as one slice, for a transport that sends
// no separate head: the sender's Body itself if there is no head, else a copy.
func (m *Msg) Joined() []byte {
	if len(m.Head) == 0 {
		return m.Body
	}
	return slices.Concat(m.Head, m.Body)
}

// OwnedBody returns the body of a received message, which begins with the head, for a handler that
// uses it after its return: a copy if it is lent.
func (m *Msg) OwnedBody() []byte {
	if m.Lent {
		return bytes.Clone(m.Body)
	}
	return m.Body
}

// Handler receives active messages, in order for each sender except unordered ones. It must not
// block: work that may block runs in a goroutine. Threads of the application call it for unordered
// messages only. to is the receiver, which may be another rank of the handler's node, because one
// process serves its node. The handler may keep Body unless it is lent. reply is nil for Send. For
// Call the handler must have it called once, from any goroutine, now or later.
type Handler func(from, to Rank, m Msg, reply func(body []byte))

// Placer returns the memory for the body of an unordered message to this process's own rank. m has
// Kind and Head; nbytes is the length of the body. If the result is nil the Handler gets the
// message. Else the body is received into that memory, and the Handler is not called. The memory
// belongs to the transport until it calls Arrived.
type Placer func(from Rank, m Msg, nbytes int) Placed

// Placed is the memory for one message's body.
type Placed interface {
	// Memory has as many bytes as the body.
	Memory() []byte
	// Arrived is called once, from any thread, when the body is complete in Memory.
	Arrived()
}

// Abandoner is a transport, or a part of one, with files that outlive the process.
type Abandoner interface {
	// Abandon removes the files of this process, and those of peers that have died. The process
	// then ends without Close.
	Abandon()
}

// Transport moves bytes and messages to peers. All methods are safe for concurrent use. When queues
// are full they drive progress themselves; none returns "try again".
//
// Order: an operation that is posted after the Done of an earlier one to the same peer takes effect
// after it. Updates and compare-and-swaps also take effect in the order of their calls, and an Acc
// or update that is posted after the return of an earlier one takes effect after it. Operations
// that are open at the same time have no other order. Messages have no order with respect to data,
// unless Info.Ordered is set: core fences before it sends.
//
// Errors: a call that fails has no effect, or a partial one at the target, and its Done and Replied
// are not called. ErrPeerDead and ErrClosed are final.
type Transport interface {
	// Info returns the same value at every call.
	Info() Info
	// Connect sets the peers and their addresses. Connections may be made on first use, so an
	// error for an unreachable peer may also come from a later call.
	Connect(peers []PeerAddr) error
	// Put copies the local side to the remote one; Xfer.Done reports local completion, a fence
	// completion at the target.
	Put(p Peer, x *Xfer) error
	// Get copies the remote side to the local one; Xfer.Done reports completion.
	Get(p Peer, x *Xfer) error
	// Acc adds s times the local side to the remote one, atomically for each element. It
	// completes like Put.
	Acc(p Peer, x *Xfer, s Scale) error
	// Update changes elements by any operator, atomically for each element with respect to all
	// updates and accumulates. It returns when u.Data may be overwritten and, unless u.Done is
	// set, u.Old has been stored. A fence waits for its effect.
	Update(p Peer, u *Update) error
	// CompareSwap carries out c, atomically as Update does, and blocks until c.Old is valid.
	CompareSwap(p Peer, c *CompareSwap) error
	// RMW carries out a read-modify-write and blocks until r.Old is valid, unless r.Posted.
	// ErrNotNative: the operation or the size is not supported.
	RMW(p Peer, r *RMW) error
	// Send sends a message. Those of one process to one peer are handled in order. m is the
	// caller's again at return.
	Send(p Peer, m Msg) error
	// Call sends a message like Send and blocks until it has the reply, unless m.Replied.
	// ErrNotNative: this transport has no calls.
	Call(p Peer, m Msg) ([]byte, error)
	// Fence blocks until every earlier operation of this process to these peers has taken
	// effect, and every earlier message to them, except unordered ones, has been handled. An
	// Immediate transport does not wait for messages. The peers are asked together. The error
	// may be that of an earlier store.
	Fence(ps ...Peer) error
	// Progress runs completions and handlers and returns their number. It blocks for at most
	// wait if there are none; 0 polls.
	Progress(wait time.Duration) (int, error)
	// Close ends the transport. Outstanding operations fail with ErrClosed. It may be called
	// again.
	Close() error
}

// DeviceAtomics is a Transport whose device executes RMW on 8-byte words of declared memory
// (Allocator.Declare), also for ranks of the caller's node. All ranks must use it for such words:
// device atomics are not atomic with respect to CPUs.
type DeviceAtomics interface {
	DeviceAtomics() bool // false: this device has no atomics
}

// Sharer is a Transport whose device may reach private memory of a process that is alone on its
// node. The processes send each other the keys: a peer knows a key from AddSharedRange to
// RemoveSharedRange. While a peer may use a key its memory must stay shared: an invalid key ends
// the connection.
type Sharer interface {
	// Share is that of DirectFabric. With ok false peers reach the memory by messages.
	Share(lo, hi uintptr) (key uint64, release func(), ok bool)
	// AddSharedRange records the key of shared memory of a peer, for transfers posted from now
	// on.
	AddSharedRange(p Peer, r Range)
	// RemoveSharedRange undoes one AddSharedRange: transfers posted from now on do not use the
	// key.
	RemoveSharedRange(p Peer, r Range)
}

// Notifier is a Transport whose device may write counters in memory of other nodes.
type Notifier interface {
	// Notifies is false if there is no device. The other methods are then not called.
	Notifies() bool
	// Notify has the device write this rank's notify counter at a peer, behind all stores of
	// this process there. at is the address of the counter; no waiter is woken. at is 0 if no
	// device can write it, or if some of the stores travel by messages. The peer's handler then
	// gets a message of the given kind behind those, without a body.
	Notify(p Peer, kind uint8, count uint32) (at uintptr, err error)
	// WritesWords tells whether WriteWord is faster than a message. It is not with a device in
	// software, which needs a thread at the peer.
	WritesWords() bool
	// WriteWord has the device write an aligned word of a peer's arena memory, behind all
	// stores of this process there; no waiter is woken. If no device can, or if some of the
	// stores travel by messages, written is false and the peer's handler gets m behind those.
	// Only this process, and that handler for it, may write the word.
	WriteWord(p Peer, addr uintptr, value uint32, m Msg) (written bool, err error)
}

// Incoming is the receiving side of a Transport. A waiting thread of the application may run the
// data server's polling itself, because being woken by the server's thread takes longer than
// receiving.
type Incoming interface {
	// Shares is false if only the server's thread receives. The other methods are then not
	// called.
	Shares() bool
	// PollIncoming handles the frames that have arrived, unless another thread polls, and
	// returns their number. From the first call until LeaveIncoming the server's thread leaves
	// polling to the waiter.
	PollIncoming(v *Visit) int
	// ReceiveAfter is the time for which a waiter polls memory before it calls PollIncoming. It
	// is not 0 where devices write most of the words that threads wait for.
	ReceiveAfter() time.Duration
	// IncomingFD is an epoll descriptor in which a waiter that polls may sleep while it has
	// Visit.Ready (see SharedListener). It polls again after that. Negative: there is none.
	IncomingFD() int
	// LeaveIncoming ends the visit. found says that the waiter's condition is true; else the
	// waiter goes to sleep.
	LeaveIncoming(v *Visit, found bool)
}

// Visit is the state of one waiter with an Incoming: zero before PollIncoming and after
// LeaveIncoming. It has the layout of C's struct shm_visit.
type Visit struct {
	Stage VisitStage
	// Ready is a descriptor, once the waiter polls: while it is not readable, PollIncoming
	// would find nothing. Negative: there is none at the moment. PollIncoming may change it.
	Ready int32
}

// VisitStage is the state of a waiter's visit.
type VisitStage int32

// The states.
const (
	VisitAway    VisitStage = iota // the waiter does not poll
	VisitWanting                   // another thread polls; the waiter polls when that stops
	VisitPolling                   // the waiter polls, and no other thread does
)

// Watcher is a Transport whose unordered messages may stay unread at the receiving process until a
// thread there polls.
type Watcher interface {
	// Watch polls for messages of a peer on the caller's thread until met() is true, or until
	// that seems to take long. From then on other threads receive the messages, until the
	// caller calls end, which it must always do. Without a connection to the peer's node its
	// messages take a slower path: with mayConnect a repeated call makes one.
	Watch(p Peer, met func() bool, mayConnect bool) (end func())
}
