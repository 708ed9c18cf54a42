// SPDX-License-Identifier: BSD-3-Clause

// How the ranks of a node agree on one arena. The lowest rank, the leader, offers address ranges
// over an abstract unix socket until one is free in all ranks (votes.go). Then it sends
// the files (files.go). hello.go decides which connections are accepted.
package shm

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"libarmci/internal/acceptqueue"
	"libarmci/internal/transport"
)

const (
	joinTimeout   = 60 * time.Second
	refuseTimeout = time.Second // for the leader to accept a connection that refuses
)

// Listener is a rank's listening socket. Its name is published to the ranks of the node before they
// join.
type Listener struct {
	Name   string
	socket *net.UnixListener
}

// Listen opens a listening socket under a random abstract name.
func Listen() (*Listener, error) {
	var r [12]byte
	rand.Read(r[:])
	name := "armci-" + hex.EncodeToString(r[:])
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: "@" + name, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("listen for the ranks of this node: %w", err)
	}
	return &Listener{name, l}, nil
}

// Close stops listening.
func (d *Listener) Close() { d.socket.Close() }

// createAsLeader creates the arena and has all members map it. It returns the file of the leader's
// slice and the connections by local number.
func (d *Listener) createAsLeader(o *Options) (int, arenaPlace, []*net.UnixConn, error) {
	conns, left, err := d.acceptMembers(o)
	if err == nil {
		var fd int
		var p arenaPlace
		if fd, p, err = createArena(o, conns, left); err == nil {
			return fd, p, conns, nil
		}
	}
	closeAll(conns)
	return -1, arenaPlace{}, nil, err
}

func closeAll(conns []*net.UnixConn) {
	for _, c := range conns {
		if c != nil {
			c.Close()
		}
	}
}

// createArena finds a place for the arena and creates it there.
func createArena(o *Options, conns []*net.UnixConn, left spaceLeft) (int, arenaPlace, error) {
	p, err := choosePlace(o, conns, left)
	if err != nil {
		return -1, p, err
	}
	fd := -1
	sizes, err := fileSizes(p.bytes, len(o.Ranks), o.World)
	if err == nil {
		fd, err = distribute(p, sizes, conns, o.Ranks)
	}
	if err != nil {
		unmap(p)
	}
	return fd, p, err
}

// choosePlace offers one place after the other until all ranks have reserved one.
func choosePlace(o *Options, conns []*net.UnixConn, left spaceLeft) (arenaPlace, error) {
	bytes, last := arenaBytes(o, left)
	if last != nil {
		return arenaPlace{}, fmt.Errorf("%w: %w", transport.ErrNoMemory, last)
	}
	for _, p := range arenaPlaces(bytes, o.Base) {
		if last = offerPlace(p, conns, o.Ranks); last == nil {
			return p, nil
		}
		if errors.Is(last, errMemberLost) || errors.Is(last, errNotTold) {
			return p, last
		}
	}
	return arenaPlace{}, fmt.Errorf("%w: no place for the shared arena in all ranks of this "+
		"node (%v); "+
		"set ARMCI_SHM_BASE or ARMCI_SHM_ARENA", transport.ErrNoMemory, last)
}

// acceptMembers accepts the connections of all members. It also returns the least address space
// that a rank of the node has left for the arena.
func (d *Listener) acceptMembers(o *Options) ([]*net.UnixConn, spaceLeft, error) {
	conns := make([]*net.UnixConn, len(o.Ranks))
	left := spaceLeft{bytes: ownSpaceLeft()}
	d.socket.SetDeadline(time.Now().Add(joinTimeout))
	defer d.socket.SetDeadline(time.Time{})
	var refused error
	for n := 1; n < len(o.Ranks) && refused == nil; {
		come, err := acceptqueue.AcceptUser(d.socket)
		if err != nil {
			return conns, left, fmt.Errorf("wait for the ranks of this node: %w", err)
		}
		for _, conn := range come {
			c := conn.(*net.UnixConn)
			f, err := admit(c, o.Secret, len(o.Ranks))
			if err == nil && f.a == purposeRefuse { // its error says why
				refused = fmt.Errorf("rank %d %w (%w)", o.Ranks[f.from],
					errMemberLost, io.EOF)
			}
			if err != nil || f.a != purposeJoin || conns[f.from] != nil {
				c.Close()
				continue
			}
			conns[f.from] = c
			if int64(f.b) < left.bytes {
				left = spaceLeft{int64(f.b), int(f.from)}
			}
			n++
		}
	}
	return conns, left, refused
}

// joinAsMember receives the arena from the leader: it answers offers until one is accepted by all
// ranks, then maps the files. It returns the file of this rank's slice and the connection.
func (d *Listener) joinAsMember(o *Options) (fd int, p arenaPlace, c *net.UnixConn, err error) {
	if c, err = dialRank(o.Listeners[0], hello{purposeJoin, o.Self, o.Secret,
		ownSpaceLeft()}); err != nil {
		d.refuse(o)
		return -1, p, nil, fmt.Errorf("reach rank %d, the leader of this node: %w",
			o.Ranks[0], err)
	}
	c.SetReadDeadline(time.Now().Add(joinTimeout))
	defer c.SetReadDeadline(time.Time{})
	for reserved := false; !reserved && err == nil; {
		if p, reserved, err = answerOffer(c, o.Self); err != nil {
			d.refuse(o)
		}
	}
	if err == nil {
		if fd, err = mapReceivedFiles(c, p, o.Self); err != nil {
			unmap(p)
		}
	}
	if err != nil {
		c.Close()
		return -1, p, nil, fmt.Errorf("take the arena from rank %d: %w", o.Ranks[0], err)
	}
	return fd, p, c, nil
}

// refuse tells the leader that this rank does not join. It may have no connection of this rank and
// would wait for one. The listening socket is closed first, since there may be no descriptor left.
func (d *Listener) refuse(o *Options) {
	d.Close()
	c, err := dialRankWithin(refuseTimeout, o.Listeners[0],
		hello{purpose: purposeRefuse, self: o.Self, secret: o.Secret})
	if err == nil {
		c.Close()
	}
}
