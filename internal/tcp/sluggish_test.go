// SPDX-License-Identifier: BSD-3-Clause

// Servers for tests that read nothing until they are told to, and then answer every request and look at what is put.
// They are no data servers: what a client holds for them is all the memory there is.
package tcp

import (
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
	"libarmci/internal/transport"
)

// sluggish is one of them.
type sluggish struct {
	t    *testing.T
	rank transport.Rank
	addr string
	put  int64 // bytes of data that have come
	bad  int64 // of them: what is not filler
}

const filler = 0x5a

// start listens; from release on it serves one client.
func (s *sluggish) start(release chan struct{}, all *sync.WaitGroup) {
	ln, at, err := listen(netip.MustParseAddr("127.0.0.1"), "")
	if err != nil {
		s.t.Fatal(err)
	}
	unix.SetsockoptInt(ln, unix.SOL_SOCKET, unix.SO_RCVBUF, 32<<10)
	s.addr = at.String()
	all.Go(func() {
		defer unix.Close(ln)
		if waitFor(ln, unix.POLLIN, soon()) != nil {
			return
		}
		fd, _, err := unix.Accept4(ln, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			s.t.Error(err)
			return
		}
		defer unix.Close(fd)
		s.welcome(fd)
		<-release
		for s.frame(fd) {
		}
	})
}

func (s *sluggish) welcome(fd int) {
	c := newChallenge(s.rank)
	sendFull(fd, c[:], soon())
	var p proof
	recvFull(fd, p[:], soon())
	_, w, err := c.admit([]byte("secret"), &p)
	if err != nil {
		s.t.Errorf("the client's proof: %v", err)
	}
	sendFull(fd, w[:], soon())
}

// frame deals with one request: false if there are no more.
func (s *sluggish) frame(fd int) bool {
	var b [4 << 10]byte
	if recvFull(fd, b[:headerBytes], soon()) != nil {
		return false
	}
	var h header
	h.decode(b[:])
	recvFull(fd, b[:h.Desc], soon())
	for left := h.payload(); left > 0; {
		part := b[:min(left, int64(len(b)))]
		if recvFull(fd, part, soon()) != nil {
			s.t.Error("a frame is cut")
			return false
		}
		left -= int64(len(part))
		s.put += int64(len(part))
		for _, x := range part {
			if x != filler {
				s.bad++
			}
		}
	}
	a := header{ID: h.ID}
	switch {
	case h.Kind == kindGet:
		a.Kind, a.Bytes = kindData, h.Bytes
	case h.Kind == kindFence:
		a.Kind = kindFenced
	case h.Flags&flagAck != 0:
		a.Kind = kindDone
	default:
		return h.Kind != kindBye
	}
	return sendFull(fd, append(a.append(nil), make([]byte, a.Bytes)...), soon()) == nil
}
