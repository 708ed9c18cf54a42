// SPDX-License-Identifier: BSD-3-Clause

// The cost model: its parameters as text, the protocol it chooses, and measuring it over a network
// in memory.
package internode

import (
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"libarmci/internal/testutil/pipe"
	"libarmci/internal/transport"
)

// TestCostsAsText shows that parseCosts reads what String returns, and refuses other text.
func TestCostsAsText(t *testing.T) {
	c, err := parseCosts("put.nic=1,2,0.5 pin=7,8,0")
	if err != nil || c.put.nic != (line{1, 2, 0.5}) || c.pin != (line{7, 8, 0}) ||
		c.get.nic != usualCosts.get.nic {
		t.Errorf("%v, %v", c, err)
	}
	again, err := parseCosts(c.String())
	if err != nil || *again != *c {
		t.Errorf("%v became %v, %v", c, again, err)
	}
	for _, bad := range []string{"put.nic", "put.nic=1,2", "put.nic=1,2,3,4", "put.nic=1,-2,3",
		"put.nic=1,nan,3", "put.nic=1,2,1e13", "x=1,2,3"} {
		if _, err := parseCosts(bad); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

// TestOriginOfCosts shows which values armci_info marks as constants of the code.
func TestOriginOfCosts(t *testing.T) {
	measured := usualCosts
	for _, l := range measured.lines() {
		l.start += 0.5
	}
	some := measured
	some.pin, some.wake = usualCosts.pin, usualCosts.wake
	for _, c := range []struct {
		costs *costs
		set   bool
		want  string
	}{
		{&measured, false, "measured within this host"},
		{&some, false, "measured within this host (built in, not measured: pin, wake)"},
		{&some, true, "as it is set (built in, not measured: pin, wake)"},
		{&usualCosts, false, "built in, not measured here"},
	} {
		if got := c.costs.origin(c.set); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}

// TestCheapestProtocol shows which protocol the model chooses for which transfer.
func TestCheapestProtocol(t *testing.T) {
	for _, c := range []struct {
		w    workload
		want string
	}{
		{workload{requests: 1, bytes: 8}, transport.ByDevice},
		{workload{requests: 64, bytes: 512}, transport.ByPacking},
		{workload{requests: 64, bytes: 256 << 10}, transport.ByDevice},
		{workload{get: true, requests: 64, bytes: 512}, transport.ByPacking},
		{workload{requests: 10, bytes: 8000, behind: true}, transport.ByPacking},
		{workload{requests: 20, bytes: 20000, foreign: true}, transport.ByDevice},
	} {
		if got := usualCosts.cheapest(c.w).protocol; got != c.want {
			t.Errorf("%+v: %s, not %s", c.w, got, c.want)
		}
	}
}

// TestFitLine shows that a line goes through the measured patches, unless a parameter would be
// negative.
func TestFitLine(t *testing.T) {
	at := func(l line, rows, row int32) patch {
		p := patch{rows: rows, row: row}
		p.ns = l.cost(int64(rows), int64(p.totalBytes()))
		return p
	}
	for _, l := range []line{{1000, 100, 2}, {0, 50, 0.25}, {500, 0, 1}} {
		few, many, long := at(l, 4, 64), at(l, 64, 64), at(l, 64, 4096)
		got := fitLine(few, many, long)
		if math.Abs(got.start-l.start)+math.Abs(got.each-l.each)+
			math.Abs(got.byte-l.byte) > 1e-6 {
			t.Errorf("%v became %v", l, got)
		}
		many.ns += 1e6 // another process had the processor
		if got := fitLine(few, many, long); min(got.start, got.each, got.byte) < 0 {
			t.Errorf("with a late patch %v became %v", l, got)
		}
	}
}

// TestSteadyTimes shows that times are measured until two series agree, and that a slow spell at
// the beginning does not count.
func TestSteadyTimes(t *testing.T) {
	calls := 0
	spell := func() float64 {
		if calls++; calls <= 2*rounds {
			return 1000 + float64(calls*100)
		}
		return 100
	}
	if got := steadyTimes(spell, func() float64 { return 5 }); got[0] != 100 || got[1] != 5 {
		t.Errorf("%v is found", got)
	}
	if calls > 5*rounds {
		t.Errorf("measured %d times, although what is measured is steady", calls)
	}
	wild := 0
	steadyTimes(func() float64 { wild++; return float64(1 + wild/rounds*wild/rounds) })
	if wild != maxSeries*rounds {
		t.Errorf("measured %d times what never is the same", wild)
	}
}

// TestSleepingServer shows that rows that would travel faster by frames are the device's while the
// target's server sleeps and waking it takes long.
func TestSleepingServer(t *testing.T) {
	const lines = "put.nic=10000,0,0 put.host=1000,0,0 wake="
	for wake, want := range map[string]bool{"1e9,0,0": false, "0,0,0": true} {
		net := pipe.New(pipe.Options{Direct: true, Shared: true})
		ends := newEnds(t, net, func(o *Options) { o.Model = lines + wake }, 1, 1)
		ends.ConnectAll(t)
		tr := ends.Open[0].(*Transport)
		here, there := ends.Alloc(t, 0, 4096), ends.Alloc(t, 1, 4096)
		x := &transport.Xfer{Count: []int32{8, 16},
			Local:  transport.Section{Base: here, Stride: []int32{64}},
			Remote: transport.Section{Base: there, Stride: []int32{64}}}
		put := func() (framed bool) {
			t.Helper()
			g := tr.routes.targets[1]
			before := g.tx.lastStore
			if err := errors.Join(tr.Put(1, x), tr.Fence(1)); err != nil {
				t.Fatal(err)
			}
			return g.tx.lastStore != before
		}
		put()
		time.Sleep(5 * time.Millisecond)
		if put() != want {
			t.Errorf("waking takes %s ns: by message is %v", wake, !want)
		}
		asked := false
		// this thread may be away for longer than that is known, again and again
		for end := time.Now().Add(10 * time.Second); !asked && time.Now().Before(end); {
			tr.routes.targets[1].progress.server.MarkAwake()
			asked = put()
		}
		if !asked {
			t.Errorf("waking takes %s ns: the device, beside an awake server", wake)
		}
	}
}

// TestRegisterFrom shows from which length on registering costs less than copying.
func TestRegisterFrom(t *testing.T) {
	for want, c := range map[int]costs{
		2 * pageBytes: {copy: line{byte: 1}, pin: line{pageBytes, pageBytes / 2, 0}},
		1 << 30:       {copy: line{byte: 0.01}, pin: line{1000, 100, 0}},
	} {
		if got := c.registerFrom(); got < want || got > want+want/2 {
			t.Errorf("%v: memory is registered from %d bytes on", &c, got)
		}
	}
}

// TestRegisterAfter shows that copying that many bytes takes as long as registering.
func TestRegisterAfter(t *testing.T) {
	for _, c := range []costs{{copy: line{byte: 0.01}, pin: line{1000, 100, 0}},
		{copy: line{byte: 1}, pin: line{5000, 0, 0}}} {
		const bytes = 64 * pageBytes
		got, want := float64(c.registerAfter(bytes))*c.copy.byte,
			c.pin.cost(bytes/pageBytes+1, 0)
		if math.Abs(got-want) > 1 {
			t.Errorf("%v: %g ns of copying, registering takes %g", &c, got, want)
		}
	}
	if got := (&costs{pin: line{start: never}}).registerAfter(pageBytes); got < 1<<30 {
		t.Errorf("what cannot be registered is to be after %d bytes", got)
	}
}

// TestMeasureWaitsForEffect shows that the time of a put ends when it has taken effect, by any
// protocol.
func TestMeasureWaitsForEffect(t *testing.T) {
	net := pipe.New(pipe.Options{Direct: true, Shared: true, MaxFrame: 16 << 10, Credits: 16,
		Latency: 2 * time.Millisecond})
	d := net.Driver()
	d.Notes = func() string { return "pipe" }
	o := Options{Settings: transport.Settings{Timeout: patience, Eager: 8 << 10,
		Buffer: 16 << 20}, Poll: 20 * time.Microsecond}
	c, err := calibrate(d, o)
	if err != nil {
		t.Fatal(err)
	}
	for name, l := range map[string]line{"put.nic": c.put.nic, "put.host": c.put.host,
		"get.nic": c.get.nic, "get.host": c.get.host} {
		if got := l.cost(4, 4*64); got < 2e6 {
			// what was measured; how it is divided depends on the luck of the longer
			// ones
			t.Errorf("%s: four rows take %.0f ns over a network that takes 2 ms: %v",
				name, got, c)
		}
	}
	if c.put.basis == assumed || c.get.basis == assumed {
		t.Errorf("not measured: %v", c)
	}
	if text := describeModel(d, o); !strings.Contains(text, "put.nic=") ||
		!strings.Contains(text, "measured within this host") {
		t.Error(text)
	}
}

// lendCounter counts RegisterTemporarily calls for memory that is registered for good.
type lendCounter struct {
	transport.DirectFabric
	vain *atomic.Int32
	real *atomic.Int32
}

func (l lendCounter) RegisterTemporarily(lo, hi uintptr) (key uint64, release func(), ok bool) {
	if l.LocalRange(lo) != nil {
		l.vain.Add(1)
	} else {
		l.real.Add(1)
	}
	return l.DirectFabric.RegisterTemporarily(lo, hi)
}

// TestMeasuredRegistering shows that registering is measured with memory that is not registered.
func TestMeasuredRegistering(t *testing.T) {
	d := pipe.New(pipe.Options{Direct: true, Shared: true, MaxFrame: 16 << 10,
		Credits: 16}).Driver()
	var vain, real atomic.Int32
	open := d.Open
	d.Open = func(c transport.FabricConfig) (transport.Fabric, error) {
		f, err := open(c)
		if err != nil {
			return nil, err
		}
		return lendCounter{f.(transport.DirectFabric), &vain, &real}, nil
	}
	o := Options{Settings: transport.Settings{Timeout: patience, Eager: 8 << 10,
		Buffer: 16 << 20}, Poll: 20 * time.Microsecond}
	if _, err := calibrate(d, o); err != nil {
		t.Fatal(err)
	}
	if vain.Load() > 0 || real.Load() < 2*rounds {
		t.Errorf("%d times with memory that is registered, %d times with other memory",
			vain.Load(), real.Load())
	}
}
