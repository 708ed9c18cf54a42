// SPDX-License-Identifier: BSD-3-Clause

// Far memory: transfers larger than a piece, memory of both kinds in one transfer, failures on the
// way, and frames that ask for what is impossible there.
package internode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// partlyMapped is memory of a node that turns out not to be mapped after so many bytes were moved.
type partlyMapped struct {
	transport.LocalMemory
	left atomic.Int64
	why  error
}

func (b *partlyMapped) moveOrFail(x *transport.Xfer, do func() error) error {
	if b.left.Add(-x.Bytes()) < 0 {
		return fmt.Errorf("some bytes: %w", b.why)
	}
	return do()
}

func (b *partlyMapped) Put(p transport.Peer, x *transport.Xfer) error {
	return b.moveOrFail(x, func() error { return b.LocalMemory.Put(p, x) })
}

func (b *partlyMapped) Get(p transport.Peer, x *transport.Xfer) error {
	return b.moveOrFail(x, func() error { return b.LocalMemory.Get(p, x) })
}

func (b *partlyMapped) Acc(p transport.Peer, x *transport.Xfer, s transport.Scale) error {
	return b.moveOrFail(x, func() error { return b.LocalMemory.Acc(p, x, s) })
}

func done(t *testing.T, start func(transport.Peer, *transport.Xfer) error,
	x *transport.Xfer) error {
	t.Helper()
	c := transporttest.Caller{T: t, Patience: patience}
	return c.Within(transporttest.Started(start, x))
}

// TestFarTransfersInPieces shows that a put and gets of several pieces arrive, in all shapes, and
// that concurrent gets end up in their places.
func TestFarTransfersInPieces(t *testing.T) {
	for name, o := range map[string]pipe.Options{"frames of any size": {},
		"delays":         {Delay: 100 * time.Microsecond, Divide: true, Room: 100 << 10},
		"bounded frames": {MaxFrame: 300 << 10, Credits: 4}} {
		t.Run(name, func(t *testing.T) {
			const n = 1<<20 + 13
			e := newEnds(t, pipe.New(o), nil, 2, 1)
			e.ConnectAll(t)
			far, near := e.Expose(t, 1, n), e.Private(2, 3*n)
			data, got := memory(near, n), memory(near+n, 2*n)
			for i := range data {
				data[i] = byte(i*31 + i>>8)
			}
			if err := done(t, e.Open[2].Put, plain(near, far, n)); err != nil {
				t.Fatal(err)
			}
			if err := e.Open[2].Fence(1); err != nil ||
				!bytes.Equal(memory(far, n), data) {
				t.Fatalf("put: %v", err)
			}
			rows := &transport.Xfer{Local: transport.Section{Base: near + n,
				Stride: []int32{1000}}, Count: []int32{1000, 800},
				Remote: transport.Section{Base: far + 8, Stride: []int32{1300}}}
			one, other := transporttest.Started(e.Open[2].Get, rows),
				transporttest.Started(e.Open[2].Get, plain(near+2*n, far, n))
			c := transporttest.Caller{T: t, Patience: patience}
			if err := errors.Join(c.Within(one), c.Within(other)); err != nil ||
				!bytes.Equal(got[n:], data) {
				t.Fatalf("get: %v", err)
			}
			for i := range 800 {
				if !bytes.Equal(got[i*1000:][:1000], data[8+i*1300:][:1000]) {
					t.Fatalf("row %d", i)
				}
			}
			if moved := e.Nodes[0].Moved(); moved != 2*n+800000 {
				t.Errorf("%d bytes were moved by the node's transport", moved)
			}
		})
	}
}

// TestFarMixed shows one transfer with the arena, the server's private memory and that of another
// rank.
func TestFarMixed(t *testing.T) {
	for _, o := range []pipe.Options{{}, {Direct: true, Shared: true, MaxFrame: 16 << 10,
		Credits: 16}} {
		e := newEnds(t, pipe.New(o), nil, 2, 1)
		e.ConnectAll(t)
		arena, far, near := e.Alloc(t, 1, 4096), e.Expose(t, 1, 4096), e.Private(2, 8192)
		for i := range 64 {
			memory(near, 64)[i] = byte(i + 1)
		}
		list := func(local uintptr) *transport.Xfer {
			return &transport.Xfer{Vector: []transport.Segments{{Local: []uintptr{local,
				local + 16, local + 32, local + 48},
				Remote: []uintptr{arena, far, far + 100, arena + 64}, Bytes: 16}}}
		}
		if err := errors.Join(done(t, e.Open[2].Put, list(near)),
			e.Open[2].Fence(1)); err != nil {
			t.Fatal(err)
		}
		if err := done(t, e.Open[2].Get, list(near+4096)); err != nil ||
			!bytes.Equal(memory(near, 64), memory(near+4096, 64)) {
			t.Fatalf("%v: %v", err, memory(near+4096, 64))
		}
		if memory(far+100, 1)[0] != 33 || memory(arena+64, 1)[0] != 49 {
			t.Error("it went elsewhere")
		}
	}
}

