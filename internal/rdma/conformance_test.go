// SPDX-License-Identifier: BSD-3-Clause

// The two conformance suites over RDMA: that of fabrics, and, through package internode, that of
// transports, with different settings: every protocol is once the only one. One run takes long
// where RDMA is software, so settings that do not meet share one. Without a device these tests are
// skipped.
package rdma

import (
	"errors"
	"os"
	"testing"
	"time"

	"libarmci/internal/internode"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// TestFabric: the fabric does what the interfaces of package transport promise, as usual and where
// all local memory is copied.
func TestFabric(t *testing.T) {
	t.Run("usual", func(t *testing.T) { transporttest.RunFabric(t, Driver(testOptions())) })
	t.Run("buffered", func(t *testing.T) {
		o := testOptions()
		o.Pin = 1
		d := Driver(o)
		open := d.Open
		d.Open = func(c transport.FabricConfig) (transport.Fabric, error) {
			c.Contiguous = transport.ByCopy
			return open(c)
		}
		transporttest.RunFabric(t, d)
	})
}

// settings are those of a job of a test.
type settings struct {
	internode.Options
	rdma   Options
	opened func(*Fabric)
}

// job is the ranks of a test.
type job struct {
	*transporttest.Ends
	fabrics []*Fabric // by rank
}

// testOptions are the settings of tests: the devices that the kernel or, over a software device,
// another directory tells of.
func testOptions() Options { return Options{Sysfs: os.Getenv("ARMCI_RDMA_SYSFS")} }

// skipWithoutDevice skips the test where this host has none.
func skipWithoutDevice(t testing.TB) {
	t.Helper()
	if err := Driver(testOptions()).Probe(); err != nil {
		t.Skipf("no RDMA here: %v", err)
	}
}

// openJob opens nodes of so many ranks each; change, if not nil, may change a rank's settings.
func openJob(t testing.TB, change func(*settings), ranks ...int) *job {
	skipWithoutDevice(t)
	leaktest.Check(t)
	j := &job{}
	j.Ends = transporttest.NewEnds(t, ranks, func(info transport.OpenInfo) (transport.Transport,
		error) {
		s := settings{rdma: testOptions(), Options: internode.Options{OpenInfo: info,
			Poll: 20 * time.Microsecond, Settings: transport.Settings{
				Timeout: 10 * time.Second, Eager: 8 << 10, Buffer: 4 << 20,
				Reconnect: true,
				Looks:     func() int { return 100 }}}}
		if change != nil {
			change(&s)
		}
		d := Driver(s.rdma)
		open := d.Open
		d.Open = func(c transport.FabricConfig) (transport.Fabric, error) {
			f, err := open(c)
			if err == nil {
				j.fabrics = append(j.fabrics, f.(*Fabric))
				if s.opened != nil {
					s.opened(f.(*Fabric))
				}
			}
			return f, err
		}
		return internode.Open(d, s.Options)
	})
	return j
}

// newJob is openJob, connected.
func newJob(t testing.TB, change func(*settings), ranks ...int) *job {
	j := openJob(t, change, ranks...)
	j.ConnectAll(t)
	return j
}

// refusingDomain is a protection domain that refuses to register, as where too little memory may be
// pinned.
type refusingDomain struct{}

func (refusingDomain) Register(uintptr, int64, qp.Access) (qp.Region, error) {
	return nil, errors.New("nothing may be pinned")
}

// TestConformancePrivate: private memory is reached by frames, whatever the protocol for the arena.
func TestConformancePrivate(t *testing.T) {
	openJob(t, nil, 2, 2).ConformPrivate(t, false)
	openJob(t, func(s *settings) { s.DeviceAcc = true }, 1, 1).ConformPrivate(t, true)
	openJob(t, func(s *settings) { s.Strided, s.Buffer = transport.ByClaiming, 1<<20 }, 2,
		1).ConformPrivate(t, false)
}

// TestConformance: the transport over this fabric does what package transport promises, with each
// protocol forced and with few buffers, connections and pinned pages.
func TestConformance(t *testing.T) {
	for i, c := range []struct {
		name   string
		ranks  []int
		change func(*settings)
	}{
		{"2x2", []int{2, 2}, nil},
		{"few buffers", []int{1, 1, 1}, func(s *settings) { s.Buffer = 1 << 20 }},
		{"unequal buffers", []int{1, 1, 1},
			func(s *settings) { s.Buffer = 1 << 20 << (4 * (s.Me % 2)) }},
		{"unequal buffers, host-atomic", []int{1, 1}, func(s *settings) {
			s.Strided, s.Buffer = transport.ByClaiming, 1<<20<<(4*(s.Me%2))
		}},
		{"buffered, host", []int{1, 1}, func(s *settings) {
			s.Contiguous,
				s.Strided = transport.ByCopy, "host"
		}},
		{"zerocopy, nic", []int{1, 1}, func(s *settings) {
			s.Contiguous, s.Strided,
				s.Eager = transport.ByZeroCopy, "nic", 0
		}},
		{"baseline, nic", []int{1, 1}, func(s *settings) {
			s.Contiguous,
				s.Strided = transport.ByCopyAlone, "nic"
		}},
		{"register, nic", []int{1, 1}, func(s *settings) {
			s.Contiguous,
				s.Strided = transport.ByRegister, "nic"
		}},
		{"overlap, nic", []int{1, 1}, func(s *settings) {
			s.Contiguous,
				s.Strided = transport.ByOverlap, "nic"
		}},
		{"host-atomic", []int{1, 1, 1},
			func(s *settings) { s.Strided, s.Buffer = transport.ByClaiming, 1<<20 }},
		{"push, long polling", []int{1, 1}, func(s *settings) {
			s.Strided, s.Poll, s.Looks = "push", time.Millisecond,
				func() int { return 10000 }
		}},
		{"accumulates by the device, little stays pinned", []int{2, 1},
			func(s *settings) { s.DeviceAcc, s.rdma.Pin = true, 256<<10 }},
		{"hardly any connections", []int{1, 2, 1}, func(s *settings) { s.Connections = 1 }},
		{"nothing stays pinned", []int{1, 1}, func(s *settings) { s.rdma.Pin = 1 }},
		{"nothing can be pinned", []int{1, 1}, func(s *settings) {
			s.DeviceAcc = true
			s.opened = func(f *Fabric) {
				f.transferRegistrar.(*registrar).domain = refusingDomain{}
			}
		}},
	} {
		if !transporttest.Sampled(i) {
			continue
		}
		t.Run(c.name, func(t *testing.T) { openJob(t, c.change, c.ranks...).Conform(t) })
	}
}

// TestMixBounded: random operations of many threads have the right results while connections are
// closed and made again.
func TestMixBounded(t *testing.T) {
	for _, change := range []func(*settings){
		func(s *settings) { s.Connections = 1 },
		func(s *settings) {
			s.Connections, s.DeviceAcc, s.Strided, s.Buffer = 1, true,
				transport.ByClaiming, 1<<20
		},
	} {
		openJob(t, change, 1, 2, 1, 1).Mix(t, 1, 200)
	}
}
