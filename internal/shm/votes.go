// SPDX-License-Identifier: BSD-3-Clause

// How the ranks of a node agree while they join: the leader offers a place, each member votes, and
// the leader sends the verdict. They agree once more when they have attached to the arena.
package shm

import (
	"errors"
	"fmt"
	"net"
	"time"

	"libarmci/internal/sys"
	"libarmci/internal/transport"
)

// errMemberLost reports a member that has ended or does not answer while joining: no other place is
// tried.
var errMemberLost = errors.New("has ended or does not answer while the ranks of this node join")

// errNotTold reports a member that could not be sent a frame, for which it waits: no other place is
// tried.
var errNotTold = errors.New("cannot be told how the ranks of this node join")

// sendMembers sends all members a frame.
func sendMembers(f frame, conns []*net.UnixConn, ranks []transport.Rank) error {
	for i, c := range conns {
		if c == nil {
			continue
		}
		if err := sys.Send(c, f.marshal(), nil); err != nil {
			return fmt.Errorf("rank %d %w (%w)", ranks[i], errNotTold, err)
		}
	}
	return nil
}

// readVotes reads the votes of all members. It returns the lowest local number of those that
// refuse, -1 if none does.
func readVotes(conns []*net.UnixConn, ranks []transport.Rank) (refusing int, err error) {
	refusing = -1
	for i, c := range conns {
		if c == nil {
			continue
		}
		c.SetReadDeadline(time.Now().Add(joinTimeout))
		f, err := readFrame(c, frameVote)
		c.SetReadDeadline(time.Time{})
		if err != nil {
			return refusing, fmt.Errorf("rank %d %w (%w)", ranks[i], errMemberLost, err)
		}
		if f.a != 1 && refusing < 0 {
			refusing = i
		}
	}
	return refusing, nil
}

// offerPlace reserves p in this process and in all members, or in none of them.
func offerPlace(p arenaPlace, conns []*net.UnixConn, ranks []transport.Rank) error {
	mine := reserveAddresses(p)
	err := sendMembers(frame{kind: frameOffer, a: uint64(p.bytes), b: uint64(p.base)}, conns,
		ranks)
	refusing := -1
	if err == nil {
		refusing, err = readVotes(conns, ranks)
	}
	if err == nil {
		verdict := frame{kind: frameCommit}
		if mine == nil && refusing < 0 {
			verdict.a = 1
		}
		err = sendMembers(verdict, conns, ranks)
	}
	switch {
	case err != nil:
	case mine != nil:
		err = mine
	case refusing >= 0:
		err = fmt.Errorf("rank %d cannot map %d bytes at %#x", ranks[refusing], p.bytes,
			p.base)
	}
	if err != nil && mine == nil {
		unmap(p)
	}
	return err
}

// answerOffer answers one offer of the leader, and reports whether all ranks have reserved the
// place.
func answerOffer(c *net.UnixConn, self int) (arenaPlace, bool, error) {
	f, err := readFrame(c, frameOffer)
	if err != nil {
		return arenaPlace{}, false, fmt.Errorf("no usable place was found (%w)", err)
	}
	p := arenaPlace{int64(f.a), uintptr(f.b)}
	vote := frame{kind: frameVote, from: uint32(self)}
	reserved := reserveAddresses(p) == nil
	if reserved {
		vote.a = 1
	}
	var verdict frame
	if err = sys.Send(c, vote.marshal(), nil); err == nil {
		verdict, err = readFrame(c, frameCommit)
	}
	if reserved && verdict.a == 1 {
		return p, true, nil
	}
	if reserved {
		unmap(p)
	}
	return p, false, err
}

// agreeAttached is collective over the node: it succeeds if all ranks have attached to the arena.
// From then on they wait for each other in shared memory, where a wait does not end if a rank never
// attaches. A rank that fails closes its connections, which the caller does.
func (m *Node) agreeAttached() error {
	if m.opt.Self != 0 {
		vote := frame{kind: frameVote, from: uint32(m.opt.Self), a: 1}
		err := sys.Send(m.leaderConn, vote.marshal(), nil)
		if err == nil {
			_, err = readFrame(m.leaderConn, frameCommit)
		}
		if err != nil {
			err = fmt.Errorf("attach to the arena with rank %d: %w", m.opt.Ranks[0],
				err)
		}
		return err
	}
	if _, err := readVotes(m.memberConns, m.opt.Ranks); err != nil {
		return err
	}
	return sendMembers(frame{kind: frameCommit, a: 1}, m.memberConns, m.opt.Ranks)
}
