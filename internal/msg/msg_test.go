// SPDX-License-Identifier: BSD-3-Clause

// Collectives and messages over a stand-in node: the members of each scope, results compared with
// plain loops, and every mistake in the arguments.
package msg

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"libarmci/internal/config"
	"libarmci/internal/core"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/testutil/transporttest"
)

// rank is a running rank of a test.
type rank struct {
	*core.Runtime
	*testing.T
	world *core.Group
}

func world(t *testing.T, n int, f func(r *rank)) {
	t.Helper()
	spread(t, n, func(int) int { return 0 }, f)
}

// everySpread runs f on n ranks of which all, some and none share a node, neighbours or not.
func everySpread(t *testing.T, n int, f func(r *rank)) {
	for name, node := range map[string]func(rank int) int{
		"one node": func(int) int { return 0 }, "pairs": func(r int) int { return r / 2 },
		"cyclic":      func(r int) int { return r % 2 },
		"three nodes": func(r int) int { return r % 3 },
		"a node each": func(r int) int { return r },
	} {
		t.Run(name, func(t *testing.T) { spread(t, n, node, f) })
	}
}

// spread runs f at n ranks, which are on the nodes that node returns.
func spread(t *testing.T, n int, node func(rank int) int, f func(r *rank)) {
	t.Helper()
	leaktest.Check(t)
	c := transporttest.NewCluster(n)
	c.Wire = &transporttest.Options{Ordered: true}
	t.Cleanup(c.Close)
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			cfg, err := config.LoadFrom([]string{fmt.Sprintf("ARMCI_NODE=n%d",
				node(i))})
			if err != nil {
				panic(err)
			}
			rt, err := core.Start(cfg, c.Job(i), c.Platform(i))
			if err != nil {
				panic(err)
			}
			w, _ := rt.Group(core.World)
			f(&rank{rt, t, w})
			if err := rt.Finalize(); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
}

func (r *rank) must(err error) {
	r.Helper()
	if err != nil {
		panic(fmt.Sprintf("rank %d: %v", r.Me, err))
	}
}

func (r *rank) wrong(format string, a ...any) {
	r.Helper()
	r.Errorf("rank %d: %s", r.Me, fmt.Sprintf(format, a...))
}

func ptr[T any](x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }

// TestBcast shows that every root reaches all members of its scope.
func TestBcast(t *testing.T) {
	world(t, 3, func(r *rank) {
		for _, s := range []Scope{All, Node} {
			for root := range 3 {
				x := []int64{int64(r.Me), 7}
				r.must(Bcast(r.world, s, ptr(x), 16, root))
				if x[0] != int64(root) || x[1] != 7 {
					r.wrong("scope %d, root %d: %v", s, root, x)
				}
			}
		}
		x := []int64{int64(r.Me)}
		r.must(Bcast(r.world, Masters, ptr(x), 8, 0)) // one master: nothing moves
		r.must(Bcast(r.world, All, nil, 0, 0))
		if x[0] != int64(r.Me) {
			r.wrong("%v", x)
		}
		wantArg(r, "size", Bcast(r.world, All, ptr(x), -1, 0), "len", core.CodeOp,
			"-1 is negative")
		wantArg(r, "root", Bcast(r.world, All, ptr(x), 8, 3), "root", core.CodeOp,
			"rank 3 is not a member")
		wantArg(r, "buffer", Bcast(r.world, All, nil, 8, 0), "buffer", core.CodeOp, "null")
	})
}

// All mistakes of a rank that is no member are told; the members do not notice.
func TestNonMember(t *testing.T) {
	everySpread(t, 3, func(r *rank) {
		g, err := r.GroupCreate(r.world, []int32{2, 0})
		r.must(err)
		x := []int32{int32(r.Me) + 1}
		if r.Me == 1 {
			wantArg(r, "barrier", Barrier(g), "group", core.CodeOp,
				"not a member of group")
			wantArg(r, "bcast", Bcast(g, All, ptr(x), 4, 0), "group", core.CodeOp,
				"not a member of group")
			wantArg(r, "gop", Gop(g, All, ptr(x), 1, "+", 0), "group", core.CodeOp,
				"not a member of group")
			wantArg(r, "root", Bcast(g, All, ptr(x), 4, 1), "root", core.CodeOp,
				"rank 1 is not a member")
		} else {
			r.must(Barrier(g))
			r.must(Gop(g, All, ptr(x), 1, "+", 0))
			if x[0] != 4 {
				r.wrong("sum %d", x[0])
			}
			x[0] = int32(r.Me)
			r.must(Bcast(g, All, ptr(x), 4, 2)) // the root is a world rank
			if x[0] != 2 {
				r.wrong("bcast %d", x[0])
			}
		}
		r.must(r.GroupFree(g.ID))
	})
}

