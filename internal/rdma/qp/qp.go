// SPDX-License-Identifier: BSD-3-Clause

// Package qp is what package rdma needs of a network: queue pairs, completion queues, registered
// memory and datagrams. Package rdma/verbs has them from a device by libibverbs, package ofi makes
// them over a libfabric provider. It holds words, no code.
//
// A queue pair is one end of a reliable connection. It carries out the requests that are posted to
// it in their order, and completes them in that order, or fails: then all that are open, and all
// later ones, complete with an error.
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
	MaxMessage        int  // bytes that a message should have at most; 0: any number
	ReadsOut, ReadsIn int  // outstanding reads of a queue pair, as initiator and as target
	Atomic            int  // 0 none, 1 of the device, 2 of the whole machine
	OnDemand          bool // memory need not be pinned: OnDemand
	Unregistered      bool // local memory need not be registered, whatever it is: its key is 0
	// two ends meet when the first request is carried out, and both take part in that
	Lazy bool
	// it may read and write an aligned block of up to 8 bytes in parts, as software does that
	// copies by the kernel
	Bytewise bool
	// a peer's writes reach only the memory of a data server: an origin can lend no memory to a
	// target
	OneWay bool
}

// Access is what the device may do with registered memory.
type Access uint8

// The kinds of registered memory.
const (
	Local    Access = iota // used by this process
	OnDemand               // the same, not pinned, if the device can: see Limits
	Locks                  // others read it and change it by atomics
	Remote                 // others write it, too; no atomics if the device has none
)

// Device is an open device and what all its connections share.
type Device interface {
	Name() string
	Limits() *Limits
	// Register lets the device at memory. The upper half of its key is for another process, see
	// RemoteKey.
	Register(addr uintptr, nbytes int64, access Access) (Region, error)
	// LocalKey is what Data needs of a region's key; keys of Local memory have nothing else.
	LocalKey(key uint64) uint32
	// NewQueue makes a completion queue of n entries, for queue pairs that have the receive
	// buffers of one list.
	NewQueue(n int) (Queue, error)
	NewDatagrams(buffers int) (Datagrams, error)
	// Failure says why a request has failed, Fault what is wrong with this device. They name
	// it, unless the reason is elsewhere.
	Failure(c *Completion) error
	Fault(text string) error
	EventFD() int // readable when Event has something to tell; negative: never
	// Event takes an asynchronous event, if there is one. fatal: the device is of no more use.
	Event() (text string, fatal, some bool)
	Close() // all that was made on it is gone
}

// Region is registered memory.
type Region = pin.Registration

// Queue is a completion queue, and what its queue pairs share.
type Queue interface {
	// NewBuffers makes the list of up to n receive buffers, once.
	NewBuffers(n int) error
	// Offer offers receive buffers: data[i] gets the number ids[i].
	Offer(ids []uint64, data []Data) error
	// NewPair makes a queue pair for so many requests of so many pieces each, and so many bytes
	// inline, or fewer.
	NewPair(requests, pieces, inline int) (Pair, error)
	// Look takes completions, and looks for the first of them so many times, then so many times
	// more between yields.
	Look(out []Completion, looks, yields int) (int, error)
	// Sleep takes completions, and sleeps until there are some, the descriptor wake is readable
	// (rang; -1: none), or a time has passed that is not negative.
	Sleep(out []Completion, wake int, limit time.Duration) (n int, rang bool, err error)
	// Stirred tells whether the last Sleep has ended since the device had something to do,
	// though nothing was completed here: it serves others' requests only while it is polled.
	Stirred() bool
	// Arm asks for FD to become readable when the next completion comes, once.
	Arm() error
	// Tells reports whether FD tells of all that comes, once Arm has been called.
	Tells() bool
	// FD is negative if there is no descriptor: a waiter then polls from time to time.
	FD() int
	// asked before FD is waited for: something may have come that it does not tell of
	Pending() bool
	Take() // makes FD unreadable again
	Close() error
}

// LinkBytes is the length of what two ends tell each other to connect, AddressBytes that of a
// datagram's address.
const (
	LinkBytes    = 96
	AddressBytes = 96
)

// Link is how the other end of a connection finds a queue pair, Address where a process receives
// datagrams. Zeros fill them up.
type (
	Link    [LinkBytes]byte
	Address [AddressBytes]byte
)

// Pair is a queue pair.
type Pair interface {
	Number() uint32
	Inline() int // bytes that may be sent inline
	Link() Link
	// Connect connects it with the other end's. A peer that does not answer for the time limit
	// is given up.
	Connect(other *Link, limit time.Duration) error
	// Peer is the number of the other end's queue pair.
	Peer() uint32
	// Post posts requests, of which the last has Signal set. There is room for them.
	Post(requests []Request, data []Data) error
	// Alive is called from time to time while requests are open: an error if the other end is
	// to be given up.
	Alive() error
	// Handle is the pair, and Place remote memory by its key, as C knows them (qp.h).
	Handle() unsafe.Pointer
	Place(key uint64) (base uintptr, rkey uint64)
	Close() error // nothing of it completes any more
}

// Datagrams sends and receives messages of a few hundred bytes that may be lost.
type Datagrams interface {
	Address() Address
	Header() int // bytes before a message in its buffer
	Offer(id uint64, piece Data) error
	// Send sends a piece of registered memory. The completion has the number id.
	Send(id uint64, piece Data, to *Address) error
	Sleep(out []Completion, wake int, limit time.Duration) (n int, rang bool, err error)
	Close() error
}

// Completion is what has become of a work request. Of a failed one only ID, Status and Pair are
// valid.
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