// TestFarUnmappedIsRefused shows that memory that is not mapped at its owner is refused, perhaps
// after a part of it was moved, and that other requests go on.
func TestFarUnmappedIsRefused(t *testing.T) {
	const n = 700 << 10
	mem, net := &partlyMapped{}, pipe.New(pipe.Options{})
	e := transporttest.NewEnds(t, []int{2, 1},
		func(info transport.OpenInfo) (transport.Transport, error) {
			if info.MyNode == 0 {
				mem.LocalMemory = info.Memory
				info.Memory = mem
			}
			return Open(net.Driver(), options(info, nil))
		})
	e.ConnectAll(t)
	far, near, tr := e.Expose(t, 1, n), e.Private(2, n), e.Open[2]
	one := int64(1)
	s := transport.Scale{Type: int(kernel.Long), Value: unsafe.Pointer(&one)}
	for _, c := range []struct {
		why  error
		want string
	}{{transport.ErrBadAddr, transport.ErrBadAddr.Error()}, {errors.New("a snag"), "a snag"}} {
		mem.why = c.why
		for what, do := range map[string]func() error{
			"get": func() error { return done(t, tr.Get, plain(near, far, n)) },
			"put": func() error {
				return errors.Join(done(t, tr.Put,
					plain(near, far, n)), tr.Fence(1))
			},
			"accumulate": func() error {
				return errors.Join(done(t,
					func(p transport.Peer,
						x *transport.Xfer) error {
						return tr.Acc(p, x, s)
					}, plain(near, far, n)),
					tr.Fence(1))
			},
		} {
			mem.left.Store(300 << 10)
			if err := do(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", what, err, c.want)
			}
			mem.left.Store(1 << 40)
			if err := do(); err != nil {
				t.Errorf("%s afterwards: %v", what, err)
			}
		}
	}
	if l := e.Losses(); len(l) > 0 {
		t.Error(l)
	}
}

// TestFarRefusals shows that frames that ask for what is impossible in private memory are refused.
func TestFarRefusals(t *testing.T) {
	net := pipe.New(pipe.Options{Direct: true, Shared: true})
	var s *rawProcess
	e := transporttest.NewEnds(t, []int{2, 1},
		func(info transport.OpenInfo) (transport.Transport, error) {
			if info.Me < 2 {
				return Open(net.Driver(), options(info, nil))
			}
			var err error
			s, err = newRawProcess(t, net, info)
			return s, err
		})
	for _, tr := range e.Open[:2] {
		if err := tr.Connect(e.Peers()); err != nil {
			t.Fatal(err)
		}
	}
	own, far := e.Expose(t, 0, 4096), e.Expose(t, 1, 4096)
	c := s.dial(0, e.Open[0].Info().Addr)
	rmw := header{kind: kindRMW, rank: 1, addr: uint64(far), arg: 1, flags: flagWide}
	if r := c.request(rmw, nil, nil); r.kind != kindRefused || r.what != whyInvalid ||
		!strings.Contains(string(r.body), "private memory") {
		t.Errorf("read-modify-write: %+v", r)
	}
	rmw.rank, rmw.addr = 0, uint64(own)
	if r := c.request(rmw, nil, nil); r.kind != kindOld || memory(own, 1)[0] != 1 {
		t.Errorf("read-modify-write of the server's memory: %+v", r)
	}
	for rank, addr := range []uintptr{own, far} {
		there := header{addr: uint64(addr), bytes: 8}
		push := header{kind: kindPush, rank: uint32(rank), addr: uint64(addr), bytes: 8}
		push.id = 3
		c.sendFrame(push.append(nil), there.append(nil))
		if r, _ := c.nextFrame(); r.kind != kindRefused || r.what != whyInvalid {
			t.Errorf("push of rank %d's memory: %+v", rank, r)
		}
		r := c.request(header{kind: kindRanges, addr: uint64(addr)}, nil, nil)
		list := rangesFrom(r.body)
		lo, n := e.Node(0).ArenaRange()
		if len(list) != 1 || list[0].Direct || list[0].Key != privateKey ||
			list[0].Lo != lo+uintptr(n) || addr < list[0].Lo {
			t.Errorf("ranges of rank %d's memory: %+v", rank, list)
		}
	}
	c.fence(0)
	if l := e.Losses(); len(l) > 0 || binary.NativeEndian.Uint64(memory(far, 8)) != 0 {
		t.Error(l)
	}
}