// TestGop shows the results of all operators for all types.
func TestGop(t *testing.T) {
	everySpread(t, 3, func(r *rank) {
		me := int64(r.Me)
		for _, c := range []struct {
			word string
			want []int64 // of {rank+1, -rank, 3, rank&1}
		}{
			{"+", []int64{6, -3, 9, 1}}, {"*", []int64{6, 0, 27, 0}},
			{"max", []int64{3, 0, 3, 1}}, {"min", []int64{1, -2, 3, 0}},
			{"absmax", []int64{3, 2, 3, 1}}, {"absmin", []int64{1, 0, 3, 0}},
			{"or", []int64{3, -1, 3, 1}}, {"land", []int64{1, 0, 1, 0}},
		} {
			for _, typ := range []int{-101, 1, -102, 2} {
				x := []int64{me + 1, -me, 3, me & 1}
				r.must(Gop(r.world, All, ptr(x), 4, c.word, typ))
				if !slices.Equal(x, c.want) {
					r.wrong("%s of type %d: %v, expected %v", c.word, typ, x,
						c.want)
				}
			}
		}
		f := []float32{float32(me) / 4}
		r.must(Gop(r.world, All, ptr(f), 1, "+", -306))
		d := []float64{float64(me) - 1}
		r.must(Gop(r.world, All, ptr(d), 1, "absmax", 4))
		if f[0] != 0.75 || d[0] != 1 {
			r.wrong("float %v, double %v", f, d)
		}
	})
}

// Of the masters there is one: its own contribution is the result, made final; the others' memory
// stays.
func TestGopMasters(t *testing.T) {
	world(t, 2, func(r *rank) {
		x := []int32{-5, 4}
		r.must(Gop(r.world, Masters, ptr(x), 2, "absmax", -99))
		want := []int32{5, 4}
		if r.Me != 0 {
			want[0] = -5
		}
		if !slices.Equal(x, want) {
			r.wrong("%v", x)
		}
		r.must(Gop(r.world, All, nil, 0, "+", 0))
		wantArg(r, "number", Gop(r.world, All, ptr(x), -1, "+", 0), "n", core.CodeOp,
			"negative")
		wantArg(r, "null", Gop(r.world, All, nil, 1, "+", 0), "x", core.CodeOp, "null")
		wantArg(r, "type", Gop(r.world, All, ptr(x), 1, "+", 9), "type", core.CodeOp, "9")
		wantArg(r, "operator", Gop(r.world, All, ptr(x), 1, "?", 0), "op", core.CodeOp,
			"no operator")
	})
}

// TestSel shows which member is selected, with equal values and without contributions.
func TestSel(t *testing.T) {
	everySpread(t, 4, func(r *rank) {
		me := int64(r.Me)
		for _, c := range []struct {
			word       string
			first      []int64
			contribute []bool
			winner     int // -1: there is none
		}{
			// of equal ones the lowest rank
			{"max", []int64{1, 9, 9, 3}, []bool{true, true, true, true}, 1},
			{"min", []int64{1, 9, -9, 3}, []bool{true, true, true, true}, 2},
			{"min", []int64{1, 9, -9, 3}, []bool{true, true, false, true}, 0},
			{"max", []int64{1, 9, -9, 3}, []bool{false, false, true, false}, 2},
			{"max", []int64{1, 9, -9, 3}, []bool{false, false, false, false}, -1},
		} {
			for _, typ := range []int{-99, -101, -102, -306, -307} {
				x := make([]int64, 40) // the first element, then what goes with it
				setFirst(x, typ, c.first[me])
				x[39] = me
				r.must(Sel(r.world, All, ptr(x), 320, c.word, typ,
					c.contribute[me]))
				want := int64(c.winner)
				if c.winner < 0 {
					want = me
				}
				if x[39] != want {
					r.wrong("%s of %v (%v), type %d: rank %d wins, expected %d",
						c.word, c.first, c.contribute, typ, x[39], want)
				}
			}
		}
		x := make([]int64, 4)
		wantArg(r, "operator", Sel(r.world, All, ptr(x), 32, "+", 1, true), "op",
			core.CodeOp, "only min and max")
		wantArg(r, "size", Sel(r.world, All, ptr(x), 7, "max", 1, true), "n", core.CodeOp,
			"less than the first element")
		wantArg(r, "null", Sel(r.world, All, nil, 32, "max", 1, true), "x", core.CodeOp,
			"null")
		wantArg(r, "type", Sel(r.world, All, ptr(x), 32, "max", 77, true), "type",
			core.CodeOp, "77")
	})
}

