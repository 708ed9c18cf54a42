// SPDX-License-Identifier: BSD-3-Clause

// How the ranks of a node come to share one arena: the lowest rank (the leader) makes it and hands it to the others
// over an abstract unix socket, and all agree on an address that is free in every one of them.
// Only processes of the same user that know the job's secret are let in.
package shm

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
	"libarmci/internal/transport"
)

const joinTimeout = 60 * time.Second

// Door is a rank's listening socket. Its name is published to the ranks of the node before they join.
type Door struct {
	Name string
	l    *net.UnixListener
}

// OpenDoor listens under a random abstract name.
func OpenDoor() (*Door, error) {
	var r [12]byte
	rand.Read(r[:])
	name := "armci-" + hex.EncodeToString(r[:])
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: "@" + name, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen for the ranks of this node: %w", err)
	}
	return &Door{name, l}, nil
}

// Close stops listening.
func (d *Door) Close() { d.l.Close() }

// A frame on a control connection, little-endian:
//
//	0 uint32 kind   4 uint32 local rank of the sender   8 uint64 a   16 uint64 b   24 secret (hello only, 16 bytes)
const (
	frameBytes = 24
	secretLen  = 16
)

const (
	fHello  = iota + 0x41524d31 // a: purpose
	fMap                        // a: bytes, b: address; the first one carries the file
	fVote                       // a: 1 = mapped, 0 = refused
	fCommit                     // a: 1 = all have mapped, 0 = try the next place
	fBye                        // a: 1 = finalised, 0 = left without
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
	return frame{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint64(b[8:]),
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

// admit reads a caller's hello and checks user and secret. A stranger's connection is closed without an answer.
func admit(c *net.UnixConn, secret []byte, nlocal int) (frame, error) {
	if err := sameUser(c); err != nil {
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

func sameUser(c *net.UnixConn) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var cred *unix.Ucred
	var cerr error
	if err := raw.Control(func(fd uintptr) { cred, cerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return err
	}
	if cerr != nil {
		return cerr
	}
	if int(cred.Uid) != os.Geteuid() {
		return fmt.Errorf("connection from user %d", cred.Uid)
	}
	return nil
}

func call(name string, purpose uint64, self int, secret []byte) (*net.UnixConn, error) {
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: "@" + name, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := sameUser(c); err != nil {
		c.Close()
		return nil, err
	}
	hello := append(frame{kind: fHello, from: uint32(self), a: purpose}.encode(), secret...)
	if _, err := c.Write(hello); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// lead makes the arena and brings all members to map it. Returned connections are indexed by local number.
func (d *Door) lead(o *Options) (fd int, p place, conns []*net.UnixConn, err error) {
	if conns, err = d.gather(o); err != nil {
		return -1, p, nil, err
	}
	var last error
	for _, p = range places(o.Arena, o.Base) {
		if fd, err = newFile(p.bytes); err != nil {
			return -1, p, nil, err
		}
		if last = offer(fd, p, conns); last == nil {
			return fd, p, conns, nil
		}
		unix.Close(fd)
	}
	return -1, p, nil, fmt.Errorf("%w: no address is free for the shared arena in all ranks of this node (%v); set ARMCI_SHM_BASE or ARMCI_SHM_ARENA",
		transport.ErrNoMemory, last)
}

// gather accepts every other rank of the node.
func (d *Door) gather(o *Options) ([]*net.UnixConn, error) {
	conns := make([]*net.UnixConn, len(o.Ranks))
	d.l.SetDeadline(time.Now().Add(joinTimeout))
	defer d.l.SetDeadline(time.Time{})
	for n := 1; n < len(o.Ranks); {
		c, err := d.l.AcceptUnix()
		if err != nil {
			return nil, fmt.Errorf("wait for the ranks of this node: %w", err)
		}
		f, err := admit(c, o.Secret, len(o.Ranks))
		if err != nil || f.a != purposeJoin || conns[f.from] != nil {
			c.Close()
			continue
		}
		conns[f.from] = c
		n++
	}
	return conns, nil
}

// offer maps the file at p here and in all members, or nowhere.
func offer(fd int, p place, conns []*net.UnixConn) error {
	err := mapAt(fd, p)
	mapped := err == nil
	for _, c := range conns {
		if c != nil {
			c.WriteMsgUnix(frame{kind: fMap, a: uint64(p.bytes), b: uint64(p.base)}.encode(), unix.UnixRights(fd), nil)
		}
	}
	for i, c := range conns {
		if c == nil {
			continue
		}
		f, rerr := readFrame(c, fVote)
		if rerr != nil {
			return fmt.Errorf("local rank %d: %w", i, rerr)
		}
		if f.a != 1 && err == nil {
			err = fmt.Errorf("local rank %d cannot map at %#x", i, p.base)
		}
	}
	verdict := frame{kind: fCommit}
	if err == nil {
		verdict.a = 1
	} else if mapped {
		unmap(p)
	}
	for _, c := range conns {
		if c != nil {
			c.Write(verdict.encode())
		}
	}
	return err
}

// follow takes the arena from the leader.
func follow(o *Options) (fd int, p place, c *net.UnixConn, err error) {
	if c, err = call(o.Doors[0], purposeJoin, o.Self, o.Secret); err != nil {
		return -1, p, nil, fmt.Errorf("reach rank %d, the leader of this node: %w", o.Ranks[0], err)
	}
	c.SetReadDeadline(time.Now().Add(joinTimeout))
	defer c.SetReadDeadline(time.Time{})
	for {
		if fd, p, err = takeOffer(c, o.Self); err != nil {
			return -1, p, nil, fmt.Errorf("take the arena from rank %d: %w", o.Ranks[0], err)
		}
		if fd >= 0 {
			return fd, p, c, nil
		}
	}
}

// takeOffer handles one offer; fd is -1 when some rank refused it.
func takeOffer(c *net.UnixConn, self int) (int, place, error) {
	body, oob := make([]byte, frameBytes), make([]byte, unix.CmsgSpace(4))
	n, oobn, _, _, err := c.ReadMsgUnix(body, oob)
	if err != nil {
		return -1, place{}, err
	}
	f := decode(body)
	if n != frameBytes || f.kind != fMap {
		return -1, place{}, errors.New("no usable place was found")
	}
	fd, err := received(oob[:oobn])
	if err != nil {
		return -1, place{}, err
	}
	p := place{int64(f.a), uintptr(f.b)}
	vote := frame{kind: fVote, from: uint32(self)}
	mapped := mapAt(fd, p) == nil
	if mapped {
		vote.a = 1
	}
	if _, err := c.Write(vote.encode()); err != nil {
		return -1, p, err
	}
	verdict, err := readFrame(c, fCommit)
	if err == nil && verdict.a == 1 {
		return fd, p, nil
	}
	if mapped {
		unmap(p)
	}
	unix.Close(fd)
	return -1, p, err
}

func received(oob []byte) (int, error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(msgs) != 1 {
		return -1, errors.New("the offer carries no file")
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil || len(fds) != 1 {
		return -1, errors.New("the offer carries no file")
	}
	unix.CloseOnExec(fds[0])
	return fds[0], nil
}
