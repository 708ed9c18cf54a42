// SPDX-License-Identifier: BSD-3-Clause

// The plug that a network fits: Fabric, Endpoint, Receiver, Source, Listener. Package internode
// builds the whole Transport from it once; a network brings only what differs.
// docs/adding-a-fabric.md explains how to write one.
//
// Terms: an origin is a process that posts operations, a target is a node, for which its data
// server acts. An origin has one connection to each target it uses. An Endpoint is one end of a
// connection.
package transport

import (
	"time"

	"libarmci/internal/kernel"
)

// Driver is a fabric that may or may not be usable on this machine.
type Driver struct {
	Name  string
	Probe func() error  // why it cannot be used here, in words for armci_info; nil if it can
	Notes func() string // what it would choose here and why, for armci_info
	Spare func() string // what there is though Probe fails, for armci_info; may be nil
	// what the ranks of other nodes should know before they open theirs, in tens of bytes; may
	// be nil
	Hint func() []byte
	Open func(FabricConfig) (Fabric, error)
}

// Settings are those that all networks have (docs/configuration.md).
type Settings struct {
	Timeout time.Duration // a host that does not answer for so long is given up
	Buffer  int64         // most bytes that the process may have in buffers
	// puts and accumulates of up to this many bytes are copied and complete at the origin at
	// once
	Eager int
	// how often a waiter looks before it yields its core; never nil for a fabric
	Looks func() int
	// gives the calling thread all cores of the machine; never nil for a fabric
	Unbind func()

	// Protocols that are forced, for tests and measurements (docs/protocols.md).
	Contiguous string // "" and Auto: by size and kind of memory
	Strided    string // and vector; "" and Auto: by the cost model
	DeviceAcc  bool   // accumulates are made by the origin's device under locks at the target
}

// Copies tells whether the forced protocol of contiguous transfers takes local memory through
// buffers, whatever it is.
func (s *Settings) Copies() bool { return s.Contiguous == ByCopy || s.Contiguous == ByCopyAlone }

// Lends tells whether it registers local memory, however short the transfer is.
func (s *Settings) Lends() bool {
	return s.Contiguous == ByZeroCopy || s.Contiguous == ByRegister || s.Contiguous == ByOverlap
}

// What protocols are called in settings.
const (
	Auto   = "auto"
	ByCopy = "buffered" // contiguous: local memory goes through registered buffers
	// contiguous: local memory is used as it is, registered where it is not
	ByZeroCopy = "zerocopy"
	// contiguous: as buffered, but nothing is copied while something travels
	ByCopyAlone = "baseline"
	// contiguous: as zerocopy, but registered for this transfer alone, before anything travels
	ByRegister = "register"
	ByOverlap  = "overlap" // contiguous: as register, but while what comes before travels
	ByDevice   = "nic"     // work requests of the device for each row, chained
	ByPacking  = "host"    // packed into frames, unpacked by the data server
	// the same through slots of the target that the origin claims by atomics (rdma/lab)
	ByClaiming = "host-atomic"
	// of gets: the target's server writes the rows into the origin's memory
	ByTargetSide = "push"
)

// FabricConfig is what a fabric must know of the job and of the process.
type FabricConfig struct {
	OpenInfo
	Settings
	Serves bool // this process runs a data server: Listen follows
	// Await blocks until done() and drives progress meanwhile, if nobody else does. For an
	// Endpoint of an origin that has to wait for room. done must become true when the endpoint
	// breaks.
	Await func(e OriginEndpoint, done func() bool)
	// Receive deals once with what has come for an Endpoint of an origin; false: another thread
	// does. It is for a Send that waits: a server reads on only when its answers leave.
	Receive func(e OriginEndpoint) bool
	// Fatal tells that the device is gone, and all connections with it.
	Fatal func(err error)
}

// FabricInfo is constant after Open.
type FabricInfo struct {
	Addr []byte // published to the other ranks
	// frames an origin may have at a target without being told that they were handled; 0: any
	// number
	Credits  int
	Patience time.Duration // for how long a waiting thread looks before it sleeps, at most
	// what a look takes, about, where a call of Poll is to make many; 0: Poll is called for
	// each look
	Look time.Duration
	// how long Send may put a frame off; how often the progress thread looks while it is needed
	Tick time.Duration
	// rows of at least this many bytes are received straight to where they belong
	Straight int
	// that a peer is gone is noticed by Pulse alone, which is called from time to time
	Pulses bool
	Copies bool // Post copies what it is given, else it keeps that
	// the device, being software, may read and write aligned blocks of up to 8 bytes in parts
	Bytewise bool
	// Send of a large body takes as long as the network: a thread of its own sends what nobody
	// waits for
	Blocks bool
	// Blocks: Send of a body of up to so many bytes does not, if it is Soon: it is copied
	Defers int64
}

