// SPDX-License-Identifier: BSD-3-Clause

// Transfers from and to memory of the application that changes under its addresses between them:
// data goes where the program would have found it. And which way memory is registered.
package rdma

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"libarmci/internal/pin"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

const privateBytes = 3 << 20

// memoryChanges are what an application does to memory; after each it is mapped at the same
// address.
var memoryChanges = []struct {
	name string
	do   func(t *testing.T, p uintptr)
}{
	{"nothing", func(*testing.T, uintptr) {}},
	{"munmap and mmap", func(t *testing.T, p uintptr) {
		systemCall(t, unix.SYS_MUNMAP, p, privateBytes)
		mapPrivate(t, p)
	}},
	{"mmap over half of it", func(t *testing.T, p uintptr) {
		systemCall(t, unix.SYS_MMAP, p, privateBytes/2, unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED, ^uintptr(0), 0)
	}},
	{"madvise", func(t *testing.T, p uintptr) {
		systemCall(t, unix.SYS_MADVISE, p, privateBytes,
			unix.MADV_DONTNEED)
	}},
	{"mremap", func(t *testing.T, p uintptr) {
		q := mapPrivate(t, 0)
		systemCall(t, unix.SYS_MREMAP, q, privateBytes, privateBytes,
			unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, p)
	}},
}

func systemCall(t *testing.T, number uintptr, args ...uintptr) uintptr {
	t.Helper()
	var a [6]uintptr
	copy(a[:], args)
	r, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		t.Fatal(errno)
	}
	return r
}

func mapPrivate(t *testing.T, at uintptr) uintptr {
	t.Helper()
	flags := uintptr(unix.MAP_PRIVATE | unix.MAP_ANON)
	if at != 0 {
		flags |= unix.MAP_FIXED_NOREPLACE
	}
	return systemCall(t, unix.SYS_MMAP, at, privateBytes, unix.PROT_READ|unix.PROT_WRITE, flags,
		^uintptr(0), 0)
}

// TestChangedMemory: after every change of the mappings transfers reach the new pages, and no more
// bytes stay pinned than the budget allows.
func TestChangedMemory(t *testing.T) {
	for _, budget := range []int64{0, 1 << 20, 1} {
		// all of it, a part of it, nothing stays registered
		t.Run(fmt.Sprintf("budget %d", budget), func(t *testing.T) {
			j := newJob(t, func(s *settings) {
				s.rdma.Pin, s.Contiguous = budget,
					transport.ByZeroCopy
			}, 1, 1)
			tr, far := j.Open[0], j.Alloc(t, 1, privateBytes)
			p := mapPrivate(t, 0)
			defer systemCall(t, unix.SYS_MUNMAP, p, privateBytes)
			for i, c := range memoryChanges {
				c.do(t, p)
				if err := checkThroughRemote(tr, p, far, byte(2*i+1)); err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
			}
			pinned := j.fabrics[0].regCache.Registered()
			if budget == 0 && pin.Watching() == nil && pinned != privateBytes ||
				budget > 0 && pinned > budget ||
				budget == 1<<20 && pin.Watching() == nil && pinned != budget {
				t.Errorf("%d bytes stay pinned", pinned)
			}
		})
	}
}

// checkThroughRemote puts a pattern from p, looks for it there, puts another one there, and gets
// that.
func checkThroughRemote(tr transport.Transport, p, far uintptr, pattern byte) error {
	near, there := memoryAt(p, privateBytes), memoryAt(far, privateBytes)
	fill(near, pattern)
	if err := tr.Put(1, contiguousXfer(p, far, privateBytes)); err != nil {
		return err
	}
	if err := tr.Fence(1); err != nil {
		return err
	}
	if !bytes.Equal(near, there) {
		return errors.New("put other bytes than there are")
	}
	fill(there, pattern+1)
	if err := tr.Get(1, contiguousXfer(p, far, privateBytes)); err != nil {
		return err
	}
	if !bytes.Equal(near, there) {
		return errors.New("got other bytes than there are")
	}
	return nil
}

