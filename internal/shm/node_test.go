// SPDX-License-Identifier: BSD-3-Clause

// The transport between real processes passes the conformance suite, and memory of a node is what
// transport.Node promises: one address for all, zeroed, accounted, given back.
package shm

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// joined are the scenarios of ranks that have joined.
var joined = map[string]func(*rank){
	"conformance":        serveConformance,
	"private":            servePrivate,
	"exposing":           exposing,
	"foreign":            foreignTransfers,
	"witness":            witness,
	"nothing exposed":    nothingExposed,
	"memory":             memory,
	"files":              files,
	"file limit":         fileLimit,
	"regions":            regions,
	"collectives":        collectives,
	"crowded-waits":      crowdedWaits,
	"beside":             beside,
	"teams":              allTeams,
	"spare team":         spareTeam,
	"wide":               wide,
	"mutex":              lockAll,
	"hog":                hog,
	"far":                far,
	"rw exclusion":       rwExclusion,
	"rw word exclusion":  rwWordExclusion,
	"rw word tries":      rwWordTries,
	"rw word waits":      rwWordWaits,
	"rw together":        rwTogether,
	"rw stream":          rwStream,
	"events":             raiseEvents,
	"event sleepers":     eventSleepers,
	"device marks":       deviceMarks,
	"event words":        eventWords,
	"lock and exit":      lockAndExit,
	"updates":            updates,
	"update runs":        updateRuns,
	"messages":           messages,
	"messages in pieces": messagesInPieces,
	"short buffers":      shortBuffers,
	"notify":             notify,
	"delivery":           delivery,
	"full ring":          fullRing,
	"violation":          violation,
	"leave":              func(*rank) {},
	"wait to die":        waitToDie,
	"exit early":         exitEarly,
	"end late":           endLate,

	"finalise early":   finaliseEarly,
	"barrier too many": barrierTooMany,

	"be watched":  beWatched,
	"tell":        claimAndExit,
	"leave alone": leaveAlone,
	"claim":       claimOnRequest,
	"sleep":       waiterSleepsInEpoll,
	"look":        waiterLooksAtMemory,
	"be asked":    beAsked,
}

func end(t testing.TB, m *Node, in *transporttest.Inbox) *transporttest.End {
	mem, err := m.AllocatePopulated(transporttest.MemBytes)
	if err != nil {
		t.Fatal(err)
	}
	return &transporttest.End{Transport: NewTransport(m, in.Handle), Control: m,
		Ranks: m.Ranks(), Self: m.Self(), Mem: mem,
		Inbox: in}
}

func serveConformance(r *rank) {
	e := end(r, r.Node, &transporttest.Inbox{})
	r.World().Barrier() // all have a handler
	if err := transporttest.Serve(e); err != nil {
		r.Error(err)
	}
}

func TestConformance(t *testing.T) { conform(t, "conformance", end) }

func TestConformancePrivate(t *testing.T) { conform(t, "private", privateEnd) }

// conform runs the suite with two other processes. The test itself is local rank 0.
func conform(t *testing.T, scenario string,
	end func(testing.TB, *Node, *transporttest.Inbox) *transporttest.End) {
	leaktest.Check(t)
	d := openListener(t)
	others := start(t, 1, 2)
	o := order{Scenario: scenario, Listeners: []string{d.Name}, Secret: testSecret(),
		Arena: testArena, Base: testBase,
		Keep: 8 << 20, Margin: 16 << 20}
	for _, p := range others {
		o.Listeners = append(o.Listeners, p.readLine(t))
	}
	for _, p := range others {
		o.Self = p.Local
		p.order(t, o)
	}
	o.Self = 0
	opt := o.options()
	opt.Lost = func(r transport.Rank, reason string) { t.Errorf("rank %d lost: %s", r, reason) }
	m, err := d.Join(opt)
	if err != nil {
		t.Fatal(err)
	}
	e := end(t, m, &transporttest.Inbox{})
	m.World().Barrier()
	transporttest.Run(t, e)
	m.World().Barrier()
	m.Leave(true)
	m.Leave(true)
	for _, p := range others {
		p.awaitExit(t, false)
	}
}

// share returns the numbers of all ranks, of which mine is this rank's.
func share(r *rank, mine uint64) []uint64 {
	all := r.World().Allgather(binary.NativeEndian.AppendUint64(nil, mine))
	out := make([]uint64, len(all)/8)
	for i := range out {
		out[i] = binary.NativeEndian.Uint64(all[8*i:])
	}
	return out
}

func at(addr uintptr, n int) []byte { return bytesAt(span{addr, addr + uintptr(n)}) }

// memory: n ranks allocate, write into each other's memory, free; and the limits.
func memory(r *rank) {
	const n = 300000
	addr, err := r.AllocatePopulated(n)
	if err != nil {
		r.Fatal(err)
	}
	for i, b := range at(addr, n) {
		if b != 0 {
			r.Fatalf("new memory has %#x at %d", b, i)
		}
	}
	if r.Publish(addr, n) != nil {
		r.Error("publish failed")
	}
	all := share(r, uint64(addr))
	for to, a := range all {
		if !r.InArena(uintptr(a)) || !r.InRegionOf(to, uintptr(a), n) ||
			r.InRegionOf(to, uintptr(a), n+1) || r.InRegionOf(to, uintptr(a)-1, 1) ||
			r.InRegionOf((to+1)%len(all), uintptr(a), 1) ||
			r.InRegionOf(to, uintptr(a), -1) ||
			!r.InRegionOf(to, uintptr(a)+n-1, 1) {
			r.Errorf("memory of local rank %d is not told apart", to)
		}
		at(uintptr(a), n)[r.Self()*100] = byte(1 + r.Self())
	}
	r.World().Barrier()
	for from := range all {
		if got := at(addr, n)[from*100]; got != byte(1+from) {
			r.Errorf("byte of local rank %d is %d", from, got)
		}
	}
	r.World().Barrier()
	reuse(r, addr, n)
	limits(r)
	if r.InArena(0) || r.InArena(r.Base()-1) || r.InArena(r.Base()+uintptr(r.Bytes())) ||
		!r.InArena(r.Base()) {
		r.Error("what is inside the arena?")
	}
}

