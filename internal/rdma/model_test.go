// SPDX-License-Identifier: BSD-3-Clause

// The cost model: what it chooses, and that what it prints can be set. Pieces of transfers that depend on it.
package rdma

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// People are told the parameters, and what was set is not measured.
func TestNotes(t *testing.T) {
	someDevice(t)
	set := usual
	set.getHost.start = 31415
	for model, words := range map[string]string{
		auto: "cost model, measured within this host: put.nic=", set.String(): "as it is set: " + set.String() + "; so 64 rows",
	} {
		notes := Wire(Options{Model: model, Timeout: patience}).Notes()
		if t.Log(notes); !strings.Contains(notes, words) {
			t.Errorf("%q does not say %q", notes, words)
		}
	}
}

// A line goes through the points that were measured, unless that would give something for less than nothing.
func TestFit(t *testing.T) {
	at := func(l linear, patches []patch) (p []point) {
		for _, a := range patches {
			p = append(p, point{float64(a.rows), float64(a.rows * a.row), l.time(int64(a.rows), int64(a.row*a.rows))})
		}
		return p
	}
	differ := func(a, b linear) bool {
		return math.Abs(a.start-b.start)+math.Abs(a.each-b.each)+math.Abs(a.byte-b.byte) > 1e-6
	}
	for _, l := range []linear{{1000, 100, 2}, {0, 50, 0.25}, {500, 0, 1}} {
		p := at(l, patchesNIC[:])
		if got := fit(p); differ(got, l) {
			t.Errorf("%v became %v", l, got)
		}
		p[1].time += 1e6 // somebody else had the processor
		if got := fit(p); got.start < 0 || got.each < 0 || got.byte < 0 {
			t.Errorf("with a late point %v became %v", l, got)
		}
		l.each = 0
		if got := fitBytes(at(l, patchesHost[:])); differ(got, l) {
			t.Errorf("%v became %v", l, got)
		}
	}
}

