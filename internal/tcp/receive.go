// SPDX-License-Identifier: BSD-3-Clause

// Receiving frames from a socket, the same at both ends: how much to take, whether through the
// buffer or straight to where it belongs, and telling the Receiver. Nothing here waits.
package tcp

import (
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
	"libarmci/internal/tcp/rawsock"
	"libarmci/internal/transport"
)

const (
	// taken at first by a target: of a large body only this much is copied twice
	peekBytes  = 16 << 10
	usualTurns = 4 // for how many frames a large body stays usual
	// how often to look for the rest of a body at once: for a few microseconds
	soonTries  = 12
	mostSilent = 4  // so many frames without an answer: the next one has none, either
	firstHead  = 48 // of a frame with a large body, until one has come
)

var errProtocol = errors.New("violation of the wire format")

// receiver is the receiving side of a connection.
type receiver struct {
	fd       int
	to       transport.Receiver
	straight int         // rows of at least so many bytes are received to where they belong
	may      func() bool // a target: may a frame be dealt with now?

	in      []byte // a buffer that is lent to it: in[r:w] has arrived and is not dealt with
	r, w    int
	rest    []byte         // that, while it has no buffer
	open    bool           // in the middle of a body
	body    transport.Body // where it goes
	left    int64          // bytes of it that are not dealt with
	direct  bool           // it is received to where it belongs
	stopped bool           // a frame has arrived that may not be dealt with yet
	bigHead int            // bytes of the head of the last frame with a large body
	usual   int            // target: for so many frames large bodies are expected
	// target: bytes that have been dealt with and are still in the socket
	unread  int
	later   bool        // target: such bytes may stay there until the next call
	unheard atomic.Bool // target: nothing has been sent since the last frame came
	// target: so many frames in a row had no answer before the next one came
	silent  int
	drained bool // the last call has taken all that was there
	origin  bool // this is the origin's end
}

// lend gives it a buffer to receive through, and giveBack takes it away.
func (s *receiver) lend(b []byte) { s.in, s.r, s.w = b, 0, copy(b, s.rest) }

func (s *receiver) giveBack() {
	s.rest = append(s.rest[:0], s.in[s.r:s.w]...)
	s.in, s.r, s.w = nil, 0, 0
}

// receive takes what has arrived. In the middle of a body it looks some times: more is about to
// come, and the way back to here is long.
func (s *receiver) receive() (n int, err error) {
	if err = s.consume(); err != nil {
		return 0, err
	}
	s.drained = false
	s.r, s.w = 0, copy(s.in, s.in[s.r:s.w])
	most := len(s.in)
	if !s.open {
		most = s.limit()
	}
	for tries := 0; ; tries++ {
		if s.open && s.direct {
			n, err = s.receiveStraight()
		} else {
			n, err = s.take(s.in[s.w:min(s.w+most, len(s.in))])
			s.w += n
		}
		if err != unix.EAGAIN || !s.open || tries == soonTries {
			return n, err
		}
	}
}

// consume takes out of the socket what was peeked at.
func (s *receiver) consume() error {
	for s.unread > 0 {
		n, err := rawsock.Discard(s.fd, s.unread)
		if err != nil {
			return err
		}
		s.unread -= n
	}
	return nil
}

// quiet tells whether all that was there has been dealt with, so that there is nothing to receive.
func (s *receiver) quiet() bool { return s.drained && !s.open && s.r == s.w }

// limit is how much to take of what begins with a prefix: little more than the head where a large
// body is expected.
func (s *receiver) limit() int {
	switch {
	case s.origin && !s.to.Expects():
		return len(s.in)
	case !s.origin && s.usual == 0:
		return peekBytes
	}
	have, need := s.w-s.r, prefixBytes+max(s.bigHead, firstHead)
	if have >= prefixBytes {
		head, _ := prefix(s.in[s.r:])
		need = prefixBytes + head
	}
	return max(need-have, prefixBytes)
}

