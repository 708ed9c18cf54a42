// SPDX-License-Identifier: BSD-3-Clause

// The cache over real memory and the kernel's events: if an application changes a mapping between
// transfers, the next one never gets a registration that is older than the mapping.
package pin

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/testutil/eventually"
	"libarmci/internal/testutil/leaktest"
)

// openWatched opens a cache over a device without limits; without userfaultfd the test is skipped.
func openWatched(t testing.TB) (*Cache, *device) {
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

const testBytes = 1 << 20

func mapMemory(t testing.TB, at uintptr, n, flags int) uintptr {
	flags |= unix.MAP_ANON
	return memoryCall(t, unix.SYS_MMAP, at, uintptr(n), unix.PROT_READ|unix.PROT_WRITE,
		uintptr(flags), ^uintptr(0))
}

// mapAgain maps memory where some was until now. If another thread has mapped memory there
// meanwhile, as Go's runtime or the race detector may, the test is skipped.
func mapAgain(t *testing.T, at uintptr) uintptr {
	const flags = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_FIXED_NOREPLACE
	_, _, errno := unix.Syscall6(unix.SYS_MMAP, at, testBytes, unix.PROT_READ|unix.PROT_WRITE,
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

// memoryCall is a system call on memory.
func memoryCall(t testing.TB, number uintptr, args ...uintptr) uintptr {
	a := [6]uintptr{}
	copy(a[:], args)
	r, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		t.Fatal(errno)
	}
	return r
}

func unmapMemory(t testing.TB, at uintptr, n int) { memoryCall(t, unix.SYS_MUNMAP, at, uintptr(n)) }

// Each change of a mapping ends the registration of its memory, and no other.
func TestMemoryChanges(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, p uintptr) (where uintptr) // the memory is there now
		stays  bool
	}{
		{"nothing", func(_ *testing.T, p uintptr) uintptr { return p }, true},
		{"munmap and mmap", func(t *testing.T, p uintptr) uintptr {
			unmapMemory(t, p, testBytes)
			return mapAgain(t, p)
		}, false},
		{"mmap over it", func(t *testing.T, p uintptr) uintptr {
			return mapMemory(t, p, testBytes, unix.MAP_PRIVATE|unix.MAP_FIXED)
		}, false},
		{"a page of it", func(t *testing.T, p uintptr) uintptr {
			return mapMemory(t, p+testBytes/2, pageBytes,
				unix.MAP_PRIVATE|unix.MAP_FIXED) - testBytes/2
		}, false},
		{"madvise", func(t *testing.T, p uintptr) uintptr {
			memoryCall(t, unix.SYS_MADVISE, p, testBytes, unix.MADV_DONTNEED)
			return p
		}, false},
		{"mremap away and back", func(t *testing.T, p uintptr) uintptr {
			q := mapMemory(t, 0, testBytes, unix.MAP_PRIVATE)
			memoryCall(t, unix.SYS_MREMAP, p, testBytes, testBytes,
				unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, q)
			mapAgain(t, p)
			memoryCall(t, unix.SYS_MREMAP, q, testBytes, testBytes,
				unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, p)
			return p
		}, false},
		{"mremap of another there", func(t *testing.T, p uintptr) uintptr {
			q := mapMemory(t, 0, testBytes, unix.MAP_PRIVATE)
			return memoryCall(t, unix.SYS_MREMAP, q, testBytes, testBytes,
				unix.MREMAP_MAYMOVE|unix.MREMAP_FIXED, p)
		}, false},
		{"mprotect", func(t *testing.T, p uintptr) uintptr {
			memoryCall(t, unix.SYS_MPROTECT, p, testBytes, unix.PROT_READ)
			memoryCall(t, unix.SYS_MPROTECT, p, testBytes,
				unix.PROT_READ|unix.PROT_WRITE)
			return p
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache, d := openWatched(t)
			p := mapMemory(t, 0, 3*testBytes, unix.MAP_PRIVATE)
			defer func() {
				if !t.Skipped() { // otherwise not all of it is ours
					unmapMemory(t, p, 3*testBytes)
				}
			}()
			other := takeAndRelease(t, cache, p, testBytes)
			was := takeAndRelease(t, cache, p+testBytes, testBytes)
			if again := takeAndRelease(t, cache, p+testBytes, testBytes); again != was {
				t.Fatal("not kept")
			}
			where := c.change(t, p+testBytes)
			is := takeAndRelease(t, cache, where, testBytes)
			if (is == was) != c.stays {
				t.Errorf("%+v became %+v", was, is)
			}
			if c.stays == (d.open[was.Key] == "") {
				t.Errorf("open: %v", d.open)
			}
			if takeAndRelease(t, cache, p, testBytes) != other {
				t.Error("memory beside it was forgotten")
			}
		})
	}
}

// Unmapped memory is unpinned without a call of Acquire.
func TestSoonUnpinned(t *testing.T) {
	c, _ := openWatched(t)
	p := mapMemory(t, 0, testBytes, unix.MAP_PRIVATE)
	takeAndRelease(t, c, p, testBytes)
	unmapMemory(t, p, testBytes)
	eventually.True(t, func() bool { return c.bytes.Load() == 0 }, "still pinned")
}

