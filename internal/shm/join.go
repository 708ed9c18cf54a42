// SPDX-License-Identifier: BSD-3-Clause

// How the ranks of a node come to share one arena: the lowest rank (the leader) makes it and hands it to the others
// over an abstract unix socket, and all agree on an address that is free in every one of them. Who is let in: hello.go.
package shm

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
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

// errGone is a member that has ended, or does not answer, in the middle of the joining: no other place would help.
var errGone = errors.New("has ended or does not answer while the ranks of this node join")

// lead makes the arena and brings all members to map it. Returned connections are indexed by local number.
func (d *Door) lead(o *Options) (int, place, []*net.UnixConn, error) {
	conns, err := d.gather(o)
	if err == nil {
		var fd int
		var p place
		if fd, p, err = settle(o, conns); err == nil {
			return fd, p, conns, nil
		}
	}
	closeAll(conns)
	return -1, place{}, nil, err
}

func closeAll(conns []*net.UnixConn) {
	for _, c := range conns {
		if c != nil {
			c.Close()
		}
	}
}

// settle tries one place after the other until all can map the arena there.
func settle(o *Options, conns []*net.UnixConn) (int, place, error) {
	last := fmt.Errorf("an arena of %d bytes is too small, or too much for the limit of address space", o.Arena)
	for _, p := range places(o.Arena, o.Base) {
		fd, err := newFile(p.bytes)
		if err != nil {
			return -1, p, err
		}
		if last = offer(fd, p, conns, o.Ranks); last == nil {
			return fd, p, nil
		}
		unix.Close(fd)
		if errors.Is(last, errGone) {
			return -1, p, last
		}
	}
	return -1, place{}, fmt.Errorf("%w: no place for the shared arena in all ranks of this node (%v); "+
		"set ARMCI_SHM_BASE or ARMCI_SHM_ARENA, or raise the limit of address space (ulimit -v)", transport.ErrNoMemory, last)
}

// gather accepts every other rank of the node.
func (d *Door) gather(o *Options) ([]*net.UnixConn, error) {
	conns := make([]*net.UnixConn, len(o.Ranks))
	d.l.SetDeadline(time.Now().Add(joinTimeout))
	defer d.l.SetDeadline(time.Time{})
	for n := 1; n < len(o.Ranks); {
		c, err := d.l.AcceptUnix()
		if err != nil {
			return conns, fmt.Errorf("wait for the ranks of this node: %w", err)
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
func offer(fd int, p place, conns []*net.UnixConn, ranks []transport.Rank) error {
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
		c.SetReadDeadline(time.Now().Add(joinTimeout))
		f, rerr := readFrame(c, fVote)
		c.SetReadDeadline(time.Time{})
		if rerr != nil {
			if mapped {
				unmap(p)
			}
			return fmt.Errorf("rank %d %w (%w)", ranks[i], errGone, rerr)
		}
		if f.a != 1 && err == nil {
			err = fmt.Errorf("rank %d cannot map %d bytes at %#x", ranks[i], p.bytes, p.base)
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
			c.Close()
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
