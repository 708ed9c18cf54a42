// SPDX-License-Identifier: BSD-3-Clause

// Package qp has the interfaces that package rdma needs of a network: queue pairs, completion
// queues, registered memory and datagrams. Package rdma/verbs implements them by libibverbs,
// package ofi over a libfabric provider. There is no code here.
//
// A queue pair is one end of a reliable connection. It executes requests in the order in which they
// are posted, and completes them in that order. If one fails, it and all later ones complete with
// an error.
//
// Order: a Write takes effect before all later Sends, Writes, Reads and atomics of its queue pair,
// but for Writes of the same list.
package qp

import (
	"time"
	"unsafe"

	"libarmci/internal/pin"
)

// Limits are those of a device.
type Limits struct {
	Firmware          string
	MaxWR, MaxSGE     int  // of a queue pair
	MaxCQE, MaxSRQ    int  // entries of a queue
	MaxMessage        int  // bytes of a message, at most; 0: no limit
	ReadsOut, ReadsIn int  // outstanding reads of a queue pair, as initiator and as target
	Atomic            int  // 0 none, 1 of the device, 2 of the whole machine
	OnDemand          bool // the access OnDemand works: memory need not be pinned
	Unregistered      bool // no local memory need be registered; its key is 0 then
	// ConnectsAtFirstRequest: a connection is made when its first request is executed. Both
	// ends have to poll meanwhile.
	ConnectsAtFirstRequest bool
	// Bytewise: the device may read and write an aligned block of up to 8 bytes in parts, as
	// software does that copies by the kernel.
	Bytewise bool
	// NoLending: a peer's writes reach only the memory of a data server. An origin can lend no
	// memory to a target.
	NoLending bool
}

// EventKind says what an asynchronous event of a device means.
type EventKind int

// The kinds of events.
const (
	OtherEvent  EventKind = iota // of no consequence
	DeviceFatal                  // the device cannot be used any more
	PortDown                     // the device's port has lost its link
	PortUp                       // the port has its link again
)

// Event is an asynchronous event of a device.
type Event struct {
	Kind EventKind
	Text string // the device's words for it
}

// Access says which accesses to registered memory the device allows.
type Access uint8

// The kinds of registered memory.
const (
	Local    Access = iota // used by this process
	OnDemand               // the same, not pinned, if the device can: see Limits
	Locks                  // peers read it, and change it by atomics
	Remote                 // peers write it, too; no atomics if the device has none
)

// Device is an open device, and what all its connections share.
type Device interface {
	Name() string
	Limits() *Limits
	// Register registers memory with the device. The key of the region is for peers; LocalKey
	// makes one for this process of it. The caller closes the region.
	Register(addr uintptr, nbytes int64, access Access) (Region, error)
	// LocalKey returns the part of a region's key that Data needs. The key of Local memory has
	// no other part.
	LocalKey(key uint64) uint32
	// NewQueue makes a completion queue of n entries. Its queue pairs share a list of receive
	// buffers.
	NewQueue(n int) (Queue, error)
	NewDatagrams(buffers int) (Datagrams, error)
	// RequestError returns why a request has failed. The error names this device unless the
	// reason is the peer, or the way to it. DeviceError returns an error of this device.
	RequestError(c *Completion) error
	DeviceError(text string) error
	EventFD() int // readable when Event has an event; negative: there are none
	// Event takes an asynchronous event, if there is one.
	Event() (e Event, some bool)
	Close() // everything that was made on it has been closed
}

// Region is registered memory.
type Region = pin.Registration

// Queue is a completion queue, and what its queue pairs share.
type Queue interface {
	// NewBuffers makes the list of up to n receive buffers, once.
	NewBuffers(n int) error
	// PostReceives posts receive buffers: the completion of data[i] has the id ids[i].
	PostReceives(ids []uint64, data []Data) error
	// NewPair makes a queue pair for so many requests of so many pieces each, and so many bytes
	// inline, or fewer.
	NewPair(requests, pieces, inline int) (Pair, error)
	// Poll takes completions. It polls for the first one up to looks times without a pause,
	// then up to yields times with a yield before each.
	Poll(out []Completion, looks, yields int) (int, error)
	// WaitCompletions takes completions. It blocks until there are some, the descriptor wake is
	// readable (rang is true then; -1: no descriptor), or a time has passed (negative: no
	// limit).
	WaitCompletions(out []Completion, wake int, limit time.Duration) (
		n int, rang bool, err error)
	// ServedPeer reports whether the last Sleep ended because the device had a peer's request
	// to execute, though nothing was completed here. Such a device works only while it is
	// polled.
	ServedPeer() bool
	// Arm has FD become readable at the next completion, once.
	Arm() error
	// SignalsAll reports whether FD signals every completion after Arm.
	SignalsAll() bool
	// FD is negative if there is no descriptor: a waiter then polls from time to time.
	FD() int
	// Pending reports whether there may be completions that FD does not signal. A waiter calls
	// it before it waits for FD.
	Pending() bool
	DrainEvents() // takes FD's events, so that it is not readable any more
	Close() error
}

