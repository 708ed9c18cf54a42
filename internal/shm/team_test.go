// SPDX-License-Identifier: BSD-3-Clause

// Collectives of teams of one to six processes against plain loops, in random sequences, sizes
// around every step's limit, on collective contexts that are used again at once by other members.
package shm

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/testutil/leaktest"
	"libarmci/internal/transport"
)

const tagStart = 900

// form makes a team as core does: the first member allocates the context and sends it to the
// others.
func form(r *rank, members []int) transport.Team {
	me := slices.Index(members, r.Self())
	body := make([]byte, 24)
	var s transport.TeamStart
	if me == 0 {
		var err error
		if s, err = r.AllocContext(); err != nil {
			r.Fatal(err)
		}
		binary.NativeEndian.PutUint64(body, uint64(s.Context))
		binary.NativeEndian.PutUint64(body[8:], s.Phase)
		binary.NativeEndian.PutUint64(body[16:], s.Step)
		for _, m := range members[1:] {
			r.Send(m, tagStart, body)
		}
	} else {
		if _, err := r.Recv(worldRank(members[0]), tagStart, body); err != nil {
			r.Fatal(err)
		}
		s = transport.TeamStart{Context: int64(binary.NativeEndian.Uint64(body)),
			Phase: binary.NativeEndian.Uint64(body[8:]),
			Step:  binary.NativeEndian.Uint64(body[16:])}
	}
	t, err := r.AttachTeam(s, members, me)
	if err != nil {
		r.Error(err)
	}
	t.Barrier()
	if t.Size() != len(members) || t.Rank() != me {
		r.Errorf("member %d of %d, not of %v", t.Rank(), t.Size(), members)
	}
	return t
}

func disband(t transport.Team) {
	t.Barrier()
	t.Release(t.Rank() == 0)
}

// counters are words that the members of a team count in to see that a barrier holds them; each
// team has its own.
type counters struct{ base uintptr }

func newCounters(r *rank) counters { return counters{shared(r, page)} }

func (c *counters) next() *uint64 {
	c.base += 8
	return (*uint64)(kernel.Ptr(c.base))
}

// collectives: teams of every size, none of them waiting for the end of the one before.
func collectives(r *rank) {
	c := newCounters(r)
	playAll(r, r.World(), 100, c.next())
	for round := range 2 {
		for n := 1; n <= len(r.Ranks()); n++ {
			playSome(r, n, round, c.next())
		}
	}
	playAll(r, r.World(), 101, c.next())
}

// playSome makes a team of n ranks, drawn by lot.
func playSome(r *rank, n, round int, counter *uint64) {
	order := rand.New(rand.NewPCG(uint64(n), uint64(round))).Perm(len(r.Ranks()))
	if members := order[:n]; slices.Contains(members, r.Self()) {
		t := form(r, members)
		playAll(r, t, uint64(10*n+round), counter)
		disband(t)
	}
}

// wide: teams that are too large for flags, in turn with small ones on the same slots.
func wide(r *rank) {
	c := newCounters(r)
	for round, n := range []int{9, 3, 10, 9} {
		playSome(r, n, round, c.next())
	}
}

func TestWideTeams(t *testing.T) {
	leaktest.Check(t)
	run(t, 10, "wide")
}

// playAll runs a random sequence that is the same at all members.
func playAll(r *rank, t transport.Team, seed uint64, counter *uint64) {
	g := rand.New(rand.NewPCG(seed, 5))
	for i := range uint64(60 / max(len(r.Ranks()), 6)) {
		switch g.IntN(5) {
		case 0:
			for range 5 {
				atomic.AddUint64(counter, 1)
				t.Barrier()
				if count := atomic.LoadUint64(counter); count%uint64(
					t.Size()) != 0 {
					r.Errorf("a member left the barrier of %d before all had "+
						"come: %d", t.Size(), count)
				}
				t.Barrier()
			}
		case 1:
			bcast(r, t, seed+i, someSize(g), g.IntN(t.Size()))
		case 2:
			allgather(r, t, seed+i, 1+g.IntN(256))
		case 3:
			allreduce(r, t, g, seed+i)
		case 4: // the root runs ahead of the others as far as it can
			root, n := g.IntN(t.Size()), []int{8, 200, 300, 40000}[g.IntN(4)]
			for k := range uint64(25) {
				bcast(r, t, seed+i+k<<20, n, root)
			}
		}
	}
}