// take receives. Linux sends a bare ACK when data is consumed before a reply is queued, if nothing
// was sent after the data before; that takes longer than to reply. So the data is peeked at, the
// reply is sent, and then the data is consumed: unless frames have lately had no reply. A waiter
// (later) peeks at all that is small, since its caller may reply on a connection of its own.
func (s *receiver) take(b []byte) (n int, err error) {
	if s.origin || s.usual != 0 || !s.later && (!s.unheard.Load() || s.silent == mostSilent) {
		n, err = rawsock.Receive(s.fd, b)
	} else {
		n, err = rawsock.Peek(s.fd, b)
		s.unread = max(n, 0)
	}
	s.drained = err == nil && n < len(b)
	return n, err
}

// receiveStraight receives to where the body belongs; what comes behind its end goes to the buffer,
// if there is one.
func (s *receiver) receiveStraight() (int, error) {
	var pieces [rawsock.MaxPieces]kernel.Piece
	next := *s.body.Into
	vec := next.Pieces(pieces[:0:rawsock.MaxPieces-1], s.left)
	listed := s.body.Into.Left() - next.Left()
	if listed == s.left && len(s.in) > 0 {
		vec = append(vec, rawsock.PieceOf(s.in[:min(s.limit(), len(s.in))]))
	}
	n, err := rawsock.ReceivePieces(s.fd, vec)
	if err == unix.EFAULT {
		touch(s.body.Into.Unpack, s.left)
	}
	k := min(int64(n), listed)
	s.body.Into.Skip(k)
	s.left -= k
	s.w = n - int(k)
	return n, err
}

// parse deals with what is in the buffer, as far as it goes.
func (s *receiver) parse() error {
	s.stopped = false
	for {
		if s.open {
			if err := s.store(); err != nil || s.open {
				return err
			}
		}
		b := s.in[s.r:s.w]
		if len(b) < prefixBytes {
			return nil
		}
		head, body := prefix(b)
		if head > transport.MaxHead || body > maxBody {
			return fmt.Errorf("%w: a frame with %d and %d bytes", errProtocol, head,
				body)
		}
		if b = b[prefixBytes:]; len(b) < head {
			return nil
		}
		if s.may != nil && !s.may() {
			s.stopped = true
			return nil
		}
		s.r += prefixBytes + head
		if err := s.begin(b[:head], body); err != nil {
			return err
		}
	}
}

// begin tells of a frame.
func (s *receiver) begin(head []byte, n int64) error {
	if !s.origin {
		if !s.unheard.Swap(true) {
			s.silent = 0
		} else {
			s.silent = min(s.silent+1, mostSilent)
		}
	}
	body, err := s.to.Head(head, n)
	if err != nil {
		return err
	}
	body.Grain = max(body.Grain, 1)
	if body.Into != nil && body.Into.Left() < n || body.Into == nil &&
		n%int64(body.Grain) != 0 {
		return fmt.Errorf("%w: a body of %d bytes", errProtocol, n)
	}
	s.open, s.body, s.left = n > 0, body, n
	s.direct = body.Into != nil && body.Into.Row() >= int64(s.straight)
	if s.direct && n >= peekBytes/2 {
		s.usual, s.bigHead = usualTurns, len(head)
	} else if s.usual > 0 {
		s.usual--
	}
	if n == 0 {
		return s.to.End()
	}
	return nil
}

// store deals with what is in the buffer of a body, and ends the frame when the body is complete.
func (s *receiver) store() (err error) {
	n := min(int64(s.w-s.r), s.left)
	if s.body.Into == nil {
		n -= n % int64(s.body.Grain)
	} else if n < s.left && !s.direct {
		n = s.body.Into.Whole(n)
	}
	b := s.in[s.r : s.r+int(n)]
	s.r, s.left = s.r+int(n), s.left-n
	if s.body.Into != nil {
		s.body.Into.Unpack(b)
	} else if n > 0 {
		err = s.to.Data(b)
	}
	if err == nil && s.left == 0 {
		s.open, s.body = false, transport.Body{}
		err = s.to.End()
	}
	return err
}
