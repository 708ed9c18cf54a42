// SPDX-License-Identifier: BSD-3-Clause

// Which blocks are written, into which slot, and what a failure leaves.
package checkpoint

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// What is saved is what is restored, and only blocks that differ from those of the same slot are
// written.
func TestIncremental(t *testing.T) {
	g := openGroup(t, newPrefix(t), 1)
	a, b := random(10*BlockBytes+17), random(3)
	ranges := [][]Range{{{Mem: a}, {Mem: nil}, {Mem: b}}}
	all := int64(len(a) + len(b))
	for round, c := range []struct {
		change []int // bytes of a
		want   int64
	}{
		{nil, all}, {nil, all}, // each slot once
		{nil, 0}, {nil, 0},
		{[]int{0}, BlockBytes},
		{nil, BlockBytes}, // the other slot has not got it yet
		{[]int{BlockBytes - 1, BlockBytes, 10 * BlockBytes}, 2*BlockBytes + 17},
		{[]int{5 * BlockBytes}, 3*BlockBytes + 17},
		{nil, BlockBytes}, {nil, 0},
	} {
		for _, at := range c.change {
			a[at] ^= 1
		}
		if got := g.write(t, ranges)[0]; got != c.want {
			t.Errorf("round %d: %d bytes were written, expected %d", round, got, c.want)
		}
		expect(t, g, 0, 0, a)
		expect(t, g, 0, 2, b)
	}
}

// A process that opens the files of an earlier one writes all again, and leaves the newest
// generation alone.
func TestNextProcess(t *testing.T) {
	g := openGroup(t, newPrefix(t), 2)
	mem := [][]byte{random(BlockBytes), random(2 * BlockBytes)}
	ranges := [][]Range{{{Mem: mem[0]}}, {{Mem: mem[1]}}}
	g.write(t, ranges)
	g.write(t, ranges)
	first := g.last
	g.close()
	h := openGroup(t, g.prefix, 2)
	for _, p := range h.pairs {
		p.Keep(first)
	}
	old := bytes.Clone(mem[1])
	mem[1][0]++
	if got := h.write(t, ranges)[1]; got != 2*BlockBytes {
		t.Errorf("%d bytes were written, expected all", got)
	}
	if h.last.Generation != first.Generation+1 {
		t.Errorf("generation %d follows %d", h.last.Generation, first.Generation)
	}
	expect(t, h, 1, 0, mem[1])
	if !bytes.Equal(restored(t, g.prefix, 1, first, 0, len(old)), old) {
		t.Error("the generation before is gone")
	}
}

// A range that is saved once stays as it was first, in both slots.
func TestOnce(t *testing.T) {
	g := openGroup(t, newPrefix(t), 1)
	once, other := random(BlockBytes+5), random(9)
	first := bytes.Clone(once)
	for range 5 {
		g.write(t, [][]Range{{{Mem: once, Once: true}, {Mem: other}}})
		expect(t, g, 0, 0, first)
		expect(t, g, 0, 1, other)
		once[3]++
		other[3]++
	}
}

// A slot takes other ranges, smaller and larger ones.
func TestOtherRanges(t *testing.T) {
	g := openGroup(t, newPrefix(t), 1)
	for _, sizes := range [][]int{{100000, 5}, {100000, 5}, {3}, {}, {0, 1, 0},
		{200000, 200000}, {5, 100000}} {
		var ranges []Range
		for _, n := range sizes {
			ranges = append(ranges, Range{Mem: random(n)})
		}
		g.write(t, [][]Range{ranges})
		for i, r := range ranges {
			expect(t, g, 0, i, r.Mem)
		}
	}
}

// A write that fails leaves the generation before, and the next one writes all again.
func TestFailedWrite(t *testing.T) {
	g := openGroup(t, newPrefix(t), 1)
	mem := random(4 * BlockBytes)
	ranges := [][]Range{{{Mem: mem}}}
	g.write(t, ranges)
	g.write(t, ranges)
	before, p := g.last, g.pairs[0]
	good := p.slots[1-p.kept].file
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	p.slots[1-p.kept].file = full
	mem[0]++
	next := Stamp{Generation: 3, ID: 3, Members: 1}
	if _, err = p.Write(next, ranges[0], true); err == nil ||
		!strings.Contains(err.Error(), "no space") {
		t.Errorf("a full disk: %v", err)
	}
	p.slots[1-p.kept].file = good
	mem[0]--
	expect(t, g, 0, 0, mem)
	mem[0]++
	if got := g.write(t, ranges)[0]; got != 4*BlockBytes {
		t.Errorf("%d bytes were written after a failure, expected all", got)
	}
	expect(t, g, 0, 0, mem)
	if g.last.Generation != before.Generation+1 {
		t.Error("the test is wrong")
	}
}

// Files are open in one process at a time.
func TestLocked(t *testing.T) {
	g := openGroup(t, newPrefix(t), 1)
	if p, err := Open(g.prefix, 0); err == nil {
		p.Close()
		t.Error("the files were opened twice")
	}
	g.close()
	openGroup(t, g.prefix, 1)
}