// reuse: freed memory comes back as it is; what goes beyond the budget loses its pages.
func reuse(r *rank, addr uintptr, n int64) {
	if err := r.Withdraw(addr); err != nil {
		r.Error(err)
	}
	if err := r.Withdraw(addr); !errors.Is(err, transport.ErrBadAddr) {
		r.Errorf("withdrawn twice: %v", err)
	}
	if r.InRegionOf(r.Self(), addr, 1) {
		r.Error("withdrawn memory is owned")
	}
	r.Deallocate(addr)
	if again, ok := r.AllocateKept(n); !ok || again != addr ||
		at(again, 1)[0] == 0 && r.Self() == 0 {
		r.Errorf("reuse: %#x %v, was %#x", again, ok, addr)
	}
	big, err := r.AllocatePopulated(20 << 20) // more than Keep
	if err != nil {
		r.Fatal(err)
	}
	at(big, 1)[0] = 7
	r.Deallocate(big)
	if _, kept, high := r.MemoryUse(); kept != 0 || high < 20<<20 {
		r.Errorf("kept %d, most %d", kept, high)
	}
	if big, err = r.AllocatePopulated(20 << 20); err != nil || at(big, 1)[0] != 0 {
		r.Errorf("memory given back is not zero: %v", err)
	}
	r.Deallocate(big)
	r.Deallocate(addr)
}

// limits: more than a slice or the machine has is refused, and kept memory is dropped before.
func limits(r *rank) {
	if _, err := r.AllocatePopulated(testArena); !errors.Is(err, transport.ErrNoMemory) {
		r.Errorf("more than a slice: %v", err)
	}
	err := r.CheckReservation(1 << 60)
	if !errors.Is(err, transport.ErrNoMemory) || !strings.Contains(err.Error(), "iB left") {
		r.Errorf("more than the machine: %v", err)
	}
	if _, kept, _ := r.MemoryUse(); kept != 0 {
		r.Errorf("%d bytes are still kept when the machine is full", kept)
	}
	if err := r.CheckReservation(0); err != nil {
		r.Error(err)
	}
}

func TestMemory(t *testing.T) {
	leaktest.Check(t)
	run(t, 3, "memory")
}

// regions: local rank 0 changes its table while the others look up regions. They find each region
// that exists, and never a mixture of an old and a new one.
func regions(r *rank) {
	const slots, size, looks = 8, 3 * page, 40000
	base := shared(r, slots*size)
	// always there, moved within the table by every change before it
	fixed := base + slots/2*size
	if r.Self() == 0 {
		if r.Publish(fixed, size) != nil {
			r.Fatal("publish failed")
		}
		r.World().Barrier()
		changeTable(r, base, slots, size)
		return
	}
	r.World().Barrier()
	for i := range looks {
		if !r.InRegionOf(0, fixed, size) || r.InRegionOf(0, fixed, size+1) ||
			r.InRegionOf(0, fixed-1, 2) {
			r.Fatalf("look %d: the lasting region is not found as it is", i)
		}
		if at := base + uintptr(i%slots)*size; r.InRegionOf(0, at+size/2, size) {
			r.Fatalf("look %d: region %d seems to be longer than it can be", i, i%slots)
		}
	}
	r.Notify(0, worldRank(r.Self()))
}

// changeTable publishes and withdraws regions around one that stays.
func changeTable(r *rank, base uintptr, slots, size int) {
	open := make([]bool, slots)
	x := uint32(1)
	for r.NotifyWait(worldRank(1), 0) == 0 || r.NotifyWait(worldRank(2), 0) == 0 {
		x = x*1664525 + 1013904223
		i := int(x>>16) % slots
		lo := base + uintptr(i*size)
		var err error
		switch {
		case i == slots/2:
			continue
		case open[i]:
			err = r.Withdraw(lo)
		default:
			err = r.Publish(lo, int64(size))
		}
		if open[i] = !open[i]; err != nil || open[i] != r.InRegionOf(0, lo, int64(size)) {
			r.Fatalf("region %d: open is %v, found is not (%v)", i, open[i], err)
		}
	}
}

func TestRegionTable(t *testing.T) {
	leaktest.Check(t)
	run(t, 3, "regions")
}

// An arena is laid out by its size. What comes from another node is delivered whole or not at all,
// so an empty message ring must have room for the longest fragment (32 KiB and its header) however
// small the arena is.
func TestRingsOfSmallArena(t *testing.T) {
	for _, ranks := range []int{1, 16, 150, 400} {
		for arena := int64(smallestArena); arena <= 1<<40; arena *= 2 {
			plan, err := planOf(arena, ranks, ranks+1)
			if err == nil && plan.ring_bytes < 48<<10 {
				t.Errorf("%d ranks in %d MiB: rings of %d bytes", ranks, arena>>20,
					plan.ring_bytes)
			}
		}
	}
}
