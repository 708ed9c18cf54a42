// SPDX-License-Identifier: BSD-3-Clause

// The cache over real memory and the kernel's events: whatever an application does to its memory
// between transfers, the next one never gets a registration that is older than the mapping.
package pin

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/bootstrap/leaktest"
)

// watching opens a cache over a device without limits; without userfaultfd the test is skipped.
func watching(t testing.TB) (*Cache, *device) {
	t.Helper()
	leaktest.Check(t)
	d := newDevice(1 << 40)
	c := Open(d, 1<<30, false)
	if c.watch == nil {
		t.Skip(Watching())
	}
	t.Cleanup(func() {
		c.Close()
		if d.pinned != 0 {
			t.Errorf("%d bytes stay pinned: %v", d.pinned, d.open)
		}
	})
	return c, d
}

const length = 1 << 20

func mapped(t testing.TB, at uintptr, n, flags int) uintptr {
	flags |= unix.MAP_ANON
	return call(t, unix.SYS_MMAP, at, uintptr(n), unix.PROT_READ|unix.PROT_WRITE,
		uintptr(flags), ^uintptr(0))
}

// mappedAgain maps memory where some was until now, unless another thread has mapped something
// there meanwhile, as Go's runtime or the race detector may: then the test is skipped.
func mappedAgain(t *testing.T, at uintptr) uintptr {
	const flags = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_FIXED_NOREPLACE
	_, _, errno := unix.Syscall6(unix.SYS_MMAP, at, length, unix.PROT_READ|unix.PROT_WRITE,
		flags, ^uintptr(0), 0)
	switch errno {
	case 0:
	case unix.EEXIST:
		t.Skip("another thread has taken the addresses")
	default:
		t.Fatal(errno)
	}
	return at
}

// call is a system call on memory.
func call(t testing.TB, number uintptr, args ...uintptr) uintptr {
	a := [6]uintptr{}
	copy(a[:], args)
	r, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		t.Fatal(errno)
	}
	return r
}

func unmap(t testing.TB, at uintptr, n int) { call(t, unix.SYS_MUNMAP, at, uintptr(n)) }

// TestMemoryChanges: each change ends the registration of what it concerns, and of nothing else.
func TestMemoryChanges(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, p uintptr) (where uintptr) // the memory is there now
		stays  bool
	}{
		{"nothing", func(_ *testing.T, p uintptr) uintptr { return p }, true},
		{"munmap and mmap", func(t *testing.T, p uintptr) uintptr {
			unmap(t, p, length)
			return mappedAgain(t, p)
		}, false},
		{"mmap over it", func(t *testing.T, p uintptr) uintptr {
			return mapped(t, p, length, unix.MAP_PRIVATE|unix.MAP_FIXED)
		}, false},
		{"a page of it", func(t *testing.T, p uintptr) uintptr {
			return mapped(t, p+length/2, pageBytes,
				unix.MAP_PRIVATE|unix.MAP_FIXED) - length/2
		}, false},
		{"madvise", func(t *testing.T, p uintptr) uintptr {
			call(t, unix.SYS_MADVISE, p, length, unix.MADV_DONTNEED)
			return p
		}, false},
		{"mremap away and back", func(t *testing.T, p uintptr) uintptr {
			q := mapped(t, 0, length, unix.MAP_PRIVATE)
			call(t, unix.SYS_MREMAP, p, length, length,
				unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, q)
			mappedAgain(t, p)
			call(t, unix.SYS_MREMAP, q, length, length,
				unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, p)
			return p
		}, false},
		{"mremap of another there", func(t *testing.T, p uintptr) uintptr {
			q := mapped(t, 0, length, unix.MAP_PRIVATE)
			return call(t, unix.SYS_MREMAP, q, length, length,
				unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, p)
		}, false},
		{"mprotect", func(t *testing.T, p uintptr) uintptr {
			call(t, unix.SYS_MPROTECT, p, length, unix.PROT_READ)
			call(t, unix.SYS_MPROTECT, p, length, unix.PROT_READ|unix.PROT_WRITE)
			return p
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache, d := watching(t)
			p := mapped(t, 0, 3*length, unix.MAP_PRIVATE)
			defer func() {
				if !t.Skipped() { // otherwise not all of it is ours
					unmap(t, p, 3*length)
				}
			}()
			other := taken(t, cache, p, length)
			was := taken(t, cache, p+length, length)
			if again := taken(t, cache, p+length, length); again != was {
				t.Fatal("not kept")
			}
			where := c.change(t, p+length)
			is := taken(t, cache, where, length)
			if (is == was) != c.stays {
				t.Errorf("%+v became %+v", was, is)
			}
			if c.stays == (d.open[was.Key] == "") {
				t.Errorf("open: %v", d.open)
			}
			if taken(t, cache, p, length) != other {
				t.Error("memory beside it was forgotten")
			}
		})
	}
}

// TestSoonUnpinned: what is unmapped is not kept until somebody asks.
func TestSoonUnpinned(t *testing.T) {
	c, _ := watching(t)
	p := mapped(t, 0, length, unix.MAP_PRIVATE)
	taken(t, c, p, length)
	unmap(t, p, length)
	for end := time.Now().Add(10 * time.Second); c.bytes.Load() > 0; time.Sleep(
		time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("still pinned")
		}
	}
}