// Fabric is a network between nodes, opened by one process.
type Fabric interface {
	Info() FabricInfo
	// Listen begins to accept origins. accept is called for each that has proved that it
	// belongs to the job, from any thread; e may be used at once, and r is told what comes.
	Listen(accept func(from Rank, e TargetEndpoint) (r Receiver, err error)) (Listener, error)
	// Dial connects to the data server of rank to, which published addr. It blocks, at most for
	// the timeout, and leaves no trace if it fails.
	Dial(to Rank, addr []byte, r Receiver) (OriginEndpoint, error)
	// Wait is for the progress thread: it blocks until something has come on a source for which
	// Attend was called, or an endpoint has lost its connection (or the other side has closed
	// it, whatever is left to read), until Wake, or for limit (negative: any time). It lists
	// the sources that should be polled, in ready's memory. A source that was listed is not
	// attended any more.
	Wait(limit time.Duration, ready []Source) []Source
	// Attend asks Wait for a source. What has come before is not told: poll once after it.
	Attend(s Source)
	Wake() // ends Wait, or the next one
	// Close ends everything. All endpoints and the listener have been closed.
	Close() error
}

// AlarmFabric is a Fabric with a timer that ends Wait.
type AlarmFabric interface {
	// ends Wait, or the next one, after that time; the latest call counts
	WakeIn(d time.Duration)
}

// MaxHead is the most bytes of a frame's head.
const MaxHead = 33 << 10

// When tells Send how urgent a frame is.
type When uint8

// The urgencies.
const (
	Now  When = iota // somebody waits for what comes of it
	Soon             // nobody does: it may travel together with later ones, within a tick
	// nobody does, but its caller is blocking: it may be put off if it is one of many
	Burst
)

// Endpoint is one end of a connection. Frames arrive whole, once and in order, or the connection is
// lost.
//
// Origin's end: the caller of all methods but Source, Break and Mark/Reached has a lock, so calls
// do not overlap; Receiver is called by who polls the Source, at the same time as Send. Target's
// end: Send and Write are called from methods of its Receiver only, Post from anywhere; none of
// them ever blocks.
type Endpoint interface {
	// Send sends a frame: head, which is copied, and the next n bytes of body, behind which it
	// moves; with n = 0 body may be nil. At the origin's end it blocks until the memory may be
	// reused; answers must be read by others meanwhile. At the target's end body stays in use
	// until Receiver.Sent. deferred: it was put off; Flush or the next frame sends it. Errors
	// are final.
	//
	// Order: Writes of one end take effect in the order in which they are posted, and before
	// every frame, Read and Atomic that this end posts after them. Reads have no order with
	// what is posted after them.
	Send(head []byte, body *kernel.Cursor, n int64, when When) (deferred bool, err error)
	// MaxFrame is the most bytes of head and body together, 0 if there is no limit.
	MaxFrame() int
	// Pulse finds out whether the peer is there. It is called if the fabric's Info asks for it,
	// and does not block.
	Pulse()
	// Break ends the connection for both sides: who is blocked in Send returns soon, and what
	// is open of direct transfers is told an error. Any thread. Receiver.Lost is still called.
	Break()
	// Close waits until what was sent has left, at most for linger, and frees everything.
	// Nothing is called any more. With linger 0 nothing is on its way that is wanted, and
	// another connection to the same target may follow, again and again.
	Close(linger time.Duration)
}

// OriginEndpoint is the origin's end of a connection.
type OriginEndpoint interface {
	Endpoint
	// Flush sends what was put off, as far as it goes without blocking: true if something is
	// left.
	Flush() (left bool)
	// Source is where this end's frames and completions come from. Ends may share one.
	Source() Source
}

// TargetEndpoint is the target's end of a connection.
type TargetEndpoint interface {
	Endpoint
	// Post sends a frame from any thread, never blocks, and keeps both slices unless Info says
	// that it copies. Over a connection that is lost or closed it does nothing.
	Post(head, body []byte)
}

// Body says what becomes of a frame's body.
type Body struct {
	// the fabric stores it there, and moves the cursor, which may go on behind it; nil: it
	// calls Receiver.Data
	Into  *kernel.Cursor
	Grain int // Data is called with whole multiples of this many bytes
}

