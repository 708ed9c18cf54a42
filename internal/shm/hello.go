// SPDX-License-Identifier: BSD-3-Clause

// The frames on connections between ranks of a node, and the hello that begins each: only processes
// of the same user that know the job's secret are accepted. It must not know what connections are
// used for.
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
	"libarmci/internal/sock"
)

// A frame on a control connection, little-endian:
//
//	0 uint32 kind   4 uint32 local rank of the sender   8 uint64 a   16 uint64 b   24 secret (hello only, 16 bytes)
const (
	frameBytes = 24
	secretLen  = 16
)

const (
	// a: purpose, b: address space that the sender has left for the arena
	fHello = iota + 0x41524d31
	fMap   // a: bytes, b: address of a place to reserve
	fVote  // a: 1 = reserved or mapped, 0 = refused
	// a: 1 = all have reserved, 0 = try the next place; after the files: all is laid out
	fCommit
	fFiles // carries a files of the arena, b are still to come
	fBye   // a: 1 = finalised, 0 = left without
)

const (
	purposeJoin = iota
	purposeMessages
)

type frame struct {
	kind, from uint32
	a, b       uint64
}

func (f frame) encode() []byte {
	b := make([]byte, frameBytes)
	binary.LittleEndian.PutUint32(b, f.kind)
	binary.LittleEndian.PutUint32(b[4:], f.from)
	binary.LittleEndian.PutUint64(b[8:], f.a)
	binary.LittleEndian.PutUint64(b[16:], f.b)
	return b
}

func decode(b []byte) frame {
	return frame{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]),
		binary.LittleEndian.Uint64(b[8:]),
		binary.LittleEndian.Uint64(b[16:])}
}

func readFrame(c net.Conn, kind uint32) (frame, error) {
	b := make([]byte, frameBytes)
	if _, err := io.ReadFull(c, b); err != nil {
		return frame{}, err
	}
	f := decode(b)
	if kind != 0 && f.kind != kind {
		return f, fmt.Errorf("frame of kind %#x where %#x was expected", f.kind, kind)
	}
	return f, nil
}

// admit reads a caller's hello and checks user and secret. A stranger's connection is closed
// without an answer.
func admit(c *net.UnixConn, secret []byte, nlocal int) (frame, error) {
	if err := sock.SameUser(c); err != nil {
		return frame{}, err
	}
	c.SetReadDeadline(time.Now().Add(5 * time.Second))
	defer c.SetReadDeadline(time.Time{})
	f, err := readFrame(c, fHello)
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

// hello is how a rank introduces itself to another one.
type hello struct {
	purpose uint64
	self    int
	secret  []byte
	left    int64 // bytes of address space
}

// dial connects to a rank's socket and sends the hello. Strangers may fill the backlog of the
// socket, which makes connecting fail until the rank accepts: dial connects again until then.
func dial(name string, h hello) (c *net.UnixConn, err error) {
	err = acceptqueue.Redial(joinTimeout, nil, func(time.Time) (err error) {
		c, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: "@" + name, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := sock.SameUser(c); err != nil {
		c.Close()
		return nil, err
	}
	first := append(frame{kind: fHello, from: uint32(h.self), a: h.purpose,
		b: uint64(h.left)}.encode(), h.secret...)
	if err := sock.Send(c, first, nil); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}
