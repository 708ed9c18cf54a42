// SPDX-License-Identifier: BSD-3-Clause

// Puts and gets of the conformance suite, in all three shapes, compared with a model of the remote
// memory that plain loops maintain; and the order and fence rules of transport.Transport.
package transporttest

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"

	"libarmci/internal/transport"
)

// transferTests are tests of puts, gets and their order.
type transferTests struct{ *suite }

func (s transferTests) testContiguous(t *testing.T) {
	s.checkTransfers(t, 1, 16,
		s.randomContiguous)
}

func (s transferTests) testStrided(t *testing.T) { s.checkTransfers(t, 2, 24, s.randomStrided) }

func (s transferTests) testVector(t *testing.T) { s.checkTransfers(t, 3, 16, s.randomVector) }

// xferMaker makes a random transfer between the scratch memory here and the memory of a place, of
// elements of elem bytes.
type xferMaker func(r *rand.Rand, place, elem int) *transport.Xfer

// checkTransfers puts and gets n random transfers at every place.
func (s transferTests) checkTransfers(t *testing.T, seed uint64, n int, some xferMaker) {
	r := rand.New(rand.NewPCG(seed, 0))
	for place := range s.memOf {
		s.mustRequest(t, place, command{Do: "fill", Seed: seed})
		model := s.filledModel(seed)
		for i := range n {
			x := some(r, place, 1)
			if i%2 == 0 {
				s.checkPut(t, place, x, model, r.Uint64())
			} else {
				s.checkGet(t, place, x, model)
			}
		}
		s.compareMemory(t, place, model)
	}
}

// filledModel is a copy of the memory of a place after the command "fill".
func (s *suite) filledModel(seed uint64) []byte {
	m := make([]byte, reachBytes)
	fill(m, seed)
	return m
}

// modelBlock is the part of the model for a remote block.
func (s *suite) modelBlock(model []byte, place int, b block) []byte {
	at := b.addr - s.memOf[place]
	return model[at : at+uintptr(b.nbytes)]
}

// checkPut puts random bytes to a place and to the model.
func (s *suite) checkPut(t *testing.T, place int, x *transport.Xfer, model []byte, seed uint64) {
	t.Helper()
	fill(s.end.memory(scratchAt, dataBytes), seed)
	local, remote := sides(x)
	for i := range remote {
		copy(s.modelBlock(model, place, remote[i]), local[i].asSlice())
	}
	s.checkDoneOnce(t, s.end.putTo(place), x)
}

// checkGet gets bytes from a place and compares all scratch memory with the model.
func (s *suite) checkGet(t *testing.T, place int, x *transport.Xfer, model []byte) {
	t.Helper()
	scratch := s.end.memory(scratchAt, dataBytes)
	fill(scratch, 99)
	want := bytes.Clone(scratch)
	local, remote := sides(x)
	for i := range remote {
		at := local[i].addr - (s.end.Mem + scratchAt)
		copy(want[at:], s.modelBlock(model, place, remote[i]))
	}
	s.checkDoneOnce(t, s.end.getFrom(place), x)
	if i := firstDifference(scratch, want); i >= 0 {
		t.Fatalf("get from place %d: byte %d is %#x, expected %#x", place, i, scratch[i],
			want[i])
	}
}

// compareMemory fences a place and compares its memory with the model.
func (s *suite) compareMemory(t *testing.T, place int, model []byte) {
	t.Helper()
	if err := s.end.Transport.Fence(transport.Peer(place)); err != nil {
		t.Fatal(err)
	}
	got := s.mustRequest(t, place, command{Do: "read"}).Body
	if i := firstDifference(got, model); i >= 0 {
		t.Fatalf("memory of place %d: byte %d is %#x, expected %#x", place, i, got[i],
			model[i])
	}
}

// firstDifference is the index of the first byte of b that a does not have, -1 if there is none.
func firstDifference(a, b []byte) int {
	for i := range b {
		if i >= len(a) || a[i] != b[i] {
			return i
		}
	}
	return -1
}

// sides lists the blocks of both sides of a transfer.
func sides(x *transport.Xfer) (local, remote []block) {
	return blocks(&x.Local, x.Count, localSide(x.Vector)),
		blocks(&x.Remote, x.Count, remoteSide(x.Vector))
}

// randomContiguous makes a contiguous transfer.
func (s *suite) randomContiguous(r *rand.Rand, place, elem int) *transport.Xfer {
	n := []int{1, 2, 3, 7, 8, 63, 64, 65, 1000, 4096, 20000, dataBytes}[r.IntN(12)]
	n = max(n/elem, 1) * elem
	from, to := r.IntN(dataBytes-n+1), r.IntN(dataBytes-n+1)
	return contiguous(s.end.Mem+scratchAt+uintptr(from), s.memOf[place]+uintptr(to), n)
}

// randomStrided makes a strided transfer of up to four levels. Its blocks do not overlap; strides
// may be negative.
func (s *suite) randomStrided(r *rand.Rand, place, elem int) *transport.Xfer {
	x := &transport.Xfer{Count: []int32{int32(elem * (1 + r.IntN(60/elem)))}}
	for range r.IntN(5) {
		x.Count = append(x.Count, int32(1+r.IntN(4)))
	}
	x.Local = s.randomSection(r, s.end.Mem+scratchAt, x.Count, elem)
	x.Remote = s.randomSection(r, s.memOf[place], x.Count, elem)
	return x
}

