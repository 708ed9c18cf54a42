// SPDX-License-Identifier: BSD-3-Clause

// Private memory between real processes: by the kernel, and by the owner's thread as if the kernel
// refused.
package shm

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// testPages maps private memory, which stays mapped.
func testPages(t testing.TB, n int) span {
	t.Helper()
	b, err := unix.Mmap(-1, 0, n*page, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	lo := uintptr(unsafe.Pointer(&b[0]))
	return span{lo, lo + uintptr(len(b))}
}

// foreignTransfers: every rank writes into, reads from and accumulates in private memory of all
// others, in all shapes.
func foreignTransfers(r *rank) {
	const pages = 64
	mine, theirs := testPages(r, pages), testPages(r, pages)
	r.Expose(mine.lo, mine.size())
	tr := NewTransport(r.Node, nil)
	connect(r, tr)
	all := share(r, uint64(mine.lo))
	shapes(r, tr, all, theirs.lo)
	sums(r, tr, all, theirs.lo)
	wrong(r, tr, all, mine)
	r.World().Barrier()
	want := pathByKernel
	if r.order.NoVM {
		want = pathByOwner
	}
	for local := range all {
		if got := r.paths[local].Load(); local != r.Self() && got != want {
			r.Errorf("memory of local rank %d is reached by path %d, not %d", local,
				got, want)
		}
	}
}

func connect(r *rank, tr *Transport) {
	var peers []transport.PeerAddr
	for _, rank := range r.Ranks() {
		peers = append(peers, transport.PeerAddr{Rank: rank})
	}
	if err := tr.Connect(peers); err != nil {
		r.Fatal(err)
	}
}

// shapes of a transfer between two pieces of memory that have different layouts.
func shapesOf(local, remote uintptr) map[string]*transport.Xfer {
	const rows, row = 700, 24 // more than one list of pieces
	v := transport.Segments{Bytes: 40}
	for i := range 600 {
		v.Local = append(v.Local, local+uintptr(i)*48)
		v.Remote = append(v.Remote, remote+uintptr((i*7)%600)*56)
	}
	side := func(at uintptr, stride ...int32) transport.Section {
		return transport.Section{Base: at, Stride: stride}
	}
	return map[string]*transport.Xfer{
		"contiguous": {Local: side(local), Remote: side(remote + 3),
			Count: []int32{150001}},
		"strided": {Local: side(local, row), Remote: side(remote, 120),
			Count: []int32{row, rows}},
		"levels": {Local: side(local, 32, 1024), Remote: side(remote, 64, 4096),
			Count: []int32{16, 20, 10}},
		"vector": {Vector: []transport.Segments{v}},
	}
}

// shapes: puts and gets of every shape, one rank after the other, return the data that was put.
func shapes(r *rank, tr *Transport, all []uint64, buffer uintptr) {
	const half = 32 * page
	defer r.World().Barrier()
	for turn := range all { // one rank acts at a time
		r.World().Barrier()
		if turn != r.Self() {
			continue
		}
		for local := range all {
			for name := range shapesOf(0, 0) {
				mem := at(buffer, 2*half)
				for i := range mem {
					mem[i] = byte(i*7 + i>>9 + local)
				}
				x := shapesOf(buffer, uintptr(all[local]))[name]
				if err := tr.Put(transport.Peer(local), x); err != nil {
					r.Fatalf("put, %s: %v", name, err)
				}
				back := shapesOf(buffer+half, uintptr(all[local]))[name]
				if name == "contiguous" {
					back.Count = []int32{120001}
				}
				clear(mem[half:])
				if err := tr.Get(transport.Peer(local), back); err != nil {
					r.Fatalf("get, %s: %v", name, err)
				}
				same(r, name, x, back, half)
			}
		}
	}
}

// same compares the local sides of two transfers, the second half bytes behind the first, and what
// lies between the rows.
func same(r *rank, name string, x, back *transport.Xfer, half uintptr) {
	var c, d kernel.Cursor
	var list [2][]kernel.Group
	back.Cursors(&c, &d, &list)
	n := back.Bytes()
	got, want := make([]byte, n), make([]byte, n)
	c.Pack(got)
	x.Cursors(&c, &d, &list)
	c.Pack(want)
	if string(got) != string(want) {
		r.Errorf("%s: other data came back", name)
	}
}

// sums: all ranks add ones to the same elements, contiguous and strided, of which some lie across
// pages.
func sums(r *rank, tr *Transport, all []uint64, buffer uintptr) {
	const n, rounds = 3000, 5
	ones, scale := unsafe.Slice((*int64)(kernel.Ptr(buffer)), n), int64(1)
	for i := range ones {
		ones[i] = 1
	}
	s := transport.Scale{Type: int(kernel.Long), Value: unsafe.Pointer(&scale)}
	clear(at(uintptr(all[r.Self()]), 16*page))
	r.World().Barrier()
	for range rounds {
		for local, a := range all {
			to := uintptr(a) + 4 // elements across stripes
			twice := transport.Segments{Local: []uintptr{buffer, buffer},
				Remote: []uintptr{to, to}, Bytes: 8}
			for _, x := range []*transport.Xfer{
				{Local: transport.Section{Base: buffer},
					Remote: transport.Section{Base: to}, Count: []int32{8 * n}},
				{Local: transport.Section{Base: buffer, Stride: []int32{8}},
					Remote: transport.Section{Base: to, Stride: []int32{16}},
					Count:  []int32{8, n / 2}},
				{Vector: []transport.Segments{twice}},
			} {
				if err := tr.Acc(transport.Peer(local), x, s); err != nil {
					r.Fatal(err)
				}
			}
		}
	}
	r.World().Barrier()
	for i := range n {
		want := int64(rounds * len(all))
		if i%2 == 0 {
			want *= 2
		}
		if i == 0 {
			want *= 2
		}
		if got := *(*int64)(kernel.Ptr(uintptr(all[r.Self()]) + 4 +
			uintptr(i)*8)); got != want {
			r.Fatalf("element %d is %d, not %d", i, got, want)
		}
	}
	r.World().Barrier()
}

// wrong: memory that is not mapped at its owner, read-modify-writes, and bytes of all kinds of
// memory.
func wrong(r *rank, tr *Transport, all []uint64, mine span) {
	hole := testPages(r, 3)
	r.Expose(hole.lo, hole.size())
	unix.MunmapPtr(kernel.Ptr(hole.lo+page), page)
	holes := share(r, uint64(hole.lo))
	next := (r.Self() + 1) % len(all)
	buffer := make([]byte, 3*page)
	for what, err := range map[string]error{
		"read":  r.ReadForeign(next, uintptr(holes[next]), buffer),
		"write": r.WriteForeign(next, uintptr(holes[next])+page, buffer[:8]),
		"put": tr.Put(transport.Peer(next),
			&transport.Xfer{Local: transport.Section{Base: mine.lo,
				Stride: []int32{16}},
				Remote: transport.Section{Base: uintptr(holes[next]),
					Stride: []int32{page}}, Count: []int32{16, 3}}),
		"no rank": r.ReadForeign(len(all), mine.lo, buffer),
	} {
		if !errors.Is(err, transport.ErrBadAddr) {
			r.Errorf("%s of what is not mapped: %v", what, err)
		}
	}
	if err := tr.RMW(transport.Peer(next), &transport.RMW{Bytes: 8,
		Addr: uintptr(all[next])}); !errors.Is(err, transport.ErrNotNative) {
		r.Errorf("read-modify-write: %v", err)
	}
	word := uint64(0x1122334455667788)
	at(mine.hi-8, 8)[0] = byte(r.Self())
	r.World().Barrier()
	if err := r.ReadForeign(next, uintptr(all[next])+uintptr(mine.size())-8,
		buffer[:8]); err != nil || buffer[0] != byte(next) {
		r.Errorf("%v, %d", err, buffer[0])
	}
	for _, local := range []int{r.Self(), next} { // own memory, and the arena's
		addr, err := r.AllocatePopulated(8)
		if err != nil {
			r.Fatal(err)
		}
		if local == r.Self() {
			addr = mine.lo
		}
		var got uint64
		err = errors.Join(r.WriteForeign(local, addr, bytesOf(&word)),
			r.ReadForeign(local, addr, bytesOf(&got)))
		if err != nil || got != word {
			r.Errorf("%#x, %v", got, err)
		}
	}
	r.World().Barrier()
}

func bytesOf(w *uint64) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(w)), 8) }

