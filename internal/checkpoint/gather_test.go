// SPDX-License-Identifier: BSD-3-Clause

// Members that hold other parts of an array than those that saved it.
package checkpoint

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// cut divides an array into n boxes by random cuts along random dimensions; some may be empty.
func cut(whole Box, n int) []*Box {
	if n == 1 {
		return []*Box{&whole}
	}
	d := rand.IntN(len(whole.Dims))
	at := whole.Lo[d] + rand.Int64N(whole.Hi[d]-whole.Lo[d]+1)
	left, right := whole, whole
	left.Lo, left.Hi = append([]int64(nil), whole.Lo...), append([]int64(nil), whole.Hi...)
	right.Lo, right.Hi = append([]int64(nil), whole.Lo...), append([]int64(nil), whole.Hi...)
	left.Hi[d], right.Lo[d] = at, at
	return append(cut(left, n/2), cut(right, n-n/2)...)
}

// partOf is the bytes of a box of an array.
func partOf(array []byte, whole, b *Box) []byte {
	n, _ := b.bytes()
	mem := make([]byte, n)
	if n > 0 {
		b.eachRow(whole, b, func(from, to, n int64) error {
			copy(mem[to:to+n], array[from:])
			return nil
		})
	}
	return mem
}

// An array that some members have saved is restored by others, however either have divided it.
func TestGather(t *testing.T) {
	for round := range 25 {
		whole := Box{ElemBytes: 1 + rand.Int64N(16)}
		for range 1 + rand.IntN(3) {
			n := 1 + rand.Int64N(60)
			whole.Dims = append(whole.Dims, n)
			whole.Lo, whole.Hi = append(whole.Lo, 0), append(whole.Hi, n)
		}
		n, _ := whole.bytes()
		array := random(int(n))
		from, to := cut(whole, 1+rand.IntN(6)), cut(whole, 1+rand.IntN(6))
		g := openGroup(t, newPrefix(t), len(from))
		ranges := make([][]Range, len(from))
		for m, b := range from {
			ranges[m] = []Range{{Mem: partOf(array, &whole, b), Box: b}}
		}
		g.write(t, ranges)
		saved := openAll(t, g)
		for m, b := range to {
			want := partOf(array, &whole, b)
			got := make([]byte, len(want))
			if err := Gather(saved, 0, b, nil); err != nil {
				t.Fatal(err)
			}
			if err := Gather(saved, 0, b, got); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Fatalf("round %d: %v from %d to %d members: member %d has wrong "+
					"bytes", round, whole, len(from), len(to), m)
			}
		}
	}
}

// openAll opens the files of the last generation.
func openAll(t *testing.T, g *group) (saved []*Saved) {
	t.Helper()
	for m := range g.pairs {
		s, err := Find(g.prefix, m, g.last)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		saved = append(saved, s)
	}
	return saved
}

// line is elements lo..hi of n bytes.
func line(n, lo, hi int64) *Box { return &Box{1, []int64{n}, []int64{lo}, []int64{hi}} }

// What cannot be restored by other members is refused, with the reason.
func TestGatherRefuses(t *testing.T) {
	g := openGroup(t, newPrefix(t), 2)
	same := &Box{ElemBytes: 10}
	g.write(t, [][]Range{
		{{Mem: random(10)}, {Mem: random(10), Box: line(30, 0, 10)},
			{Mem: random(10), Box: line(20, 0, 10)}, {Mem: random(10), Box: same}},
		{{Mem: random(10)}, {Mem: random(10), Box: line(30, 20, 30)},
			{Mem: random(11), Box: line(20, 9, 20)}, {Mem: random(10), Box: same}}})
	saved := openAll(t, g)
	for _, c := range []struct {
		i    int
		box  *Box
		want string
	}{
		{0, line(20, 0, 20), "no declared distribution: it can be restored on 2 members"},
		{9, line(20, 0, 20), "no declared distribution"},
		{1, line(31, 0, 10), "another array"},
		{1, line(30, 5, 25), "10 bytes of the array are in no member's part"},
		{1, line(30, 5, 10), ""},
		{2, line(20, 0, 20), "members 0 and 1 overlap"},
		{3, same, ""},
		{3, &Box{ElemBytes: 11}, "another array"},
	} {
		err := Gather(saved, c.i, c.box, nil)
		if c.want == "" && err != nil || c.want != "" &&
			(err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("range %d as %v: %v, expected %q", c.i, *c.box, err, c.want)
		}
	}
}

// A box is checked before it is used.
func TestCheckBounds(t *testing.T) {
	big := int64(1) << 40
	box := func(elem int64, dims, lo, hi []int64) Box { return Box{elem, dims, lo, hi} }
	for _, c := range []struct {
		box   Box
		bytes int64
		ok    bool
	}{
		{box(8, nil, nil, nil), 8, true},
		{box(8, []int64{5, 6}, []int64{1, 2}, []int64{3, 6}), 64, true},
		{box(8, []int64{5, 6}, []int64{1, 2}, []int64{3, 7}), 80, false},
		{*line(5, -1, 3), 4, false},
		{*line(5, 4, 3), 0, false},
		{*line(5, 3, 3), 0, true},
		{*line(5, 3, 5), 3, false},
		{box(0, []int64{5}, []int64{3}, []int64{3}), 0, false},
		{box(8, []int64{big, big}, []int64{0, 0}, []int64{big, big}), 0, false},
	} {
		if err := c.box.CheckBounds(c.bytes); (err == nil) != c.ok {
			t.Errorf("%s: %v", fmt.Sprint(c.box, c.bytes), err)
		}
	}
}
