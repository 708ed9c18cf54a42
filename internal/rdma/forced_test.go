// SPDX-License-Identifier: BSD-3-Clause

// Contiguous transfers by each protocol that can be forced: the right bytes at both sides, in arena
// and private memory, and what makes the protocol: how many pieces travel at a time, what is
// registered, how often, and that nothing stays so.
package rdma

import (
	"bytes"
	"slices"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"libarmci/internal/rdma/qp"
	"libarmci/internal/transport"
)

var contiguousProtocols = []string{transport.ByCopy, transport.ByZeroCopy, transport.ByCopyAlone,
	transport.ByRegister, transport.ByOverlap}

// recordingDomain records the bytes of each registration.
type recordingDomain struct {
	domain
	mu    sync.Mutex
	sizes []int64
}

func (c *recordingDomain) Register(addr uintptr, n int64, access qp.Access) (qp.Region, error) {
	c.mu.Lock()
	c.sizes = append(c.sizes, n)
	c.mu.Unlock()
	return c.domain.Register(addr, n, access)
}

// takeSizes returns the registrations since the last call.
func (c *recordingDomain) takeSizes() []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.sizes
	c.sizes = nil
	return all
}

// forcedJob opens two nodes where a protocol is forced. The clerk is that of rank 0.
func forcedJob(t *testing.T, protocol string) (*job, *recordingDomain) {
	c := &recordingDomain{}
	j := newJob(t, func(s *settings) {
		s.Contiguous, s.Buffer = protocol, 1<<20
		s.opened = func(f *Fabric) {
			if f.cfg.Me == 0 {
				r := f.transferRegistrar.(*registrar)
				c.domain, r.domain = r.domain, c
			}
		}
	}, 1, 1)
	return j, c
}

// TestForcedContiguous: each contiguous protocol moves the right bytes, of lengths about all
// limits.
func TestForcedContiguous(t *testing.T) {
	sizes := []int{1, 300, 2049, 8 << 10, 8<<10 + 1, 70001, 300007, 2<<20 + 5}
	for _, protocol := range contiguousProtocols {
		t.Run(protocol, func(t *testing.T) {
			j, _ := forcedJob(t, protocol)
			far, private := j.Alloc(t, 1, privateBytes), mapPrivate(t, 0)
			defer systemCall(t, unix.SYS_MUNMAP, private, privateBytes)
			for i, near := range []uintptr{private, j.Alloc(t, 0, privateBytes)} {
				for _, n := range sizes {
					local, remote := near+uintptr(n%13), far+uintptr(n%7)
					checkPutsAndGets(t, j, local, remote, n, byte(n+i))
				}
			}
		})
	}
}

// checkPutsAndGets puts n bytes, gets them back, and gets others: first by blocking calls, then in
// two halves that complete later.
func checkPutsAndGets(t *testing.T, j *job, near, far uintptr, n int, pattern byte) {
	t.Helper()
	tr, mine, there := j.Open[0], memoryAt(near, n), memoryAt(far, n)
	whole := func(one func(transport.Peer, *transport.Xfer) error) error {
		return one(1,
			contiguousXfer(near, far, n))
	}
	halves := func(one func(transport.Peer, *transport.Xfer) error) (err error) {
		done, h := make(chan error, 2), n/2
		for _, x := range []*transport.Xfer{contiguousXfer(near, far, h),
			contiguousXfer(near+uintptr(h), far+uintptr(h), n-h)} {
			x.Later, x.Done = true, func(err error) { done <- err }
			if e := one(1, x); e != nil {
				return e
			}
		}
		for range 2 {
			if e := <-done; e != nil {
				err = e
			}
		}
		return err
	}
	for i, move := range []func(func(transport.Peer, *transport.Xfer) error) error{whole,
		halves} {
		fill(mine, pattern+byte(i))
		err := move(tr.Put)
		if err == nil {
			err = tr.Fence(1)
		}
		if err != nil || !bytes.Equal(mine, there) {
			t.Fatalf("put of %d bytes: %v, the right ones there: %v", n, err,
				bytes.Equal(mine, there))
		}
		fill(there, pattern+byte(2+i))
		if err = move(tr.Get); err != nil || !bytes.Equal(mine, there) {
			t.Fatalf("get of %d bytes: %v, the right ones here: %v", n, err,
				bytes.Equal(mine, there))
		}
	}
}

// TestForcedRegistrations: each protocol registers the memory that it should for a get of a MiB of
// private memory, the second time that the get is made.
func TestForcedRegistrations(t *testing.T) {
	const n = 1 << 20
	j, c := (*job)(nil), (*recordingDomain)(nil)
	again := func(protocol string) []int64 {
		j, c = forcedJob(t, protocol)
		far, near := j.Alloc(t, 1, n), mapPrivate(t, 0)
		defer systemCall(t, unix.SYS_MUNMAP, near, privateBytes)
		for range 2 { // the first one measures the cost model, too
			c.takeSizes()
			if err := j.Open[0].Get(1, contiguousXfer(near, far, n)); err != nil {
				t.Fatal(err)
			}
			got := j.fabrics[0].regCache.Registered()
			if protocol != transport.ByZeroCopy && got != 0 {
				t.Errorf("%s: %d bytes stay registered", protocol, got)
			}
		}
		return c.takeSizes()
	}
	for _, protocol := range []string{transport.ByCopy, transport.ByCopyAlone} {
		if got := again(protocol); len(got) != 0 {
			t.Errorf("%s registers %v", protocol, got)
		}
	}
	if got := again(transport.ByRegister); !slices.Equal(got, []int64{n}) {
		t.Errorf("register registers %v", got)
	}
	got, all := again(transport.ByOverlap), int64(0)
	for i, size := range got {
		if all += size; i > 0 && i < len(got)-1 && size < 2*got[i-1]-2*4096 {
			t.Errorf("overlap registers %v", got)
		}
	}
	if len(got) < 3 || all >= n || all < n/2 { // the first piece goes through a buffer
		t.Errorf("overlap registers %v", got)
	}
}

// TestForcedAlone: the baseline never has more than one piece of a put in flight when the call
// returns. A device with late completions shows that best; another may be faster than the test.
func TestForcedAlone(t *testing.T) {
	j, _ := forcedJob(t, transport.ByCopyAlone)
	far, near := j.Alloc(t, 1, 1<<20), mapPrivate(t, 0)
	defer systemCall(t, unix.SYS_MUNMAP, near, privateBytes)
	for range 20 {
		x, done := contiguousXfer(near, far, 1<<20), make(chan error, 1)
		x.Later, x.Done = true, func(err error) { done <- err }
		if err := j.Open[0].Put(1, x); err != nil {
			t.Fatal(err)
		}
		for _, e := range j.fabrics[0].originQueue.listEndpoints() {
			if n := e.inflight.openCount(); n > 1 {
				t.Errorf("%d pieces travel at a time", n)
			}
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}
