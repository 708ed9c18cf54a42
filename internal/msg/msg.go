// SPDX-License-Identifier: BSD-3-Clause

// The operations. All are collective over the ranks that take part, except Send and Recv.
package msg

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"libarmci/internal/core"
	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// scopeTeam finds the team of a scope; nil if the caller is not in it.
func scopeTeam(g *core.Group, s Scope) transport.Team {
	switch s {
	case Node:
		return g.NodeTeam()
	case Masters:
		return g.Masters()
	}
	return g.Team()
}

// rootOf is the place of a member in the team of a scope, -1 if it is not in it.
func rootOf(g *core.Group, s Scope, member int) int {
	node, place := g.NodeAndIndex(member)
	switch {
	case s == All:
		return member
	case s == Node && node == nodeIndex(g):
		return place
	case s == Masters && place == 0:
		return node
	}
	return -1
}

// nodeIndex is the number of the caller's node among the nodes of the group.
func nodeIndex(g *core.Group) int {
	node, _ := g.NodeAndIndex(g.Me)
	return node
}

// Barrier waits for all members of a group.
func Barrier(g *core.Group) error {
	team := g.Team()
	if team == nil {
		return notMember(g)
	}
	team.Barrier()
	return nil
}

func notMember(g *core.Group) error {
	return argError("group", "the calling rank is not a member of group %d", g.ID)
}

// Bcast copies n bytes of the root, a world rank of the scope, to all ranks of the scope.
func Bcast(g *core.Group, s Scope, buf unsafe.Pointer, n, root int) error {
	if n < 0 {
		return argError("len", "%d is negative", n)
	}
	from := g.RankOf(transport.Rank(root))
	if from < 0 {
		return argError("root", "rank %d is not a member of the group", root)
	}
	team := scopeTeam(g, s)
	switch {
	case g.Team() == nil:
		return notMember(g)
	case team == nil || n == 0:
		return nil
	case buf == nil:
		return argError("buffer", "null pointer")
	}
	if team.Size() == 1 {
		return nil
	}
	at := rootOf(g, s, from)
	if at < 0 {
		return argError("root", "rank %d is not in the scope", root)
	}
	team.Bcast(buf, int64(n), at)
	return nil
}

// Gop reduces n elements over a scope, in place, on all ranks of it.
func Gop(g *core.Group, s Scope, x unsafe.Pointer, n int, word string, typeCode int) error {
	if n < 0 {
		return argError("n", "%d is negative", n)
	}
	t, err := TypeOf(typeCode)
	if err != nil {
		return err
	}
	op, err := OpOf(word, t)
	if err != nil {
		return err
	}
	team := scopeTeam(g, s)
	switch {
	case g.Team() == nil:
		return notMember(g)
	case team == nil || n == 0:
		return nil
	case x == nil:
		return argError("x", "null pointer")
	}
	team.Allreduce(x, int64(n), int(t), int(op))
	return nil
}

// Sel copies n bytes at x, of the rank whose first element of the given type is the least or the
// greatest among contributing ranks, to all ranks of a scope; of equal ones it takes the lowest
// rank's. If no rank contributes, x is unchanged.
func Sel(g *core.Group, s Scope, x unsafe.Pointer, n int, word string, typeCode int,
	contribute bool) error {
	t, err := TypeOf(typeCode)
	if err != nil {
		return err
	}
	op, err := OpOf(word, t)
	if err != nil {
		return err
	}
	if op != kernel.Max && op != kernel.Min {
		return argError("op", "%q: only min and max can select", word)
	}
	if size := kernel.TypeSize(t); n < size {
		return argError("n", "%d bytes are less than the first element", n)
	}
	if x == nil {
		return argError("x", "null pointer")
	}
	team := scopeTeam(g, s)
	if team == nil || team.Size() == 1 {
		return nil
	}
	best := winningBid(team.Allgather(encodeBid(x, t, contribute)), t, op == kernel.Max)
	if best >= 0 {
		team.Bcast(x, int64(n), best)
	}
	return nil
}

// A bid is 16 bytes: the first element, then 1 if its rank contributes.
const bidBytes = 16

func encodeBid(x unsafe.Pointer, t kernel.Type, contribute bool) []byte {
	b := make([]byte, bidBytes)
	copy(b, unsafe.Slice((*byte)(x), kernel.TypeSize(t)))
	if contribute {
		b[8] = 1
	}
	return b
}

