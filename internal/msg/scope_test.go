// SPDX-License-Identifier: BSD-3-Clause

// Scopes on several nodes: their members, and that collectives of one scope do not disturb another.
package msg

import (
	"slices"
	"testing"

	"libarmci/internal/core"
	"libarmci/internal/transport"
)

// masters are the first members of a group on each of its nodes.
func (r *rank) masters(g *core.Group) []transport.Rank {
	var all []transport.Rank
	for i, w := range g.Ranks {
		if !slices.ContainsFunc(g.Ranks[:i],
			func(v transport.Rank) bool { return r.Topo.Node(v) == r.Topo.Node(w) }) {
			all = append(all, w)
		}
	}
	return all
}

// here are the members on the caller's node.
func (r *rank) here(g *core.Group) []transport.Rank {
	return slices.DeleteFunc(slices.Clone(g.Ranks),
		func(w transport.Rank) bool { return !r.Topo.SameNode(w) })
}

// TestScopes shows the members of all scopes of two groups, on nodes of all kinds.
func TestScopes(t *testing.T) {
	everySpread(t, 6, func(r *rank) {
		g, err := r.GroupCreate(r.world, []int32{4, 5, 2, 1, 3})
		r.must(err)
		groups := []*core.Group{r.world, g}
		if r.Me == 0 {
			groups = groups[:1]
		}
		for _, g := range groups {
			r.scope(g, All, g.Ranks)
			r.scope(g, Node, r.here(g))
			r.scope(g, Masters, r.masters(g))
		}
		r.must(r.GroupFree(g.ID))
	})
}

// scope tries the collectives of a scope that has these ranks.
func (r *rank) scope(g *core.Group, s Scope, ranks []transport.Rank) {
	inside := slices.Contains(ranks, r.Me)
	sum, top := int64(0), int64(0)
	for _, w := range ranks {
		sum += int64(w)
		top = max(top, int64(w))
	}
	expect := func(what string, got, want int64) {
		if !inside {
			want = int64(r.Me)
		}
		if got != want {
			r.wrong("group %v, scope %d: %s gives %d, expected %d", g.Ranks, s, what,
				got, want)
		}
	}
	x := []int64{int64(r.Me)}
	r.must(Gop(g, s, ptr(x), 1, "+", 1))
	expect("sum", x[0], sum)
	for _, root := range ranks {
		x = []int64{int64(r.Me)}
		r.must(Bcast(g, s, ptr(x), 8, int(root)))
		expect("broadcast", x[0], int64(root))
	}
	y := make([]int64, 4)
	y[0], y[3] = int64(r.Me), int64(r.Me)
	r.must(Sel(g, s, ptr(y), 32, "max", 1, true))
	expect("selection", y[3], top)
}

// A root outside the scope is a mistake where the scope has more than one member.
func TestRootOutsideScope(t *testing.T) {
	spread(t, 4, func(r int) int { return r / 2 }, func(r *rank) {
		x := []int64{0}
		other := (int(r.Me) + 2) % 4
		wantArg(r, "node", Bcast(r.world, Node, ptr(x), 8, other), "root", core.CodeOp,
			"is not in the scope")
		err := Bcast(r.world, Masters, ptr(x), 8, 1)
		if r.Me%2 == 0 {
			wantArg(r, "masters", err, "root", core.CodeOp, "is not in the scope")
		} else {
			r.must(err)
		}
	})
}

// The trees of the scopes on two nodes of three.
func TestBintreeOnNodes(t *testing.T) {
	type place struct{ root, up, left, right int }
	want := map[Scope][]place{
		Node: {{0, -1, 2, 4}, {1, -1, 3, 5}, {0, 0, -1, -1}, {1, 1, -1, -1},
			{0, 0, -1, -1}, {1, 1, -1, -1}},
		Masters: {{0, -1, 1, -1}, {0, 0, -1, -1}, {-1, -1, -1, -1}, {-1, -1, -1, -1},
			{-1, -1, -1, -1}, {-1, -1, -1, -1}},
	}
	spread(t, 6, func(r int) int { return r % 2 }, func(r *rank) {
		for s, places := range want {
			var p place
			if p.root, p.up, p.left, p.right = Bintree(r.Runtime,
				s); p != places[r.Me] {
				r.wrong("scope %d: %+v, expected %+v", s, p, places[r.Me])
			}
		}
	})
}
