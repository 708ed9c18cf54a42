// SPDX-License-Identifier: BSD-3-Clause

// What the tests share: members of a group that write one after the other.
package checkpoint

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"
)

// group is the members of a test, each with one range.
type group struct {
	prefix string
	pairs  []*Pair
	last   Stamp
	again  bool
}

// openGroup opens the files of n members.
func openGroup(t *testing.T, prefix string, n int) *group {
	t.Helper()
	g := &group{prefix: prefix}
	for m := range n {
		p, err := Open(prefix, m)
		if err != nil {
			t.Fatal(err)
		}
		g.pairs = append(g.pairs, p)
		g.last.Generation = max(g.last.Generation, p.LastSeen())
	}
	t.Cleanup(g.close)
	return g
}

func (g *group) close() {
	for _, p := range g.pairs {
		p.Close()
	}
	g.pairs = nil
}

// write makes a checkpoint of the ranges of all members, and returns what each has written.
func (g *group) write(t *testing.T, ranges [][]Range) (written []int64) {
	t.Helper()
	g.last = Stamp{Generation: g.last.Generation + 1, ID: rand.Uint64(), Members: len(g.pairs)}
	for m, p := range g.pairs {
		s := g.last
		s.Member = m
		n, err := p.Write(s, ranges[m], g.again)
		if err != nil {
			t.Fatal(err)
		}
		written = append(written, n)
	}
	for _, p := range g.pairs {
		if err := p.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range g.pairs {
		p.Keep(g.last)
	}
	g.again = true
	return written
}

// restored is a range of a member as the files have it.
func restored(t *testing.T, prefix string, member int, of Stamp, i, n int) []byte {
	t.Helper()
	s, err := Find(prefix, member, of)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mem := make([]byte, n)
	if err := s.Restore(i, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Restore(i, mem); err != nil {
		t.Fatal(err)
	}
	return mem
}

// expect compares a range of the files with memory.
func expect(t *testing.T, g *group, member, i int, want []byte) {
	t.Helper()
	if got := restored(t, g.prefix, member, g.last, i, len(want)); !bytes.Equal(got, want) {
		t.Errorf("member %d, generation %d, range %d is not what was saved", member,
			g.last.Generation, i)
	}
}

// random is n random bytes.
func random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}

func newPrefix(t *testing.T) string { return filepath.Join(t.TempDir(), "saved") }