// Receiver is told what comes on an endpoint, by one thread at a time. An error from Head, Data or
// End means that the peer violated the protocol or said goodbye: nothing is called any more but
// Lost, with that error. At a target's end the fabric then sends what Lost has posted, as far as it
// goes without blocking, and closes the endpoint itself.
type Receiver interface {
	// Head tells of the next frame: its head, which is valid during the call, and the length of
	// its body. At a target's end it is not called before all of an earlier Send and Write of
	// this end has left.
	Head(head []byte, nbytes int64) (Body, error)
	Data(b []byte) error // the next bytes of the body
	End() error          // the frame is complete
	// the body of the last Send that had one may be reused; target's end only, perhaps before
	// Send returns
	Sent()
	Expects() bool  // much data is on its way, which should not pass through a buffer
	Lost(err error) // the connection is gone; called once, then nothing is
}

// Source is a place that frames and completions come from: a socket, a completion queue. One thread
// at a time uses it.
type Source interface {
	// Poll deals with what has come, and returns how much that was, 0 for nothing. It looks up
	// to looks times, and yields its core between looks.
	Poll(looks int) (n int)
	// Sleep blocks until something may have come, or Interrupt, or for limit (negative: any
	// time).
	Sleep(limit time.Duration)
	// Interrupt ends Sleep, or the next one. Any thread.
	Interrupt()
}

// Listener is the Source of a data server: what comes from all its origins.
type Listener interface {
	Source
	// sends what was posted, as far as it goes soon, and closes the endpoints that are left,
	// too
	Close()
}

// SharedListener is a Listener that any thread of the process may poll while none else does. Sleep
// changes nothing of it, and may go on in the data server's thread meanwhile.
type SharedListener interface {
	Listener
	// Rest is called before the thread that polls stops. again is how soon polling must go on
	// at the latest, whatever comes: 0 at once, negative: any time.
	Rest() (again time.Duration)
	// Whole tells whether no frame has come in part. For the thread that polls.
	Whole() bool
	// Ready is a descriptor to wait for input at: while it has none, Poll would find nothing.
	// Negative: Poll may find something all the same. For the thread that polls.
	Ready() int
	// SleepIn is an epoll in which the thread that polls may sleep while Ready is a descriptor:
	// what comes ends that, and so does Interrupt. Descriptors may be added to it. Negative:
	// there is none.
	SleepIn() int
	// Divert keeps Sleep from returning because of what comes, until it is called with false:
	// another thread polls. Interrupt ends Sleep all the same. What has come by then is not
	// lost.
	Divert(on bool)
	// Answered is how many requests the fabric has answered by itself, but for those that only
	// the process's own rank waits for. For the thread that polls.
	Answered() uint32
	// WakeIn ends Sleep, or the next one, after that time; the latest call counts. Any thread.
	WakeIn(d time.Duration)
}

// Range is registered memory [Lo, Hi) and its key, which is valid over every connection to its
// owner's process. With Direct false only its owner reaches it.
type Range struct {
	Lo, Hi uintptr
	Key    uint64
	Direct bool
}

// Completion is told of the parts of a direct transfer.
type Completion interface {
	Add(n int32)    // so many more parts are open
	Done(err error) // one has ended
}

// Transfer is a direct transfer. Both cursors have the same number of bytes left. The fabric does
// not move them.
type Transfer struct {
	Local, Remote *kernel.Cursor
	// Key finds the key of remote memory; ErrNotNative: it has none. It may block, and then
	// calls meanwhile, once, so that local memory can be registered at the same time.
	Key    func(addr uintptr, meanwhile func()) (*Range, error)
	Copied bool // local memory may be reused at return (Write)
	// LendFrom is the length of local rows from which on registering takes less time than
	// copying, FirstChunk the size of the first piece of what is copied; 0: the fabric's own.
	LendFrom, FirstChunk int
	// LendAfter is how many bytes of Within are copied, by transfers like this one, until
	// registering that would have taken no longer; 0: nothing is known. All of the local side
	// is Within.
	LendAfter int64
	Within    Span
	Done      Completion // may be nil (Write)
}

// DirectFabric is a Fabric whose device reads and writes memory of a target without its help.
type DirectFabric interface {
	Fabric
	// Expose registers memory of this node for others, as far as it is not, and lists what is
	// registered from lo to lo+n, in order. What cannot be registered is listed with Direct
	// false.
	Expose(lo uintptr, n int64) []Range
	// Here is the range around local memory of the arena, nil if it cannot be registered.
	Here(addr uintptr) *Range
	// Lend registers local memory for a target's Write until release. ok is false if it cannot
	// be.
	Lend(lo, hi uintptr) (key uint64, release func(), ok bool)
	// Share registers private memory of this process, which serves, for all origins until
	// release, which must follow the last access. ok is false if it cannot be registered, or if
	// its pages could go away while it is.
	Share(lo, hi uintptr) (key uint64, release func(), ok bool)
	Atomics() bool // the device has atomic operations on 8-byte words
}