// setFirst stores v as the first element of a type.
func setFirst(x []int64, typ int, v int64) {
	switch p := ptr(x); typ {
	case -99:
		*(*int32)(p) = int32(v)
	case -306:
		*(*float32)(p) = float32(v)
	case -307:
		*(*float64)(p) = float64(v)
	default:
		x[0] = v
	}
}

// TestSendRecv shows that messages are received by tag, from any or from one sender.
func TestSendRecv(t *testing.T) {
	everySpread(t, 3, func(r *rank) {
		for to := range 3 {
			r.must(Send(r.Runtime, 5, []byte{byte(r.Me), byte(to)}, to))
		}
		got := make([]byte, 8)
		var seen []int
		for range 2 {
			source, n, err := Recv(r.Runtime, 5, got, -1)
			r.must(err)
			if n != 2 || got[0] != byte(source) || got[1] != byte(r.Me) {
				r.wrong("%d bytes from %d: %v", n, source, got[:n])
			}
			seen = append(seen, source)
		}
		last := 3 - seen[0] - seen[1]
		source, n, err := Recv(r.Runtime, 5, got[:1], last)
		wantArg(r, "too long", err, "buflen", core.CodeOp,
			fmt.Sprintf("the message from rank %d has 2 bytes, the buffer 1", last))
		if source != last || n != 2 {
			r.wrong("too long: %d bytes from %d", n, source)
		}
		source, _, err = Recv(r.Runtime, 5, got, last)
		r.must(err)
		if source != last {
			r.wrong("from %d", source)
		}
		wantArg(r, "to", Send(r.Runtime, 1, nil, 3), "to", core.CodeProc, "rank 3")
		wantArg(r, "to", Send(r.Runtime, 1, nil, -1), "to", core.CodeProc, "rank -1")
		_, _, err = Recv(r.Runtime, 1, nil, 3)
		wantArg(r, "from", err, "from", core.CodeProc, "rank 3")
	})
}

// A broadcast among members 1..2 does not disturb the messages of an application.
func TestRangeBcast(t *testing.T) {
	everySpread(t, 4, func(r *rank) {
		g, err := r.GroupCreate(r.world, []int32{3, 2, 1, 0})
		r.must(err)
		r.must(Send(r.Runtime, 0, []byte("mine"), (int(r.Me)+1)%4))
		x := []byte{byte(r.Me)}
		r.must(RangeBcast(r.Runtime, g, x, 1, 2)) // world ranks 2 and 1
		want := byte(r.Me)
		if r.Me == 1 {
			want = 2
		}
		if x[0] != want {
			r.wrong("%d, expected %d", x[0], want)
		}
		got := make([]byte, 8)
		if _, n, err := Recv(r.Runtime, 0, got, -1); err != nil ||
			string(got[:n]) != "mine" {
			r.wrong("%q, %v", got[:n], err)
		}
		for _, c := range [][2]int{{-1, 2}, {0, 5}, {3, 2}, {0, 0}} {
			wantArg(r, "range", RangeBcast(r.Runtime, g, x, c[0], c[1]),
				"grp_clus_nproc", core.CodeOp, "outside a group of 4")
		}
		r.must(r.GroupFree(g.ID))
	})
}

// The tree has one root, and everybody else is a child of its parent.
func TestBintree(t *testing.T) {
	type place struct{ root, up, left, right int }
	for _, scope := range []Scope{All, Node, Masters} {
		places := make([]place, 6)
		world(t, 6, func(r *rank) {
			p := &places[r.Me]
			p.root, p.up, p.left, p.right = Bintree(r.Runtime, scope)
		})
		if scope == Masters {
			for i, p := range places {
				if want := (place{-1, -1, -1, -1}); i > 0 && p != want || i == 0 &&
					p != (place{0, -1, -1, -1}) {
					t.Errorf("masters: rank %d is at %+v", i, p)
				}
			}
			continue
		}
		for i, p := range places {
			if p.root != 0 || (p.up < 0) != (i == 0) {
				t.Errorf("scope %d: rank %d is at %+v", scope, i, p)
			}
			if p.up >= 0 && places[p.up].left != i && places[p.up].right != i {
				t.Errorf("scope %d: rank %d is no child of %d", scope, i, p.up)
			}
			for _, child := range []int{p.left, p.right} {
				if child >= 6 || child >= 0 && places[child].up != i {
					t.Errorf("scope %d: rank %d is not the parent of %d", scope,
						i, child)
				}
			}
		}
	}
}
