// SPDX-License-Identifier: BSD-3-Clause

// Simulated sockets: what two kernels and the network between them may do with the bytes of a TCP
// connection, as a seed says. A kernel takes a part of what is sent, or nothing. Bytes arrive in
// pieces, their acknowledgements later, and a reset loses what is on its way. The rules are those
// of Linux: what was acknowledged can be received after a reset, and a socket that was shut down
// acknowledges nothing that arrives afterwards.
package tcp

import (
	"io"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/simulate"
)

// simSocket is one end of a simulated TCP connection, which has one direction of bytes from here.
type simSocket struct {
	peer *simSocket
	link *simLink

	// Bytes from here to peer, counted from the beginning of the connection: those that this
	// kernel has taken, of these acknowledged ones, and ones in the other kernel.
	taken, acked, delivered int
	onTheWay                []byte // taken and not delivered
	sendLimit               int    // of bytes that are taken and not acknowledged
	limitBefore             int    // without LimitSendBuffer

	arrived   []byte // from peer, not received by the process
	readLimit int    // of arrived
	isShut    bool   // the process has shut it down
	failure   error  // the connection is over, as this kernel knows; io.EOF: closed
}

// simLink is the network of a connection.
type simLink struct {
	isCut bool // bytes that have not arrived never do
	// A machine in between acknowledges bytes that the other kernel does not have yet.
	acksEarly bool
	// The server's answer to the hello has arrived at the origin. It is the first that is sent.
	answered bool
	ends     [2]*simSocket // of origin and server
}

// newSimLink makes a connection of two kernels.
func newSimLink(sendLimit, readLimit int, acksEarly bool) *simLink {
	l := &simLink{acksEarly: acksEarly}
	for i := range l.ends {
		l.ends[i] = &simSocket{link: l, sendLimit: sendLimit, limitBefore: sendLimit,
			readLimit: readLimit}
	}
	l.ends[0].peer, l.ends[1].peer = l.ends[1], l.ends[0]
	return l
}

// somePart is up to n bytes, often all.
func somePart(n int) int {
	if simulate.Chance(2) {
		return n
	}
	return 1 + simulate.IntN(n)
}

// acceptBytes accepts bytes of the process, as many as the kernel has room for.
func (s *simSocket) acceptBytes(b []byte) (int, error) {
	switch {
	case s.failure != nil && s.failure != io.EOF:
		return 0, s.failure
	case s.isShut:
		return 0, unix.EPIPE
	}
	n := min(len(b), s.sendLimit-(s.taken-s.acked))
	if n <= 0 || simulate.Chance(16) {
		return 0, unix.EAGAIN
	}
	n = somePart(n)
	s.onTheWay = append(s.onTheWay, b[:n]...)
	s.taken += n
	return n, nil
}

// copyArrived copies to b what has arrived, all that fits.
func (s *simSocket) copyArrived(b []byte) (int, error) {
	if n := copy(b, s.arrived); n > 0 {
		return n, nil
	}
	if s.failure != nil {
		return 0, s.failure
	}
	if s.isShut {
		return 0, io.EOF
	}
	return 0, unix.EAGAIN
}

// step lets the network do something, for the bytes from here. It returns what.
func (s *simSocket) step() string {
	switch simulate.IntN(4) {
	case 0:
		if s.acked < s.delivered {
			s.acked += somePart(s.delivered - s.acked)
			return "acknowledged"
		}
	case 1:
		if s.link.acksEarly && s.acked < s.taken && !s.link.isCut {
			s.acked += somePart(s.taken - s.acked)
			return "acknowledged early"
		}
	case 2:
		if s.link.isCut && s.failure == nil {
			s.failure = pick[error](unix.ECONNRESET, unix.ETIMEDOUT, io.EOF)
			return "found lost: " + s.failure.Error()
		}
	default:
		if !s.link.isCut {
			return s.deliver()
		}
	}
	return ""
}