// LinkBytes and AddressBytes are the lengths of Link and Address.
const (
	LinkBytes    = 96
	AddressBytes = 96
)

// Link is what the peer needs to connect with a queue pair, Address where a process receives
// datagrams. Both are opaque, and end in zeros.
type (
	Link    [LinkBytes]byte
	Address [AddressBytes]byte
)

// Pair is a queue pair.
type Pair interface {
	Number() uint32
	Inline() int // bytes that may be sent inline
	Link() Link
	// Connect connects the queue pair with the peer's. Requests fail if the peer does not
	// answer for the time limit.
	Connect(other *Link, limit time.Duration) error
	// Peer is the number of the peer's queue pair, once Connect has succeeded.
	Peer() uint32
	// Post posts requests, of which the last has Signal set. The caller has made sure that
	// there is room for them.
	Post(requests []Request, data []Data) error
	// Alive is called from time to time. It returns an error if the peer is to be given up.
	Alive() error
	// Handle is the queue pair as C uses it (qp.h). RemoteKey returns what C subtracts from
	// remote addresses, and the key for C.
	Handle() unsafe.Pointer
	RemoteKey(key uint64) (base uintptr, rkey uint64)
	Close() error // nothing completes on it afterwards
}

// ResumingQueue is a Queue of queue pairs that can go on after they have failed.
type ResumingQueue interface {
	Queue
	// KeepRequests has queue pairs that are made from now on keep their requests. wake, a
	// descriptor, is written to, as an eventfd is, when one has failed. shared: several threads
	// may post on a queue pair at once; else its callers exclude each other.
	KeepRequests(wake int, shared bool)
	// Breaks counts the queue pairs of the process that have failed.
	Breaks() uint32
}

// Resumer is a Pair that keeps its requests until they are complete, if Keeps. If they fail because
// the peer is not reached, that is not seen in completions, but by Broken. Then both ends, in this
// order, Halt it, exchange what the other one needs to know, Reconnect, and, when the other one has
// done so, GoOn. Nothing else uses the queue pair during Halt and GoOn, unless it is shared; what
// is posted in between is held back. It needs room for one more request.
type Resumer interface {
	Pair
	Keeps() bool
	// Broken returns why requests have failed, nil if none has, and for how long the device
	// has tried to reach the peer.
	Broken() (why error, tried time.Duration)
	Halt() error
	// Halted reports, after Halt, whether all completions have been polled. A peer's messages
	// that have come are among those.
	Halted() bool
	// Received is the number of the packet that is expected next. The peer needs it for GoOn.
	Received() (packet uint32, err error)
	// Reconnect connects again. first is the number of the first packet of this end, its that
	// of the peer's.
	Reconnect(first, its uint32) error
	// GoOn posts again what the peer, which has received so much, has not executed.
	GoOn(received uint32) error
	// GiveUp: failures are seen in completions from now on.
	GiveUp()
}

// Datagrams sends and receives messages of a few hundred bytes that may be lost.
type Datagrams interface {
	Address() Address
	Header() int // bytes before a message in its buffer
	PostReceive(id uint64, piece Data) error
	// Send sends a piece of registered memory. Its completion has this id.
	Send(id uint64, piece Data, to *Address) error
	// WaitCompletions is that of a Queue.
	WaitCompletions(out []Completion, wake int, limit time.Duration) (
		n int, rang bool, err error)
	Close() error
}

// Completion is the completion of a work request. If that has failed, only ID, Status and Pair are
// valid. The layout is that of C (struct vb_wc).
type Completion struct {
	ID     uint64
	Status int32
	_      int32  // kind of operation
	_      uint32 // of the vendor
	Bytes  uint32 // received
	_      uint32 // immediate data
	Pair   uint32 // number of the queue pair
	_      uint32 // of a datagram: the sender's queue pair
	_      uint32 // flags
	_      uint16
	_      uint16
	_, _   uint8
}

// Data is a piece of local memory.
type Data struct {
	Addr       uint64
	Bytes, Key uint32
}

// Operations and flags, by the numbers that libibverbs has for them.
const (
	Write       uint8 = 0
	Send        uint8 = 2
	Read        uint8 = 4
	CompareSwap uint8 = 5 // of 8 bytes, atomic towards those of the same device
	FetchAdd    uint8 = 6 // the same

	Signal uint8 = 2
	Inline uint8 = 8 // the data is copied when it is posted, and needs no key
)

// Request is a work request. Its data is the next Pieces entries of the list that is posted with
// the requests.
type Request struct {
	ID, Remote    uint64
	Operand, Swap uint64 // of an atomic: what is added, or compared and put in its place
	Key           uint64 // of the remote memory
	Pieces        uint16
	Op, Flags     uint8
}