func someSize(g *rand.Rand) int {
	edges := []int{1, 8, smallStep - 1, smallStep, smallStep + 1, bulkStep - 1, bulkStep,
		bulkStep + 1, 5*bulkStep + 13,
		4*mostStep - 8, 4*mostStep + 13, 9*mostStep + 13}
	return edges[g.IntN(len(edges))]
}

// The limits of shm.h and collect.c, SHM_SMALL, REDUCE_LEAST and SHM_BULK.
const (
	smallStep = 256
	bulkStep  = 64 << 10
	mostStep  = 256 << 10
)

// content is what member m has in collective number seed.
func content(seed uint64, m, n int) []byte {
	b := make([]byte, n)
	g := rand.NewPCG(seed, uint64(m))
	for i := 0; i+8 <= n; i += 8 {
		binary.NativeEndian.PutUint64(b[i:], g.Uint64())
	}
	for i := n &^ 7; i < n; i++ {
		b[i] = byte(g.Uint64())
	}
	return b
}

func bcast(r *rank, t transport.Team, seed uint64, n, root int) {
	b := content(seed, t.Rank(), n)
	t.Bcast(unsafe.Pointer(&b[0]), int64(n), root)
	if !slices.Equal(b, content(seed, root, n)) {
		r.Errorf("broadcast of %d bytes from %d of %d: wrong", n, root, t.Size())
	}
}

func allgather(r *rank, t transport.Team, seed uint64, n int) {
	all := t.Allgather(content(seed, t.Rank(), n))
	for m := range t.Size() {
		if !slices.Equal(all[m*n:(m+1)*n], content(seed, m, n)) {
			r.Errorf("all-gather of %d bytes: part %d of %d is wrong", n, m, t.Size())
		}
	}
}

// folds of two elements, by operator; the logical ones and absolute values of one element alone.
var foldLong = map[kernel.Reduction]func(a, b int64) int64{
	kernel.Sum:       func(a, b int64) int64 { return a + b },
	kernel.Product:   func(a, b int64) int64 { return a * b },
	kernel.Max:       func(a, b int64) int64 { return max(a, b) },
	kernel.Min:       func(a, b int64) int64 { return min(a, b) },
	kernel.BitOr:     func(a, b int64) int64 { return a | b },
	kernel.BitAnd:    func(a, b int64) int64 { return a & b },
	kernel.AbsMax:    func(a, b int64) int64 { return max(abs(a), abs(b)) },
	kernel.AbsMin:    func(a, b int64) int64 { return min(abs(a), abs(b)) },
	kernel.LogicalOr: func(a, b int64) int64 { return truth(a != 0 || b != 0) },
}

var foldDouble = map[kernel.Reduction]func(a, b float64) float64{
	kernel.Sum:     func(a, b float64) float64 { return a + b },
	kernel.Product: func(a, b float64) float64 { return a * b },
	kernel.Max:     func(a, b float64) float64 { return max(a, b) },
	kernel.Min:     func(a, b float64) float64 { return min(a, b) },
	kernel.AbsMax:  func(a, b float64) float64 { return max(math.Abs(a), math.Abs(b)) },
}

func abs(a int64) int64 { return max(a, -a) }

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// allreduce: longs and doubles; the fold is in member order, so that even rounding is the same.
func allreduce(r *rank, t transport.Team, g *rand.Rand, seed uint64) {
	n := max(someSize(g)/8, 1)
	if g.IntN(2) == 0 && t.Rank() == n%t.Size() {
		// one member makes all expect that hand-overs take long
		yielded(time.Second)
	}
	if g.IntN(2) == 0 {
		op := sortedKeys(foldLong)[g.IntN(len(foldLong))]
		value := func(m, i int) int64 {
			return int64(uint64(m*7919+i*31)*2654435761+
				seed) % 5 * int64(1-2*(i%2))
		}
		reduceOf(r, t, kernel.Long, op, n, value, foldLong[op])
		return
	}
	op := sortedKeys(foldDouble)[g.IntN(len(foldDouble))]
	value := func(m, i int) float64 { return float64(int64(m*37+i*11+int(seed))%101-50) / 7 }
	reduceOf(r, t, kernel.Double, op, n, value, foldDouble[op])
}