// What people are shown can be set, alone and in part.
func TestCostsAreReadBack(t *testing.T) {
	c := usual
	c.measured = [2]bool{true, true}
	c.putNIC, c.pin.each = linear{12345, 678, 0.25}, 1e6
	back, err := parseCosts(c.String())
	if err != nil || back != c {
		t.Errorf("%v became %v, %v", c, back, err)
	}
	back, err = parseCosts("get.host=1,2,3")
	if err != nil || back.getHost != (linear{1, 2, 3}) || back.putNIC != usual.putNIC {
		t.Errorf("%v, %v", back, err)
	}
	for _, bad := range []string{"ts=1,2,3", "put.nic", "put.nic=1,2", "put.nic=1,2,-3", "put.nic=1,2,x", "put.nic=1,2,NaN"} {
		if _, err := parseCosts(bad); err == nil || !strings.Contains(err.Error(), bad[:3]) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// The formulas of paper 004, with figures that are easy to reckon with.
func TestChoose(t *testing.T) {
	c := costs{putNIC: linear{0, 1000, 1}, putHost: linear{2000, 100, 2}, getNIC: linear{0, 5000, 1}, copy: linear{byte: 1},
		getHost: linear{2000, 100, 2}, getPush: linear{500, 1000, 1}}
	for _, s := range []struct {
		shape
		want string
	}{
		{shape{requests: 64, bytes: 64 * 100}, host},
		{shape{requests: 64, bytes: 64 * 10000}, nic},
		{shape{requests: 4, bytes: 64 * 100}, nic}, // gathered
		{shape{requests: 4, bytes: 64 * 100, behind: true}, nic},
		{shape{requests: 1, bytes: 100}, nic},
		{shape{requests: 1, bytes: 100, behind: true}, host},
		{shape{requests: 64, bytes: 64 * 10000, foreign: true}, host},
		{shape{get: true, requests: 64, bytes: 64 * 100}, host},
		{shape{get: true, requests: 64, bytes: 64 * 2000}, push},
		{shape{get: true, requests: 64, bytes: 64 * 2000, foreign: true}, host},
		{shape{get: true, requests: 1, bytes: 0, foreign: true}, host},
	} {
		if got := c.choose(s.shape); got != s.want {
			t.Errorf("%+v travels by %s", s.shape, got)
		}
	}
	if row := c.fromRow(false, 64); row < 900 || row > 1200 {
		t.Errorf("the device gets rows from %d bytes on", row)
	}
}

func TestLendFrom(t *testing.T) {
	for want, c := range map[int]costs{
		2 * 4096: {copy: linear{byte: 1}, pin: linear{4096, 2048, 0}},
		1 << 30:  {copy: linear{byte: 0.01}, pin: linear{1000, 100, 0}},
	} {
		if got := c.lendFrom(); got < want || got > want+want/2 {
			t.Errorf("%v: memory is registered from %d bytes on", c, got)
		}
	}
}

// A message carries more where a request costs more, or more is to be moved, and less where copying costs more; no other
// size of it makes packing, travelling and unpacking shorter.
func TestPiece(t *testing.T) {
	for _, c := range []costs{usual, {putNIC: linear{each: 50000}, getNIC: linear{each: 50000}, copy: linear{byte: 0.5}},
		{putNIC: linear{each: 20}, getNIC: linear{each: 900}, copy: linear{byte: 3}}, {}} {
		for _, get := range []bool{false, true} {
			each := c.putNIC.each
			if get {
				each = c.getNIC.each
			}
			for bytes := int64(1); bytes < 1<<26; bytes *= 3 {
				time := func(p int) float64 {
					return 2*c.copy.byte*float64(p) + 2*each*float64(bytes)/float64(p)
				}
				p := c.piece(get, bytes)
				if p < leastPiece || p > mostBytes {
					t.Fatalf("%v: %d bytes in messages of %d", c, bytes, p)
				}
				for other := leastPiece; other <= mostBytes; other += leastPiece {
					if time(other) < 0.999*time(p) {
						t.Fatalf("%v: %d bytes in messages of %d, not of %d", c, bytes, p, other)
					}
				}
			}
		}
	}
}

// Buffers take the memory they may, are large where there is much, and are enough.
func TestBufferBytes(t *testing.T) {
	for memory, want := range map[int64]int{1 << 20: leastBytes, 2 << 20: leastBytes, 4 << 20: 32 << 10, 8 << 20: mostBytes,
		16 << 20: mostBytes, 1 << 30: mostBytes} {
		tr := &Transport{opt: Options{Buffer: memory}, size: bufferBytes(memory)}
		if tr.size != want {
			t.Errorf("%d bytes are divided into buffers of %d", memory, tr.size)
		}
		if n := tr.buffers(1); n < leastBuffers || int64(tr.buffers(allShares)*tr.size) > memory {
			t.Errorf("%d bytes: %d buffers a share", memory, n)
		}
	}
}

// Chunks are a whole transfer, small where nothing travels beside them, and never more than a buffer.
func TestChunks(t *testing.T) {
	for _, op := range []uint8{verbs.Write, verbs.Read} {
		for _, all := range []int64{1, 1000, 4096, 100000, 1 << 22} {
			var sizes []int
			for gone := int64(0); gone < all; {
				n := int(min(int64(chunk(op, 2048, leastBytes, gone, all-gone)), all-gone))
				if n < 1 || n > leastBytes {
					t.Fatalf("%d of %d bytes: a chunk of %d", gone, all, n)
				}
				sizes = append(sizes, n)
				gone += int64(n)
			}
			most := int(all)/leastBytes + 6
			if edge := sizes[0]; op == verbs.Write && edge > 2048 || len(sizes) > most {
				t.Errorf("%d bytes are written in chunks of %v", all, sizes)
			}
			if edge := sizes[len(sizes)-1]; op == verbs.Read && edge > 2048 {
				t.Errorf("%d bytes are read in chunks of %v", all, sizes)
			}
		}
	}
}

// A batch holds the bytes that were put into it, each at its place, whatever has been joined.
func TestBatch(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		x := someXfer(r, 1)
		if x.Bytes() == 0 {
			continue
		}
		b, c, pieces := batch{}, runsOf(x), 1+r.IntN(4)
		for c.left > 0 {
			local, remote, n := c.peek()
			b.add(verbs.Write, remote, 7, verbs.Data{Addr: uint64(local), Bytes: uint32(n), Key: 8}, pieces)
			c.advance(n)
		}
		want, data := pairs(x), b.data
		for _, q := range b.requests {
			if int(q.Pieces) > pieces || q.Key != 7 {
				t.Fatalf("%+v: %+v, at most %d pieces", x, q, pieces)
			}
			at := q.Remote
			for _, d := range data[:q.Pieces] {
				for i := range uint64(d.Bytes) {
					if len(want) == 0 || want[0] != [2]uintptr{uintptr(d.Addr + i), uintptr(at)} {
						t.Fatalf("%+v: %#x to %#x", x, d.Addr+i, at)
					}
					want, at = want[1:], at+1
				}
			}
			data = data[q.Pieces:]
		}
		if len(want) > 0 || len(data) > 0 {
			t.Fatalf("%+v: %d bytes are missing", x, len(want))
		}
	}
}

// Requests are counted as they are made.
func TestRequests(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		x := someXfer(r, 1)
		if x.Bytes() == 0 || x.Vector == nil {
			continue
		}
		b, c, pieces := batch{}, runsOf(x), 1+r.IntN(4)
		for c.left > 0 {
			local, remote, n := c.peek()
			b.add(verbs.Read, remote, 7, verbs.Data{Addr: 2 * uint64(local), Bytes: uint32(n)}, pieces)
			c.advance(n)
		}
		if c = runsOf(x); c.requests(pieces) != int64(len(b.requests)) {
			t.Fatalf("%+v, %d pieces: %d requests, not %d", x, pieces, len(b.requests), c.requests(pieces))
		}
	}
	x := &transport.Xfer{Count: []int32{8, 10, 3}, Local: transport.Section{Stride: []int32{16, 1000}},
		Remote: transport.Section{Stride: []int32{8, 500}}}
	if c := runsOf(x); c.requests(4) != 9 || c.requests(16) != 3 || c.requests(1) != 30 {
		t.Errorf("%d requests of up to 4 pieces, %d of 16, %d of 1", c.requests(4), c.requests(16), c.requests(1))
	}
}