// randomSection makes one side of a strided transfer within dataBytes of memory.
func (s *suite) randomSection(r *rand.Rand, mem uintptr, count []int32,
	elem int) transport.Section {
	var sec transport.Section
	room, lowest := int64(count[0]), int64(0)
	for _, c := range count[1:] {
		stride := room + int64(elem*r.IntN(8))
		room = stride * int64(c)
		if r.IntN(3) == 0 {
			stride = -stride
			lowest += stride * int64(c-1)
		}
		sec.Stride = append(sec.Stride, int32(stride))
	}
	at := r.Int64N((dataBytes-room)/int64(elem)+1) * int64(elem)
	sec.Base = mem + uintptr(at-lowest)
	return sec
}

// randomVector makes a transfer of up to four descriptors. Their segments do not overlap.
func (s *suite) randomVector(r *rand.Rand, place, elem int) *transport.Xfer {
	x := &transport.Xfer{Vector: []transport.Segments{}}
	from, to := r.Perm(64), r.Perm(64) // places of 1 KiB
	for range 1 + r.IntN(4) {
		d := transport.Segments{Bytes: elem * (1 + r.IntN(900/elem))}
		for range r.IntN(10) {
			d.Local = append(d.Local,
				s.end.Mem+scratchAt+uintptr(from[0]<<10+elem*r.IntN(64/elem)))
			d.Remote = append(d.Remote,
				s.memOf[place]+uintptr(to[0]<<10+elem*r.IntN(64/elem)))
			from, to = from[1:], to[1:]
		}
		x.Vector = append(x.Vector, d)
	}
	return x
}

// testOrder shows that an operation that is posted after the local completion of an earlier one
// takes effect after it.
func (s transferTests) testOrder(t *testing.T) {
	p, word := transport.Peer(1), s.memOf[1]+wordsAt
	mine := s.end.memory(scratchAt, 16)
	for i := range uint64(100) {
		for k := range uint64(3) {
			binary.NativeEndian.PutUint64(mine, i<<8|k)
			x := contiguous(s.end.Mem+scratchAt, word, 8)
			s.checkDoneOnce(t, s.end.putTo(int(p)), x)
		}
		x := contiguous(s.end.Mem+scratchAt+8, word, 8)
		s.checkDoneOnce(t, s.end.getFrom(int(p)), x)
		if got := binary.NativeEndian.Uint64(mine[8:]); got != i<<8|2 {
			t.Fatalf("a get after put %#x found %#x", i<<8|2, got)
		}
		if s.end.Private {
			continue
		}
		rmw := &transport.RMW{Op: transport.FetchAdd, Bytes: 8, Addr: word}
		if err := s.end.Transport.RMW(p, rmw); err != nil || uint64(rmw.Old) != i<<8|2 {
			t.Fatalf("a read-modify-write after put %#x found %#x, %v", i<<8|2, rmw.Old,
				err)
		}
	}
}

// testFence shows that bytes that any place has put and fenced are there, for the target itself and
// for a get.
func (s transferTests) testFence(t *testing.T) {
	for from := range s.memOf {
		for to := range s.memOf {
			seed := uint64(100 + 10*from + to)
			s.mustRequest(t, to, command{Do: "clear"})
			n := dataBytes/2 + 10*from + to
			s.mustRequest(t, from, command{Do: "put", Place: to, Addr: s.memOf[to],
				N:    n,
				Seed: seed})
			model := make([]byte, reachBytes)
			fill(model[:n], seed)
			s.compareMemory(t, to, model)
			x := contiguous(s.end.Mem+scratchAt, s.memOf[to], dataBytes)
			s.checkGet(t, to, x, model)
		}
	}
}

// testThreads shows that several threads may call all methods at the same time.
func (s transferTests) testThreads(t *testing.T) {
	const threads, part = 4, dataBytes / 4
	s.mustRequest(t, 1, command{Do: "clear"})
	var running sync.WaitGroup
	for th := range uintptr(threads) {
		running.Go(func() {
			mine := s.end.memory(int(scratchAt+th*part), part)
			for i := range 10 {
				at := th*part + uintptr(i*100)
				fill(mine[:part/2], uint64(th)<<8|uint64(i))
				n := part/2 - i*100
				out := contiguous(s.end.Mem+scratchAt+th*part, s.memOf[1]+at, n)
				back := contiguous(s.end.Mem+scratchAt+th*part+part/2,
					s.memOf[1]+at, n)
				err := waitTransfer(s.end.putTo(1), out)
				if err == nil {
					err = waitTransfer(s.end.getFrom(1), back)
				}
				if err == nil {
					err = s.end.Transport.Fence(1)
				}
				if err != nil || !bytes.Equal(mine[:n], mine[part/2:part/2+n]) {
					t.Errorf("thread %d, round %d: %v, or it got other bytes "+
						"than it had put", th, i, err)
					return
				}
			}
		})
	}
	running.Wait()
}