// DirectEndpoint is an Endpoint of a DirectFabric.
type DirectEndpoint interface {
	OriginEndpoint
	DirectWriter
	Read(x *Transfer) error // as Write
	// Mark names what was posted so far by Write; Reached tells that all of it has taken effect
	// at the target. After Close it is true.
	Mark() uint64
	Reached(mark uint64) bool
	// Atomic changes an 8-byte word by the device and returns what was there before. It blocks.
	Atomic(op AtomicOp, addr uintptr, key uint64, operand, compare int64) (old int64, err error)
	// Requests is how many requests of the device a transfer takes.
	Requests(local, remote *kernel.Cursor) int64
}

// DirectWriter is an Endpoint, of either end, that writes the other's memory.
type DirectWriter interface {
	// Write moves a whole transfer. At the origin's end it returns when all is posted;
	// ErrNotNative: some memory has no key, and the transfer has to be made again by messages.
	// At the target's end it keeps what there is no room for.
	Write(x *Transfer) error
}

// WordEndpoint is a DirectEndpoint that can write a 4-byte word, in order like Write.
type WordEndpoint interface {
	WriteWord(addr uintptr, key uint64, value uint32) error
}

// DeviceAccumulator is a DirectEndpoint that accumulates by its device, under locks in the target's
// memory, without the target's help. done is false, and nothing has happened, if the server has to
// do it.
type DeviceAccumulator interface {
	Accumulate(x *Transfer, s Scale) (done bool, err error)
}

// Span is memory [Lo, Hi).
type Span struct{ Lo, Hi uintptr }

// Line is a time in nanoseconds: to begin with, for each request of a device, and for each byte.
type Line struct{ Start, Each, Byte float64 }

// WayCosts is what the ways of rows cost: by requests of the device, by messages, by requests of
// the target's device. Wake is how much more the last two take, in nanoseconds, if the target's
// server sleeps.
type WayCosts struct {
	Device, Messages, TargetSide Line
	Wake                         float64
}

// FastFabric is a DirectFabric with a fast path: C makes contiguous puts and gets without
// entering Go (fast.h).
type FastFabric interface {
	// CacheRange lets C reach r, around addr, of an allocation of that rank through e. s is the
	// server of the rank's node.
	CacheRange(e OriginEndpoint, rank Rank, addr uintptr, r Range, whole Span, s Server)
	KnowsRange(rank Rank, addr uintptr) bool   // it does, around addr
	DropEndpoint(e OriginEndpoint)             // forgets what is reached through e
	CachePeer(e OriginEndpoint, rank Rank)     // lets C ask a data server through e
	CacheSpan(rank Rank, addr, lo, hi uintptr) // lets C accumulate to [lo, hi)
	Storing(e OriginEndpoint) bool             // what it adds is not there yet
	KnowsPeer(rank Rank) bool                  // it does, or never will
	DropPeers(e OriginEndpoint)                // lets C ask through e no more
	Behind(rank Rank) bool                     // C sends none there: it does not keep up
	Delivered(rank Rank)                       // C may again
	DropRank(rank Rank)                        // forgets the memory of a rank
	SetCosts(get bool, c *WayCosts)            // what the ways of rows cost
	// TimeRows is how long C takes for a transfer by requests of the device, until it has taken
	// effect, in nanoseconds; false: it cannot make it.
	TimeRows(get bool, rank Rank, x *Xfer) (ns float64, ok bool)

	// EndpointOpen: what C has posted through e has not completed.
	EndpointOpen(e OriginEndpoint) bool
	// FastSource is the source that finds completions of C's requests.
	FastSource() Source
	// RequestOpen: a request of C's is open, and a handle with it not complete.
	RequestOpen(number int32) bool
	// RequestOver: it is not, or it has failed.
	RequestOver(number int32) bool
	// RequestFailure takes the failure of one that is over.
	RequestFailure(number int32) (rank Rank, failed bool)
}

// AtomicOp is an operation of a device on an 8-byte word.
type AtomicOp uint8

// What devices can do.
const (
	AtomicAdd AtomicOp = iota
	AtomicCompareSwap
)
