// SPDX-License-Identifier: BSD-3-Clause

// The interface of networks: Driver opens a Fabric, which makes connections. The ends of a
// connection are in endpoint.go (Endpoint, Receiver, Source, Listener), transfers by a device in
// direct.go. Package internode builds the whole Transport from it once; a network brings only what
// differs. docs/adding-a-fabric.md explains how to write one.
//
// Terms: an origin is a process that posts operations, a target is a node, for which its data
// server acts. An origin has one connection to each target it uses. An Endpoint is one end of a
// connection.
package transport

import "time"

// Driver is a fabric that may or may not be usable on this machine.
type Driver struct {
	Name string
	// Probe returns why the fabric cannot be used here, in words for armci_info; nil if it can.
	Probe func() error
	Notes func() string // the devices that Open would choose, and why, for armci_info
	Spare func() string // devices found although Probe fails, for armci_info; may be nil
	// Hint returns what the ranks of other nodes should know before they open theirs, in tens
	// of bytes; may be nil.
	Hint func() []byte
	Open func(FabricConfig) (Fabric, error)
}

// Settings are those that all networks have (docs/configuration.md).
type Settings struct {
	Timeout time.Duration // a host that does not answer for so long is given up
	Buffer  int64         // most bytes that the process may have in buffers
	// Eager is the most bytes of puts and accumulates that are copied, and so locally complete
	// at return.
	Eager int
	// Reconnect says that a connection that is lost is made again if the other process lives.
	Reconnect bool
	// Looks is how often a waiter polls before it yields its core; never nil for a fabric.
	Looks func() int
	// Unbind gives the calling thread all cores of the machine; never nil for a fabric.
	Unbind func()

	// Protocols that are forced, for tests and measurements (docs/protocols.md).
	Contiguous string // "" and Auto: by size and kind of memory
	Strided    string // and vector; "" and Auto: by the cost model
	DeviceAcc  bool   // accumulates are made by the origin's device under locks at the target
}

// Copies tells whether the forced protocol of contiguous transfers copies all local memory through
// buffers.
func (s *Settings) Copies() bool { return s.Contiguous == ByCopy || s.Contiguous == ByCopyAlone }

// Lends tells whether the forced protocol registers local memory, however short the transfer is.
func (s *Settings) Lends() bool {
	return s.Contiguous == ByZeroCopy || s.Contiguous == ByRegister || s.Contiguous == ByOverlap
}

// Names of protocols in settings.
const (
	Auto   = "auto"
	ByCopy = "buffered" // contiguous: local memory is copied through registered buffers
	// contiguous: local memory is used in place, and registered if it is not yet
	ByZeroCopy = "zerocopy"
	// contiguous: as buffered, but copying and transfer do not overlap
	ByCopyAlone = "baseline"
	// contiguous: as zerocopy, but registered for this transfer alone, before the transfer
	// begins
	ByRegister = "register"
	// contiguous: as register, but a piece is registered while the one before is transferred
	ByOverlap = "overlap"
	ByDevice  = "nic"  // work requests of the device for each row, chained
	ByPacking = "host" // packed into frames, unpacked by the data server
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
	// ServerAddr is the address of the data server that acts for a rank; nil: not known.
	ServerAddr func(Rank) []byte
	// Await blocks until done() is true, and drives progress meanwhile unless another thread
	// does. An origin's Endpoint calls it when it has to wait for room. done must become true
	// when the endpoint breaks.
	Await func(e OriginEndpoint, done func() bool)
	// Receive polls the source of an origin's Endpoint once. It returns false if another thread
	// is polling. A Send that waits calls it, because a server reads on only when its answers
	// leave.
	Receive func(e OriginEndpoint) bool
	// Fatal reports that the device has failed, and all connections with it.
	Fatal func(err error)
}

// FabricInfo describes an open fabric. It is constant after Open.
type FabricInfo struct {
	Addr []byte // published to the other ranks
	// Credits is the most frames that an origin may have at a target whose handling has not
	// been acknowledged; 0: any number.
	Credits  int
	Patience time.Duration // longest time for which a waiting thread polls before it sleeps
	// Look is about the time that one poll takes, for fabrics whose Poll should poll many times
	// in one call; 0: Poll is called for each.
	Look time.Duration
	// Tick is the longest time for which Send may delay a frame, and the period at which the
	// progress thread polls while it is needed.
	Tick time.Duration
	// MinDirectRow is the shortest row, in bytes, that is received directly into its memory.
	MinDirectRow int
	Pulses       bool // a lost peer is noticed by Pulse only, which is called from time to time
	Copies       bool // Post copies its slices; else it keeps them
	// Bytewise says that the device, being software, may access aligned blocks of up to 8 bytes
	// in several parts.
	Bytewise bool
	// Blocks says that Send of a large body takes as long as the network. The caller then sends
	// frames that no thread waits for on a thread of their own.
	Blocks bool
	// Defers is, if Blocks, the longest body that a Send with Soon copies instead, in bytes:
	// that Send does not block.
	Defers int64
}

// Fabric is a network between nodes, opened by one process. All methods but Close are safe for
// concurrent use.
type Fabric interface {
	// Info returns the same value at every call.
	Info() FabricInfo
	// Listen begins to accept origins. accept is called, from any thread, for each origin that
	// has proved that it belongs to the job. It may use e at once. It returns the receiver of
	// that connection, or an error, which refuses the origin.
	Listen(accept func(from Rank, e TargetEndpoint) (r Receiver, err error)) (Listener, error)
	// Dial connects to the data server of rank to, which has published addr. It blocks for at
	// most the timeout. r may be called before Dial returns, by the thread that polls the
	// endpoint's Source. If Dial fails it leaves nothing allocated.
	Dial(to Rank, addr []byte, r Receiver) (OriginEndpoint, error)
	// Wait blocks the progress thread. It returns when a frame or completion has arrived at an
	// attended source, when an endpoint has lost its connection, when the peer has closed one,
	// even if frames are left to read, after Wake, or after limit (negative: no limit). The
	// result lists the sources to be polled, in ready's memory. They are no longer attended.
	Wait(limit time.Duration, ready []Source) []Source
	// Attend makes Wait watch a source for arrivals from now on. The caller polls the source
	// once after Attend, because earlier arrivals do not end Wait.
	Attend(s Source)
	// Wake ends Wait, or the next one.
	Wake()
	// Close frees everything. The caller has closed all endpoints and the listener.
	Close() error
}

// AlarmFabric is a Fabric with a timer that ends Wait.
type AlarmFabric interface {
	// SetAlarm ends Wait, or the next one, after d. Each call replaces the one before.
	SetAlarm(d time.Duration)
}