// deliver lets bytes arrive, or the end of the stream behind them.
func (s *simSocket) deliver() string {
	n := min(len(s.onTheWay), s.peer.readLimit-len(s.peer.arrived))
	switch {
	case s == s.link.ends[1] && !s.link.answered:
		s.link.answered = true
		return "answer arrived"
	case len(s.onTheWay) == 0 && s.isShut:
		if s.peer.failure == nil {
			s.peer.failure = io.EOF
			return "closed"
		}
		return ""
	case n <= 0:
		return ""
	case s.peer.isShut: // the kernel answers with a reset
		s.link.isCut, s.failure = true, unix.ECONNRESET
		return "refused"
	}
	n = somePart(n)
	s.peer.arrived = append(s.peer.arrived, s.onTheWay[:n]...)
	s.onTheWay = s.onTheWay[n:]
	s.delivered += n
	return "arrived"
}

// lostAcked tells whether bytes from here were acknowledged that cannot arrive any more.
func (s *simSocket) lostAcked() bool { return s.acked > s.delivered }

// simDescriptor is a descriptor of a simulated process: it stands for one socket after the other.
type simDescriptor struct {
	*simSocket
	world    *simWorld
	mayFree  bool // the kernel knows how to end LimitSendBuffer
	mostKept int  // the most bytes that were not acknowledged at a time
	everLost bool // an earlier socket has acknowledged bytes which never arrived
}

// replaceSocket is dup3, which closes the old socket: the other end may still use it.
func (d *simDescriptor) replaceSocket(next *simSocket) {
	d.everLost = d.everLost || d.lostAcked()
	d.link.isCut = true
	d.simSocket = next
}

func (d *simDescriptor) send(b []byte) (int, error) {
	n, err := d.acceptBytes(b)
	d.mostKept = max(d.mostKept, d.taken-d.acked)
	return n, err
}

func (d *simDescriptor) sendPieces(p []kernel.Segment) (n int, err error) {
	var all []byte
	for _, piece := range p {
		all = append(all, simMemory(piece)...)
	}
	return d.send(all)
}

// simMemory is the memory of a piece.
func simMemory(p kernel.Segment) []byte {
	return unsafe.Slice((*byte)(kernel.Ptr(p.Addr)), p.Bytes)
}

func (d *simDescriptor) receive(b []byte) (int, error) {
	n, err := d.copyArrived(b)
	d.arrived = d.arrived[n:]
	return n, err
}

// receivePieces receives into each piece what fits.
func (d *simDescriptor) receivePieces(p []kernel.Segment) (n int, err error) {
	for i := range p {
		k, err := d.receive(simMemory(p[i]))
		if n += k; err != nil && n == 0 {
			return 0, err
		}
		if err != nil || k < int(p[i].Bytes) {
			break
		}
	}
	return n, nil
}

func (d *simDescriptor) peek(b []byte) (int, error) { return d.copyArrived(b) }

func (d *simDescriptor) discard(n int) (int, error) { return d.receive(make([]byte, n)) }

// unackedBytes is called some time after the bytes were taken.
func (d *simDescriptor) unackedBytes() (int, error) {
	for range pick(0, 0, 1, 10) {
		d.step()
	}
	return d.taken - d.acked, nil
}

func (d *simDescriptor) limitSendBuffer(nbytes int) error {
	d.sendLimit = min(max(nbytes, 2<<10), d.limitBefore)
	return nil
}

func (d *simDescriptor) freeSendBuffer() error {
	if !d.mayFree {
		return unix.ENOPROTOOPT
	}
	d.sendLimit = d.limitBefore
	return nil
}

// awaitRoom lets everything else go on for a while.
func (d *simDescriptor) awaitRoom(time.Time) {
	for range 1 + simulate.IntN(10) {
		d.world.step()
	}
}

func (d *simDescriptor) shutdown() { d.isShut = true }
