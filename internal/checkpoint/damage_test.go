// SPDX-License-Identifier: BSD-3-Clause

// Damage is found and named, wherever it is in a file.
package checkpoint

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// A flipped bit anywhere in a file is found, and in memory's part it is named; where nothing is
// stored it does no harm.
func TestFlippedByte(t *testing.T) {
	g := openGroup(t, newPrefix(t), 1)
	one, two := random(BlockBytes+9), random(3*BlockBytes)
	g.write(t, [][]Range{{{Mem: one}, {Mem: two,
		Box: &Box{1, []int64{int64(len(two))}, []int64{0}, []int64{int64(len(two))}}}}})
	name := g.pairs[0].slots[1].file.Name()
	layout := g.pairs[0].slots[1].layout
	g.close()
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	flip := func(at int) {
		b[at] ^= 0x10
		if _, err := f.WriteAt(b[at:at+1], int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	tablesEnd := layout[1].tableAt + 3*sumBytes
	for at := range b {
		if at > headerBytes+sumBytes && at < pageBytes || int64(at) > tablesEnd &&
			at%499 != 0 { // all of the header, info and tables
			continue
		}
		flip(at)
		err := readAll(g)
		inTables := at >= pageBytes && int64(at) < tablesEnd
		inHeader := at < headerBytes+sumBytes
		inside := -1
		for i, r := range layout {
			if int64(at) >= r.dataAt && int64(at) < r.dataAt+r.bytes {
				inside = i
			}
		}
		switch {
		case inHeader || inTables:
			if err == nil {
				t.Errorf("byte %d is damaged, which was not found", at)
			}
		case inside >= 0:
			block := (int64(at) - layout[inside].dataAt) / BlockBytes * BlockBytes
			want := fmt.Sprintf("range %d, from its byte %d on", inside, block)
			if err == nil || !strings.Contains(err.Error(), want) ||
				!strings.Contains(err.Error(), name) {
				t.Errorf("byte %d is damaged: %v, expected %q", at, err, want)
			}
		case err != nil:
			t.Errorf("byte %d, where nothing is, is damaged: %v", at, err)
		}
		flip(at)
	}
}

// readAll checks all ranges of the first member.
func readAll(g *group) error {
	s, err := Find(g.prefix, 0, g.last)
	if err != nil {
		return err
	}
	defer s.Close()
	for i := range s.ranges {
		if err := s.Restore(i, nil); err != nil {
			return err
		}
	}
	return nil
}

// A file that is cut off is found.
func TestShortFile(t *testing.T) {
	g := openGroup(t, newPrefix(t), 1)
	g.write(t, [][]Range{{{Mem: random(3 * BlockBytes)}}})
	f := g.pairs[0].slots[1].file
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	for n := info.Size() - 1; n >= 0; n -= 1111 {
		if err := f.Truncate(n); err != nil {
			t.Fatal(err)
		}
		if readAll(g) == nil {
			t.Errorf("a file of %d bytes was cut off at %d, which was not found",
				info.Size(), n)
		}
	}
}

// A damaged block is written again, although memory has not changed, when the damage is known.
func TestForget(t *testing.T) {
	g := openGroup(t, newPrefix(t), 1)
	mem := random(3 * BlockBytes)
	ranges := [][]Range{{{Mem: mem}}}
	g.write(t, ranges)
	damaged := g.last
	g.write(t, ranges)
	p := g.pairs[0]
	s := &p.slots[1-p.kept]
	if _, err := s.file.WriteAt([]byte{^mem[0]}, s.layout[0].dataAt); err != nil {
		t.Fatal(err)
	}
	p.Forget(damaged)
	g.write(t, ranges)
	expect(t, g, 0, 0, mem)
}

// The header of another format is no checkpoint, and the slot can be written.
func TestOtherFormat(t *testing.T) {
	g := openGroup(t, newPrefix(t), 1)
	mem := random(10)
	g.write(t, [][]Range{{{Mem: mem}}})
	f := g.pairs[0].slots[1].file
	if _, err := f.WriteAt([]byte{99}, 8); err != nil {
		t.Fatal(err)
	}
	g.close()
	h := openGroup(t, g.prefix, 1)
	if s := h.pairs[0].Stamps(); s[0].Generation != 0 || s[1].Generation != 0 {
		t.Errorf("generations %v", s)
	}
	h.write(t, [][]Range{{{Mem: mem}}})
	expect(t, h, 0, 0, mem)
}
