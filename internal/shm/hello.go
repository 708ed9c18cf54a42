// SPDX-License-Identifier: BSD-3-Clause

// The frames on connections between ranks of a node, and the hello that begins each connection.
// Only processes of the same user that know the job's secret are accepted. Nothing here depends on
// what a connection is used for.
package shm

import (
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"libarmci/internal/acceptqueue"
	"libarmci/internal/sys"
)

// A frame on a control connection, little-endian:
//
//	 0 uint32 kind
//	 4 uint32 local rank of the sender
//	 8 uint64 a
//	16 uint64 b
//	24 secret, of 16 bytes, in a hello only
const (
	frameBytes = 24
	secretLen  = 16
)

// Kinds of frames.
const (
	frameHello   = iota + 0x41524d31 // a: purpose, b: address space left, bytes
	frameOffer                       // a: bytes, b: address of a place to be reserved
	frameVote                        // a: 1 = reserved or mapped, 0 = refused
	frameCommit                      // a: 1 = reserved by all, formatted; 0 = refused
	frameFiles                       // a: files in this message, b: in later ones
	frameGoodbye                     // a: 1 = finalised, 0 = exited without
)

// Purposes of a connection, in a hello.
const (
	purposeJoin     = iota // with the leader: joining, then watching for deaths
	purposeMessages        // active messages to the acceptor
	purposeRefuse          // with the leader: this rank does not join
)

// frame is a message on a control connection. The meaning of a and b depends on kind.
type frame struct {
	kind uint32 // frameHello ...
	from uint32 // local rank of the sender
	a, b uint64
}

func (f frame) marshal() []byte {
	b := make([]byte, frameBytes)
	binary.LittleEndian.PutUint32(b, f.kind)
	binary.LittleEndian.PutUint32(b[4:], f.from)
	binary.LittleEndian.PutUint64(b[8:], f.a)
	binary.LittleEndian.PutUint64(b[16:], f.b)
	return b
}

func unmarshalFrame(b []byte) frame {
	return frame{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]),
		binary.LittleEndian.Uint64(b[8:]),
		binary.LittleEndian.Uint64(b[16:])}
}

// readFrame reads one frame. A kind other than 0 is required, and another one is an error.
func readFrame(c net.Conn, kind uint32) (frame, error) {
	b := make([]byte, frameBytes)
	if _, err := io.ReadFull(c, b); err != nil {
		return frame{}, err
	}
	f := unmarshalFrame(b)
	if kind != 0 && f.kind != kind {
		return f, fmt.Errorf("frame of kind %#x where %#x was expected", f.kind, kind)
	}
	return f, nil
}

// admit reads the hello of an accepted connection and checks user, secret and rank. On an error the
// caller closes the connection without an answer.
func admit(c *net.UnixConn, secret []byte, nlocal int) (frame, error) {
	if err := sys.SameUser(c); err != nil {
		return frame{}, err
	}
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	defer c.SetReadDeadline(time.Time{})
	f, err := readFrame(c, frameHello)
	if err != nil {
		return f, err
	}
	given := make([]byte, secretLen)
	if _, err := io.ReadFull(c, given); err != nil {
		return f, err
	}
	if subtle.ConstantTimeCompare(given, secret) != 1 || int(f.from) >= nlocal {
		return f, errors.New("wrong secret")
	}
	return f, nil
}

// hello is the first frame that a rank sends on a connection to another one.
type hello struct {
	purpose   uint64
	self      int
	secret    []byte
	spaceLeft int64 // bytes of address space that the rank has left for the arena
}

// dialRank connects to a rank's socket and sends the hello. Strangers may fill the backlog of the
// socket, so dialRank repeats a connection that fails until the rank has accepted others.
func dialRank(name string, h hello) (c *net.UnixConn, err error) {
	return dialRankWithin(joinTimeout, name, h)
}

// dialRankWithin is dialRank that repeats a connection for so long.
func dialRankWithin(limit time.Duration, name string, h hello) (c *net.UnixConn, err error) {
	err = acceptqueue.Redial(limit, nil, func(time.Time) (err error) {
		c, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: "@" + name, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := sys.SameUser(c); err != nil {
		c.Close()
		return nil, err
	}
	first := append(frame{kind: frameHello, from: uint32(h.self), a: h.purpose,
		b: uint64(h.spaceLeft)}.marshal(), h.secret...)
	if err := sys.Send(c, first, nil); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}
