// SPDX-License-Identifier: BSD-3-Clause

// Private memory that is shared: exactly the range of the call, until release or Close, and never
// pages of a file.
package pin

import (
	"errors"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func mapPages(t *testing.T, fd, flags int) uintptr {
	t.Helper()
	b, err := unix.Mmap(fd, 0, 4*pageBytes, unix.PROT_READ|unix.PROT_WRITE, flags)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(b) })
	clear(b) // the device would touch all pages
	return uintptr(unsafe.Pointer(&b[0]))
}

// Memory is shared until it is released, and refused if it is not private and anonymous.
func TestShare(t *testing.T) {
	if err := checkForkKeepsPinned(); err != nil {
		t.Skip(err)
	}
	d := newDevice(64 << 10)
	cache := unwatchedCache(d, 64<<10)
	a := NewArena(oneAllocation{0x10000, 0x1a000}, d, cache)
	lo := mapPages(t, -1, unix.MAP_PRIVATE|unix.MAP_ANON)
	one, release, ok := a.Share(lo+100, lo+200)
	other, _, again := a.Share(lo+100, lo+3*pageBytes)
	if !ok || !again || one == other || len(d.open) != 2 {
		t.Errorf("keys %d and %d, open are %v", one, other, d.open)
	}
	if a.LocalRange(lo+100) != nil {
		t.Error("it is not the arena's")
	}
	release()
	release()
	if len(d.open) != 1 || d.open[other] == "" {
		t.Errorf("open are %v", d.open)
	}
	file, err := os.CreateTemp(t.TempDir(), "pages")
	if err == nil {
		err = file.Truncate(4 * pageBytes)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for what, at := range map[string]uintptr{"a file": mapPages(t, int(file.Fd()),
		unix.MAP_SHARED),
		"shared pages": mapPages(t, -1, unix.MAP_SHARED|unix.MAP_ANON)} {
		if _, _, ok := a.Share(at, at+pageBytes); ok || len(d.open) != 1 {
			t.Errorf("%s was registered; open are %v", what, d.open)
		}
	}
	d.refuse = errors.New("no more")
	if _, _, ok := a.Share(lo, lo+pageBytes); ok {
		t.Error("the device has refused it")
	}
	a.Close()
	cache.Close()
	if len(d.open) > 0 || d.pinned != 0 {
		t.Errorf("%v are still registered", d.open)
	}
}