// TestInUseUnmapped: an operation keeps what it has taken, though others get something new.
func TestInUseUnmapped(t *testing.T) {
	c, d := watching(t)
	p := mapped(t, 0, length, unix.MAP_PRIVATE)
	used := c.Take(p, length)
	mapped(t, p, length, unix.MAP_PRIVATE|unix.MAP_FIXED)
	fresh := taken(t, c, p, length)
	if fresh == used || d.open[used.Key] == "" {
		t.Errorf("%+v, %+v, open %v", used, fresh, d.open)
	}
	used.Release()
	if d.open[used.Key] != "" || taken(t, c, p, length) != fresh {
		t.Errorf("open %v", d.open)
	}
	unmap(t, p, length)
}

// TestShared: memory of a file can lose its pages without an event, so it is registered for the
// transfer.
func TestShared(t *testing.T) {
	c, d := watching(t)
	p := mapped(t, 0, length, unix.MAP_SHARED)
	call(t, unix.SYS_MADVISE, p, length, unix.MADV_POPULATE_WRITE)
	defer unmap(t, p, length)
	if taken(t, c, p, length); d.pinned != 0 || c.Take(p, 0) != nil {
		t.Error("kept")
	}
	temporary := t.TempDir()
	t.Run("temporary file", func(t *testing.T) { ofFile(t, c, d, temporary) })
	t.Run("file in memory", func(t *testing.T) { ofFile(t, c, d, "/dev/shm") })
}

// ofFile maps a file as private: what is there of it goes when the file is shortened, also what has
// been written.
func ofFile(t *testing.T, c *Cache, d *device, dir string) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		t.Skipf("a file without a name in %s: %v", dir, err)
	}
	defer unix.Close(fd)
	unix.Ftruncate(fd, length)
	q := call(t, unix.SYS_MMAP, 0, length, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE,
		uintptr(fd), 0)
	defer unmap(t, q, length)
	call(t, unix.SYS_MADVISE, q, length, unix.MADV_POPULATE_WRITE) // as a registration does
	if taken(t, c, q, length); d.pinned != 0 || c.Take(q, 0) != nil {
		t.Errorf("memory of a file in %s is kept", dir)
	}
}

// TestManyChanges: more at once than the queue holds.
func TestManyChanges(t *testing.T) {
	c, _ := watching(t)
	const n = 3 * mostEntries
	p := mapped(t, 0, n*2*pageBytes, unix.MAP_PRIVATE)
	c.mu.Lock() // nobody takes events
	if err := c.watch.add(p, p+n*2*pageBytes); err != nil {
		t.Fatal(err)
	}
	c.mu.Unlock()
	e := taken(t, c, p+n*2*pageBytes-pageBytes, pageBytes)
	c.mu.Lock()
	for i := range uintptr(n) {
		unmap(t, p+i*2*pageBytes+pageBytes, pageBytes)
	}
	c.mu.Unlock()
	if c.Take(e.Lo, 0) != nil {
		t.Error("an event was lost")
	}
	unmap(t, p, n*2*pageBytes)
}

// TestRace: threads map, use and unmap memory, and so get each other's addresses at once. A
// registration must not be older than the memory it is taken for.
func TestRace(t *testing.T) {
	c, d := watching(t)
	rounds := 2000
	if testing.Short() {
		rounds = 200
	}
	var all sync.WaitGroup
	for g := range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			runtime.LockOSThread()
			n := (16 + g) * pageBytes
			for range rounds {
				p := mapped(t, 0, n, unix.MAP_PRIVATE)
				d.mu.Lock()
				since := d.serial
				d.mu.Unlock()
				e := c.Take(p, n)
				if e == nil {
					t.Error("refused")
					return
				}
				if e.Key <= since {
					t.Errorf("registration %d for memory that is younger "+
						"than %d", e.Key, since)
				}
				e.Release()
				unmap(t, p, n)
				if t.Failed() {
					return
				}
			}
		}()
	}
	all.Wait()
}

// TestGarbageCollection: Go's own memory may be used for transfers, and Go's runtime gives it back
// while nothing else of Go runs.
func TestGarbageCollection(t *testing.T) {
	c, _ := watching(t)
	for range 20 {
		b := make([]byte, 8<<20)
		taken(t, c, uintptr(unsafe.Pointer(&b[0])), len(b))
		runtime.KeepAlive(b)
		b = nil
		runtime.GC()
		debug.FreeOSMemory()
	}
}

// BenchmarkHit: what a transfer out of registered memory pays; lookup is without asking the kernel
// whether another thread is unmapping something.
func BenchmarkHit(b *testing.B) {
	for _, entries := range []int{1, 64, 1000} {
		d := newDevice(1 << 40)
		c := Open(d, 1<<40, false)
		if c.watch == nil {
			b.Skip(Watching())
		}
		defer c.Close()
		p := mapped(b, 0, entries*2*pageBytes, unix.MAP_PRIVATE)
		for i := range uintptr(entries) {
			c.Take(p+i*2*pageBytes, pageBytes).Release()
		}
		at := p + uintptr(entries/2)*2*pageBytes + 100
		name := map[int]string{1: "1", 64: "64", 1000: "1000"}[entries]
		b.Run("entries="+name, func(b *testing.B) {
			for b.Loop() {
				c.Take(at, 1).Release()
			}
		})
		b.Run("lookup/entries="+name, func(b *testing.B) {
			w := c.watch
			c.watch = nil
			for b.Loop() {
				c.Take(at, 1).Release()
			}
			c.watch = w
		})
	}
}