func TestForeignMemory(t *testing.T) { run(t, 3, "foreign") }

func TestForeignByOwner(t *testing.T) {
	for _, p := range launch(t, 3, "foreign", func(o *order) { o.NoVM = true }) {
		p.awaitExit(t, false)
	}
}

// A rank's pid that names another process is not used: the owner copies.
func TestPidOfAnotherProcess(t *testing.T) { run(t, 2, "witness") }

// witness gives each rank the pid of its parent, and reads memory of the other rank.
func witness(r *rank) {
	mine := testPages(r, 1)
	r.Expose(mine.lo, page)
	at(mine.lo, 1)[0] = byte(5 + r.Self())
	all := share(r, uint64(mine.lo))
	r.World().Barrier()
	*(*int32)(unsafe.Pointer(&r.rankOf(r.Self()).pid)) = int32(unix.Getppid())
	r.World().Barrier()
	next := 1 - r.Self()
	var b [1]byte
	err := r.ReadForeign(next, uintptr(all[next]), b[:])
	if w := r.paths[next].Load(); err != nil || b[0] != byte(5+next) || w != pathByOwner {
		r.Errorf("read %d by path %d: %v", b[0], w, err)
	}
	r.World().Barrier()
}

// A rank that has not exposed anything is not accessed.
func TestNothingExposed(t *testing.T) { run(t, 2, "nothing exposed") }

func nothingExposed(r *rank) {
	err := r.ReadForeign(1-r.Self(), 4096, make([]byte, 8))
	if !errors.Is(err, transport.ErrBadAddr) || !strings.Contains(err.Error(), "no memory") {
		r.Error(err)
	}
}

// servePrivate is the conformance suite with memory that is private to each process.
func servePrivate(r *rank) {
	e := privateEnd(r, r.Node, &transporttest.Inbox{})
	r.World().Barrier()
	if err := transporttest.Serve(e); err != nil {
		r.Error(err)
	}
}

func privateEnd(t testing.TB, m *Node, in *transporttest.Inbox) *transporttest.End {
	mem := testPages(t, (transporttest.MemBytes+page-1)/page)
	if err := m.Expose(mem.lo, transporttest.MemBytes); err != nil {
		t.Fatal(err)
	}
	return &transporttest.End{Transport: NewTransport(m, in.Handle), Control: m,
		Ranks: m.Ranks(), Self: m.Self(), Mem: mem.lo,
		Inbox: in, Private: true}
}