// TestUsedAgain: memory that would never pay to register once is registered when it has been copied
// for so long; other memory and short transfers are not.
func TestUsedAgain(t *testing.T) {
	if err := pin.Watching(); err != nil {
		t.Skipf("nothing stays registered: %v", err)
	}
	const size = 256 << 10
	// after three times 256 KiB
	j := newJob(t, func(s *settings) { s.Model = "copy=0,0,0.01 pin=1000,100,0" }, 1, 1)
	tr, far := j.Open[0], j.Alloc(t, 1, privateBytes)
	p := mapPrivate(t, 0)
	defer systemCall(t, unix.SYS_MUNMAP, p, privateBytes)
	move := func(from uintptr, n int) {
		t.Helper()
		fill(memoryAt(p+from, n), byte(n+int(from)))
		if err := tr.Put(1, contiguousXfer(p+from, far, n)); err != nil {
			t.Fatal(err)
		}
		if err := tr.Fence(1); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(memoryAt(p+from, n), memoryAt(far, n)) {
			t.Error("put other bytes than there are")
		}
	}
	pinned := func(when string, want int64) {
		t.Helper()
		if got := j.fabrics[0].regCache.Registered(); got != want {
			t.Errorf("%s %d bytes are registered, want %d", when, got, want)
		}
	}
	for range 100 {
		move(2*size, 8<<10)
	}
	pinned("after short transfers", 0)
	for i := range uintptr(8) {
		move(i*size, size)
	}
	pinned("after one of each place", 0)
	move(size, size)
	pinned("after two of one place", 0)
	move(size, size)
	pinned("after three", size)
	move(size, size)
	pinned("after four", size)
}

// TestRowsUsedAgain: rows of memory that would never pay to register once are registered, with what
// is between them, when so much of them has been copied; and again when that memory has changed.
func TestRowsUsedAgain(t *testing.T) {
	if err := pin.Watching(); err != nil {
		t.Skipf("nothing stays registered: %v", err)
	}
	const rows, row, apart = 64, 1 << 10, 4 << 10
	const extent = rows*apart - apart + row
	j := newJob(t, func(s *settings) { // rows are the device's; after 4 times 64 KiB
		s.Model = "put.nic=0,0,0 get.nic=0,0,0 copy=0,0,0.03 pin=1000,100,0"
	}, 1, 1)
	tr, far := j.Open[0], j.Alloc(t, 1, privateBytes)
	p := mapPrivate(t, 0)
	defer systemCall(t, unix.SYS_MUNMAP, p, privateBytes)
	x := &transport.Xfer{Count: []int32{row, rows},
		Local:  transport.Section{Base: p, Stride: []int32{apart}},
		Remote: transport.Section{Base: far, Stride: []int32{apart}}}
	pattern := byte(1)
	equal := func(what string) {
		t.Helper()
		for r := range uintptr(rows) {
			at := r * apart
			if !bytes.Equal(memoryAt(p+at, row), memoryAt(far+at, row)) {
				t.Fatalf("%s: row %d differs", what, r)
			}
		}
	}
	there := func() {
		t.Helper()
		pattern += 2
		fill(memoryAt(p, extent), pattern)
		if err := errors.Join(tr.Put(1, x), tr.Fence(1)); err != nil {
			t.Fatal(err)
		}
		equal("put")
		fill(memoryAt(far, extent), pattern+1)
		if err := tr.Get(1, x); err != nil {
			t.Fatal(err)
		}
		equal("got")
	}
	for _, c := range memoryChanges {
		c.do(t, p)
		pinned := j.fabrics[0].regCache.Registered
		for n := 0; pinned() != rows*apart; n++ {
			if n == 100 {
				t.Fatalf("%s: %d bytes are registered after %d transfers, want %d",
					c.name,
					pinned(), 2*n, rows*apart)
			}
			there()
		}
		there()
	}
}

func fill(b []byte, pattern byte) {
	for i := range b {
		b[i] = pattern ^ byte(i) ^ byte(i>>12)
	}
}

// refusedAccesses is a protection domain that records the kinds of access, and refuses to register.
type refusedAccesses []qp.Access

func (r *refusedAccesses) Register(_ uintptr, _ int64, access qp.Access) (qp.Region, error) {
	*r = append(*r, access)
	return nil, unix.EFAULT
}

// TestOnDemand: what the device says decides; no device with on-demand paging is needed. What
// others use is pinned.
func TestOnDemand(t *testing.T) {
	for can, want := range map[bool]refusedAccesses{false: {qp.Local, qp.Remote},
		true: {qp.OnDemand, qp.Remote}} {
		r := &refusedAccesses{}
		device := &registrar{r, can}
		c := pin.Open(device, 1<<20, can)
		if c.Acquire(1<<40, 1<<16) != nil {
			t.Error("not refused")
		}
		c.Close()
		device.Register(0, 1, true)
		if !slices.Equal(*r, want) {
			t.Errorf("on demand %v: %v", can, *r)
		}
	}
}