// winningBid is the index of the best bid, the first of equal ones; -1 if no member has
// contributed.
func winningBid(bids []byte, t kernel.Type, greatest bool) int {
	best := -1
	for i := 0; i*bidBytes < len(bids); i++ {
		b := bids[i*bidBytes:]
		if b[8] == 0 {
			continue
		}
		if best < 0 || isBetterBid(b, bids[best*bidBytes:], t, greatest) {
			best = i
		}
	}
	return best
}

// isBetterBid tells whether the value of bid a is greater than that of b, or smaller.
func isBetterBid(a, b []byte, t kernel.Type, greatest bool) bool {
	if !greatest {
		a, b = b, a
	}
	switch t {
	case kernel.Int:
		return int32(binary.NativeEndian.Uint32(a)) > int32(binary.NativeEndian.Uint32(b))
	case kernel.Float:
		return math.Float32frombits(binary.NativeEndian.Uint32(a)) > math.Float32frombits(
			binary.NativeEndian.Uint32(b))
	case kernel.Double:
		return math.Float64frombits(binary.NativeEndian.Uint64(a)) > math.Float64frombits(
			binary.NativeEndian.Uint64(b))
	default:
		return int64(binary.NativeEndian.Uint64(a)) > int64(binary.NativeEndian.Uint64(b))
	}
}

// Send sends a message to a world rank, possibly the caller's own.
func Send(r *core.Runtime, tag int, body []byte, to int) error {
	if err := checkRank(r, "to", to); err != nil {
		return err
	}
	return r.Send(transport.Rank(to), int64(tag), body)
}

// Recv receives the oldest message of a tag from a world rank, or from any (-1). It returns the
// source and the length.
func Recv(r *core.Runtime, tag int, body []byte, from int) (source, n int, err error) {
	if from >= 0 {
		if err := checkRank(r, "from", from); err != nil {
			return 0, 0, err
		}
	}
	l, err := r.Recv(transport.Rank(max(from, -1)), int64(tag), body)
	if errors.Is(err, transport.ErrTooLong) {
		return int(l.From), l.Total,
			argError("buflen", "the message from rank %d has %d bytes, the buffer %d",
				l.From, l.Total, len(body))
	}
	return int(l.From), l.Total, err
}

func checkRank(r *core.Runtime, arg string, proc int) error {
	if proc < 0 || proc >= r.N {
		return &core.ArgError{Arg: arg, Text: fmt.Sprintf("rank %d is outside 0..%d", proc,
			r.N-1), Code: core.CodeProc}
	}
	return nil
}

// RangeBcast is a broadcast among n consecutive members of a group that begins with member
// `master`, its root.
func RangeBcast(r *core.Runtime, g *core.Group, body []byte, master, n int) error {
	if master < 0 || n < 1 || master+n > g.Size() {
		return argError("grp_clus_nproc", "members %d..%d are outside a group of %d",
			master,
			master+n-1, g.Size())
	}
	if g.Me < master || g.Me >= master+n {
		return nil
	}
	// A binomial tree whose root is the master: the cost grows with the logarithm of n.
	at, step := g.Me-master, 1
	for ; step < n; step *= 2 {
		if at&step == 0 {
			continue
		}
		if _, err := r.Recv(g.Ranks[g.Me-step], core.TagRange, body); err != nil {
			return err
		}
		break
	}
	for step /= 2; step > 0; step /= 2 {
		if at+step >= n {
			continue
		}
		if err := r.Send(g.Ranks[g.Me+step], core.TagRange, body); err != nil {
			return err
		}
	}
	return nil
}

// Bintree is the caller's place in a binary tree over a scope of the world: root, parent and
// children, -1 for none; all -1 outside the scope.
func Bintree(r *core.Runtime, s Scope) (root, up, left, right int) {
	ranks := r.Topo.Mine()
	at := r.Topo.Local(r.Me)
	switch s {
	case All:
		ranks, at = nil, int(r.Me)
	case Masters:
		masters := make([]transport.Rank, len(r.Topo.Nodes))
		for i, n := range r.Topo.Nodes {
			masters[i] = n[0]
		}
		if r.Topo.Local(r.Me) != 0 {
			return -1, -1, -1, -1
		}
		ranks, at = masters, r.Topo.MyNode()
	}
	n := r.N
	if ranks != nil {
		n = len(ranks)
	}
	rank := func(i int) int {
		switch {
		case i < 0 || i >= n:
			return -1
		case ranks == nil:
			return i
		}
		return int(ranks[i])
	}
	up = -1
	if at > 0 {
		up = rank((at - 1) / 2)
	}
	return rank(0), up, rank(2*at + 1), rank(2*at + 2)
}
