// SPDX-License-Identifier: BSD-3-Clause

// The ends of a connection of a Fabric: an Endpoint sends frames, a Source is polled for arrivals,
// which it passes to a Receiver.
package transport

import (
	"time"

	"libarmci/internal/kernel"
)

// MaxHead is the most bytes of a frame's head.
const MaxHead = 33 << 10

// When is the urgency of a frame.
type When uint8

// The urgencies.
const (
	Now   When = iota // a thread waits for the result: the frame leaves at once
	Soon              // no thread waits: it may leave together with later frames, within a tick
	Burst             // as Now for a single frame; one of many may be deferred like Soon
)

// Endpoint is one end of a connection. Frames arrive whole, once and in order, or the connection is
// lost.
//
// Threads, at the origin's end: the caller holds a lock during all methods but Source, Break, Mark
// and Reached, so those calls do not overlap. The thread that polls the Source calls the Receiver,
// possibly during a Send. At the target's end: Send and Write are called from methods of its
// Receiver only, Post from any thread. None of them blocks.
type Endpoint interface {
	// Send sends a frame: head, which is copied, and the next n bytes of body, which it skips.
	// If n is 0 body may be nil.
	//
	// At the origin's end Send blocks until the memory of the body may be reused; other threads
	// must read answers meanwhile. At the target's end the memory is in use until
	// Receiver.Sent. deferred says that the frame has been delayed: Flush or the next frame
	// sends it. After an error nothing more can be sent.
	//
	// Order: Writes of one end take effect in the order in which they are posted, and before
	// every frame, Read and Atomic that this end posts after them. Reads have no order with
	// later operations.
	Send(head []byte, body *kernel.Cursor, n int64, when When) (deferred bool, err error)
	// MaxFrame is the most bytes of head and body together, 0 if there is no limit.
	MaxFrame() int
	// Pulse checks whether the peer is alive, without blocking. It is called if
	// FabricInfo.Pulses is set. A dead peer is reported by Receiver.Lost.
	Pulse()
	// Break ends the connection for both sides. A blocked Send returns soon, and open direct
	// transfers fail. Any thread may call it. Receiver.Lost is still called.
	Break()
	// Close blocks until all frames sent have left, for at most linger, and frees the endpoint.
	// After it the receiver is not called. linger 0 drops what is on its way. Another
	// connection to the same target may then be made, any number of times.
	Close(linger time.Duration)
}

// OriginEndpoint is the origin's end of a connection.
type OriginEndpoint interface {
	Endpoint
	// Flush sends deferred frames as far as it can without blocking. left says that some are
	// left: the caller calls it again.
	Flush() (left bool)
	// Source is the source of this end's frames and completions. Ends may share one.
	Source() Source
}

// TargetEndpoint is the target's end of a connection.
type TargetEndpoint interface {
	Endpoint
	// Post sends a frame from any thread, never blocks, and keeps both slices unless
	// FabricInfo.Copies is set. Over a lost or closed connection it does nothing.
	Post(head, body []byte)
}

// Body is the destination of a frame's body.
type Body struct {
	// Into is where the fabric stores the body; it moves the cursor, which may have more bytes
	// than the body. nil: the body is passed to Receiver.Data.
	Into  *kernel.Cursor
	Grain int // Data is called with whole multiples of this many bytes
}

// Receiver gets the frames that arrive at an endpoint. One thread at a time calls it. An error from
// BeginFrame, Data or EndFrame means that the peer has violated the protocol, or has announced the
// end of the connection. After it only Lost is called, with that error. At a target's end the
// fabric then sends the frames that Lost has posted, as far as it can without blocking, and closes
// the endpoint.
type Receiver interface {
	// BeginFrame begins a frame. head is valid during the call; nbytes is the length of the
	// body, which goes to the result. At a target's end BeginFrame is not called before all of
	// an earlier Send and Write of this end has left.
	BeginFrame(head []byte, nbytes int64) (Body, error)
	// Data gets the next bytes of the body, valid during the call.
	Data(b []byte) error
	// EndFrame is called when the frame is complete.
	EndFrame() error
	// Sent says that the body of the last Send with a body may be reused. It is called at a
	// target's end only, perhaps before Send returns.
	Sent()
	// ExpectsBulk tells whether much data is on its way, which should be received directly into
	// its memory and not through a buffer.
	ExpectsBulk() bool
	// Finished tells whether no frame is expected any more: then the end of the connection is
	// no reason to make it again. Any thread may call it.
	Finished() bool
	// Lost is called once when the connection is lost; after it no method is called.
	Lost(err error)
}

// Source is a queue of frames and completions: a socket, a completion queue. One thread at a time
// calls Poll and Sleep.
type Source interface {
	// Poll handles arrived frames and completions, by calls of Receivers and Completions, and
	// returns how many, 0 for none. It polls up to looks times until there are some, and yields
	// its core in between.
	Poll(looks int) (n int)
	// Sleep blocks until something may have arrived, or until Interrupt, or for limit
	// (negative: no limit).
	Sleep(limit time.Duration)
	// Interrupt ends Sleep, or the next one. Any thread may call it.
	Interrupt()
}

// Listener is the Source of a data server: the arrivals from all its origins.
type Listener interface {
	Source
	// Close sends posted frames, as far as that takes little time, and closes the endpoints
	// that are left, and itself.
	Close()
}

// SharedListener is a Listener that any thread of the process may poll while no other one does.
// Sleep changes nothing that Poll uses, and may go on in the data server's thread meanwhile.
type SharedListener interface {
	Listener
	// StopPolling is called before the thread that polls stops. again is the time within which
	// polling must go on, even if nothing arrives: 0 at once, negative: never.
	StopPolling() (again time.Duration)
	// FramesComplete tells whether no frame is partly received. The thread that polls calls it.
	FramesComplete() bool
	// Ready is a descriptor that becomes readable on arrivals: while it is not, Poll would find
	// nothing. Negative: there is none at the moment. The thread that polls calls it.
	Ready() int
	// EpollFD is an epoll descriptor in which the thread that polls may sleep while Ready is a
	// descriptor. Arrivals and Interrupt end that sleep. The caller may add descriptors to it.
	// Negative: there is none.
	EpollFD() int
	// SetWaiterPolls(true) keeps arrivals from ending Sleep, because another thread polls,
	// until SetWaiterPolls(false). Interrupt still ends Sleep. Arrivals in between are not
	// lost.
	SetWaiterPolls(on bool)
	// AnsweredRequests is the number of requests that the fabric has answered by itself, except
	// those that only the process's own rank waits for. The thread that polls calls it.
	AnsweredRequests() uint32
	// SetAlarm ends Sleep, or the next one, after d. Each call replaces the one before. Any
	// thread may call it.
	SetAlarm(d time.Duration)
}