// An operation keeps its entry when the memory is mapped anew, though others get a new one.
func TestInUseUnmapped(t *testing.T) {
	c, d := openWatched(t)
	p := mapMemory(t, 0, testBytes, unix.MAP_PRIVATE)
	used := c.Acquire(p, testBytes)
	mapMemory(t, p, testBytes, unix.MAP_PRIVATE|unix.MAP_FIXED)
	fresh := takeAndRelease(t, c, p, testBytes)
	if fresh == used || d.open[used.Key] == "" {
		t.Errorf("%+v, %+v, open %v", used, fresh, d.open)
	}
	used.Release()
	if d.open[used.Key] != "" || takeAndRelease(t, c, p, testBytes) != fresh {
		t.Errorf("open %v", d.open)
	}
	unmapMemory(t, p, testBytes)
}

// Memory of a file can lose its pages without an event, so it is registered for one transfer.
func TestShared(t *testing.T) {
	c, d := openWatched(t)
	p := mapMemory(t, 0, testBytes, unix.MAP_SHARED)
	memoryCall(t, unix.SYS_MADVISE, p, testBytes, unix.MADV_POPULATE_WRITE)
	defer unmapMemory(t, p, testBytes)
	if takeAndRelease(t, c, p, testBytes); d.pinned != 0 || c.Acquire(p, 0) != nil {
		t.Error("kept")
	}
	temporary := t.TempDir()
	t.Run("temporary file", func(t *testing.T) { testPrivateFile(t, c, d, temporary) })
	t.Run("file in memory", func(t *testing.T) { testPrivateFile(t, c, d, "/dev/shm") })
}

// testPrivateFile maps a file as private: its pages go away when the file is shortened, also those
// that have been written.
func testPrivateFile(t *testing.T, c *Cache, d *device, dir string) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if err != nil {
		t.Skipf("a file without a name in %s: %v", dir, err)
	}
	defer unix.Close(fd)
	unix.Ftruncate(fd, testBytes)
	q := memoryCall(t, unix.SYS_MMAP, 0, testBytes, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE, uintptr(fd), 0)
	defer unmapMemory(t, q, testBytes)
	// as a registration does
	memoryCall(t, unix.SYS_MADVISE, q, testBytes, unix.MADV_POPULATE_WRITE)
	if takeAndRelease(t, c, q, testBytes); d.pinned != 0 || c.Acquire(q, 0) != nil {
		t.Errorf("memory of a file in %s is kept", dir)
	}
}

// More changes at once than the queue holds are not lost.
func TestManyChanges(t *testing.T) {
	c, _ := openWatched(t)
	const n = 3 * maxEntries
	p := mapMemory(t, 0, n*2*pageBytes, unix.MAP_PRIVATE)
	c.mu.Lock() // so that no thread handles events
	if err := c.watch.watchRange(p, p+n*2*pageBytes); err != nil {
		t.Fatal(err)
	}
	c.mu.Unlock()
	e := takeAndRelease(t, c, p+n*2*pageBytes-pageBytes, pageBytes)
	c.mu.Lock()
	for i := range uintptr(n) {
		unmapMemory(t, p+i*2*pageBytes+pageBytes, pageBytes)
	}
	c.mu.Unlock()
	if c.Acquire(e.Lo, 0) != nil {
		t.Error("an event was lost")
	}
	unmapMemory(t, p, n*2*pageBytes)
}

// Threads map, use and unmap memory, and so get each other's addresses at once. A registration is
// never older than the mapping of the memory.
func TestRace(t *testing.T) {
	c, d := openWatched(t)
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
				p := mapMemory(t, 0, n, unix.MAP_PRIVATE)
				d.mu.Lock()
				since := d.serial
				d.mu.Unlock()
				e := c.Acquire(p, n)
				if e == nil {
					t.Error("refused")
					return
				}
				if e.Key <= since {
					t.Errorf("registration %d for memory that is younger "+
						"than %d", e.Key, since)
				}
				e.Release()
				unmapMemory(t, p, n)
				if t.Failed() {
					return
				}
			}
		}()
	}
	all.Wait()
}

// Go's own memory may be used for transfers, and Go's runtime unmaps it while the world is stopped.
func TestGarbageCollection(t *testing.T) {
	c, _ := openWatched(t)
	for range 20 {
		b := make([]byte, 8<<20)
		takeAndRelease(t, c, uintptr(unsafe.Pointer(&b[0])), len(b))
		runtime.KeepAlive(b)
		b = nil
		runtime.GC()
		debug.FreeOSMemory()
	}
}

// BenchmarkHit measures Acquire of registered memory; lookup is without the system call that asks
// whether another thread is unmapping memory.
func BenchmarkHit(b *testing.B) {
	for _, entries := range []int{1, 64, 1000} {
		d := newDevice(1 << 40)
		c := Open(d, 1<<40, false)
		if c.watch == nil {
			b.Skip(Watching())
		}
		defer c.Close()
		p := mapMemory(b, 0, entries*2*pageBytes, unix.MAP_PRIVATE)
		for i := range uintptr(entries) {
			c.Acquire(p+i*2*pageBytes, pageBytes).Release()
		}
		at := p + uintptr(entries/2)*2*pageBytes + 100
		name := map[int]string{1: "1", 64: "64", 1000: "1000"}[entries]
		b.Run("entries="+name, func(b *testing.B) {
			for b.Loop() {
				c.Acquire(at, 1).Release()
			}
		})
		b.Run("lookup/entries="+name, func(b *testing.B) {
			w := c.watch
			c.watch = nil
			for b.Loop() {
				c.Acquire(at, 1).Release()
			}
			c.watch = w
		})
	}
}