func sortedKeys[V any](m map[kernel.Reduction]V) (keys []kernel.Reduction) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// reduceOf reduces n elements of member-dependent values, and compares them with a fold in member
// order.
func reduceOf[T comparable](r *rank, t transport.Team, typ kernel.Type, op kernel.Reduction, n int,
	value func(m, i int) T,
	fold func(a, b T) T) {
	x := make([]T, n)
	for i := range x {
		x[i] = value(t.Rank(), i)
	}
	t.Allreduce(unsafe.Pointer(&x[0]), int64(n), int(typ), int(op))
	for i := range x {
		want := value(0, i)
		if t.Size() == 1 && (op == kernel.AbsMax || op == kernel.AbsMin ||
			op == kernel.LogicalOr) {
			want = fold(want, want)
		}
		for m := 1; m < t.Size(); m++ {
			want = fold(want, value(m, i))
		}
		if x[i] != want {
			r.Fatalf("reduction %d of %d elements of type %d among %d: element %d is "+
				"%v, expected %v", op, n, typ, t.Size(), i,
				x[i], want)
		}
	}
}

// crowdedWaits: a rank that has lost a time slice by a yield sleeps instead, for a bounded time.
func crowdedWaits(r *rank) {
	r.World().Barrier()
	if r.Self() == 0 {
		for lostSlices() { // in the barrier, perhaps
			time.Sleep(time.Millisecond)
		}
		if !yielded(time.Microsecond) || lostSlices() {
			r.Error("a short yield counts as a time slice")
		}
		if yielded(time.Second) || !lostSlices() {
			r.Error("a lost time slice does not count")
		}
		for range 100 {
			yielded(time.Second)
		}
		for begin := time.Now(); lostSlices(); time.Sleep(time.Millisecond) {
			if time.Since(begin) > 30*time.Second {
				r.Fatalf("it never yields again")
			}
		}
	}
	r.World().Barrier()
}

func TestCrowdedWaits(t *testing.T) { run(t, 2, "crowded-waits") }

func TestCollectives(t *testing.T) {
	leaktest.Check(t)
	run(t, 6, "collectives")
}

// allTeams: every slot once, then none, then again.
func allTeams(r *rank) {
	if r.Self() != 0 {
		return
	}
	for range 2 {
		taken := map[int64]transport.Team{}
		for {
			s, err := r.AllocContext()
			if err != nil {
				if !errors.Is(err, transport.ErrNoMemory) {
					r.Error(err)
				}
				break
			}
			if taken[s.Context] != nil || s.Context == 0 {
				r.Fatalf("slot %d twice", s.Context)
			}
			taken[s.Context], _ = r.AttachTeam(s, []int{0}, 0)
		}
		if len(taken) < 63 {
			r.Errorf("only %d groups", len(taken))
		}
		for _, t := range taken {
			disband(t)
		}
	}
}

// spareTeam: a member without memory takes part in collective calls with spare memory, one team
// after the other.
func spareTeam(r *rank) {
	r.outOfMemory = r.Self() == 1
	for range 3 {
		s, members := transport.TeamStart{}, []int{0, 1}
		body := make([]byte, 24)
		if r.Self() == 0 {
			var err error
			if s, err = r.AllocContext(); err != nil {
				r.Fatal(err)
			}
			binary.NativeEndian.PutUint64(body, uint64(s.Context))
			binary.NativeEndian.PutUint64(body[8:], s.Phase)
			binary.NativeEndian.PutUint64(body[16:], s.Step)
		}
		r.World().Bcast(unsafe.Pointer(&body[0]), int64(len(body)), 0)
		s = transport.TeamStart{Context: int64(binary.NativeEndian.Uint64(body)),
			Phase: binary.NativeEndian.Uint64(body[8:]),
			Step:  binary.NativeEndian.Uint64(body[16:])}
		t, err := r.AttachTeam(s, members, r.Self())
		if errors.Is(err, transport.ErrNoMemory) != r.outOfMemory {
			r.Errorf("error %v of rank %d", err, r.Self())
		}
		t.Barrier()
		if all := t.Allgather([]byte{byte(r.Self())}); all[0] != 0 || all[1] != 1 {
			r.Errorf("gathered %v", all)
		}
		disband(t)
	}
	r.outOfMemory = false
}

func TestSpareTeam(t *testing.T) {
	leaktest.Check(t)
	run(t, 2, "spare team")
}

func TestTeamSlots(t *testing.T) {
	leaktest.Check(t)
	run(t, 2, "teams")
}
