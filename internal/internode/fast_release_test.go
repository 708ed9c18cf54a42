// SPDX-License-Identifier: BSD-3-Clause

// The C fast path and connections that are released. C stops using one before the server is told,
// and one is kept while a transfer of C's is open there.
package internode

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/testutil/eventually"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/testutil/pipe"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// fastFabric is a fabric with a fast path that only records what it may use.
type fastFabric struct {
	transport.DirectFabric
	open atomic.Bool // a request

	source transport.Source
	failed bool // the request has

	mu    sync.Mutex
	knows map[transport.OriginEndpoint]int // ranges
	asks  transport.OriginEndpoint         // through which C asks the peer
	spans atomic.Int32                     // to which it accumulates
}

func (f *fastFabric) CachePeer(e transport.OriginEndpoint, _ transport.Rank) { f.setPeer(e) }

func (f *fastFabric) HasBacklog(transport.Rank) bool { return false }
func (f *fastFabric) Delivered(transport.Rank)       {}
func (f *fastFabric) KnowsPeer(transport.Rank) bool  { return f.peer() != nil }

func (f *fastFabric) DropPeers(e transport.OriginEndpoint) {
	if f.peer() == e {
		f.setPeer(nil)
	}
}

func (f *fastFabric) setPeer(e transport.OriginEndpoint) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asks = e
}

func (f *fastFabric) peer() transport.OriginEndpoint {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asks
}

func (f *fastFabric) CacheRange(e transport.OriginEndpoint, _ transport.Rank, _ uintptr,
	_ transport.Range, _ transport.Span, _ transport.Server) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.knows[e]++
}

func (f *fastFabric) DropEndpoint(e transport.OriginEndpoint) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.knows, e)
}

var _ transport.FastFabric = (*fastFabric)(nil)

func (f *fastFabric) SetCosts(bool, *transport.WayCosts) {}

func (f *fastFabric) TimeRows(bool, transport.Rank, *transport.Xfer) (float64, bool) {
	return 0, false
}

func (f *fastFabric) CacheSpan(transport.Rank, uintptr, uintptr, uintptr) { f.spans.Add(1) }
func (f *fastFabric) HasPendingAccumulates(transport.OriginEndpoint) bool { return false }

func (f *fastFabric) KnowsRange(transport.Rank, uintptr) bool       { return false }
func (f *fastFabric) DropRank(transport.Rank)                       {}
func (f *fastFabric) HasOpenRequests(transport.OriginEndpoint) bool { return f.open.Load() }
func (f *fastFabric) FastSource() transport.Source                  { return f.source }

func (f *fastFabric) RequestOpen(int32) bool  { return f.open.Load() || f.failed }
func (f *fastFabric) RequestEnded(int32) bool { return !f.open.Load() }

func (f *fastFabric) RequestFailure(int32) (transport.Rank, bool) {
	failed := f.failed && !f.open.Load()
	f.failed = f.failed && !failed
	return 1, failed
}

// uses returns how many ranges C knows by an endpoint, and how many in all.
func (f *fastFabric) uses(e transport.OriginEndpoint) (here, all int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.knows {
		all += n
	}
	return f.knows[e], all
}

// fastEnds opens two nodes of one rank each, of which the first has a fast path.
func fastEnds(t *testing.T, change func(*Options)) (*transporttest.Ends, *fastFabric) {
	net := pipe.New(pipe.Options{Direct: true, Shared: true})
	fast := &fastFabric{knows: map[transport.OriginEndpoint]int{}}
	ends := transporttest.NewEnds(t, []int{1, 1},
		func(info transport.OpenInfo) (transport.Transport, error) {
			d := net.Driver()
			if info.Me == 0 {
				d.Open = func(c transport.FabricConfig) (transport.Fabric, error) {
					f, err := net.Open(c)
					fast.DirectFabric = f.(transport.DirectFabric)
					return fast, err
				}
			}
			return Open(d, options(info, change))
		})
	ends.ConnectAll(t)
	return ends, fast
}

// TestFastPathBesideDeviceAccumulates shows that where devices accumulate C does not, but asks the
// server for its other operations.
func TestFastPathBesideDeviceAccumulates(t *testing.T) {
	leaktest.Check(t)
	for _, device := range []bool{false, true} {
		ends, fast := fastEnds(t, func(o *Options) { o.DeviceAcc = device })
		there := ends.Alloc(t, 1, 4096)
		ends.Open[0].(*Transport).AddSpan(1, there, there, there+4096)
		if n := fast.spans.Load(); (n == 0) != device || fast.peer() == nil {
			t.Errorf("device %v: C accumulates to %d allocations, and asks %v", device,
				n, fast.peer() != nil)
		}
	}
}

// TestFastPathWhileReleasing shows that a connection is kept while C has a transfer open there, and
// that C loses its keys before the release.
func TestFastPathWhileReleasing(t *testing.T) {
	leaktest.Check(t)
	ends, fast := fastEnds(t, nil)
	tr, there, mine := ends.Open[0].(*Transport), ends.Alloc(t, 1, 4096), ends.Alloc(t, 0, 4096)
	tr.conns.restless.Store(true)
	for round := range 3 {
		if err := done(t, tr.Get, plain(mine, there, 8)); err != nil {
			t.Fatal(err)
		}
		tr.AddRange(1, there, there, there+4096)
		if err := tr.RMW(1, &transport.RMW{Bytes: 8, Addr: there}); err != nil {
			t.Fatal(err)
		}
		l := tr.routes.targets[1].link.Load()
		if fast.peer() != transport.OriginEndpoint(l.ep) {
			t.Fatal("C does not ask the node")
		}
		if here, all := fast.uses(l.ep); here != 1 || all != 1 {
			t.Fatalf("C knows %d ranges by this connection, %d in all", here, all)
		}
		fast.open.Store(true)
		for range 10 {
			tr.thread.requestRelease(l)
			time.Sleep(time.Millisecond)
		}
		if l.state.Load() != linkOpen {
			t.Fatal("the connection was given back though a request is open")
		}
		fast.source, fast.failed = l.ep.Source(), round == 1
		if over, err := tr.TestRequest(transport.FastImplicit); over || err != nil {
			t.Errorf("over %v, error %v of an open request", over, err)
		}
		err := errAfter(func() { fast.open.Store(false); l.poller.wakeWaiters() },
			func() error { return tr.WaitRequest(transport.FastImplicit) })
		failed := errors.Is(err, transport.ErrPeerDead)
		if failed != (round == 1) || err != nil != failed {
			t.Errorf("round %d: %v", round, err)
		}
		// Unless it has gone since the request ended: it was asked for before.
		releaseLink(t, tr, l, linkReleasing)
		if _, all := fast.uses(l.ep); all != 0 {
			t.Errorf("C knows %d ranges", all)
		}
		if fast.peer() != nil {
			t.Error("C asks the node over a connection that was given back")
		}
		awaitRelease(t, l)
		// An error is returned once.
		if err := tr.WaitRequest(transport.FastImplicit); err != nil {
			t.Error(err)
		}
	}
}

// errAfter calls soon while do runs, and returns do's error.
func errAfter(soon func(), do func() error) error {
	timer := time.AfterFunc(2*time.Millisecond, soon)
	defer timer.Stop()
	return do()
}

// awaitRelease waits until a connection has been released.
func awaitRelease(t *testing.T, l *link) {
	t.Helper()
	released := func() bool { return l.state.Load() == linkReleased }
	eventually.True(t, released, "the node does not answer")
}
