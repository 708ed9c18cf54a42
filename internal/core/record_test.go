// SPDX-License-Identifier: BSD-3-Clause

// Records of the start: what was written is read again, and nothing else is accepted.
package core

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"testing"

	"libarmci/internal/transport"
)

// Ranks of a node, however they were dealt out, take few bytes where they were dealt out regularly.
func TestRanksOfARecord(t *testing.T) {
	const limit = 100_000
	every := func(first, step, count int) (all []transport.Rank) {
		for i := range count {
			all = append(all, transport.Rank(first+i*step))
		}
		return all
	}
	for _, c := range []struct {
		ranks []transport.Rank
		most  int
	}{
		{nil, 1}, {every(0, 1, 1), 3}, {every(99_936, 1, 64), 6}, {every(7, 1562, 64), 6},
		{every(0, 1, limit), 7},
		{slices.Concat(every(0, 1, 32), every(50_000, 1, 32)), 10},
		{[]transport.Rank{1, 2, 4, 8, 16, 32, 99_999}, 20},
	} {
		var b recordWriter
		b.appendRanks(c.ranks)
		d := recordReader{rest: b}
		if got := d.readRanks(limit); !slices.Equal(got, c.ranks) || d.checkEnd() != nil ||
			len(b) > c.most {
			t.Errorf("%v became %v in %d bytes, %v", c.ranks, got, len(b), d.checkEnd())
		}
	}
	for what, b := range map[string]recordWriter{
		"beyond the job": {1, 10, 1}, "a run beyond": {1, 0, 11, 1}, "a step beyond": {1, 0,
			2, 10}, "no step": {1, 0, 2, 0}, "no ranks": {1, 0, 0},
		"not ascending": {2, 5, 1, 0, 1}, "cut": {1, 0}, "more runs than bytes": {200, 1, 0,
			1}, "behind": {1, 0, 1, 9},
	} {
		d := recordReader{rest: b}
		if got := d.readRanks(10); d.checkEnd() == nil {
			t.Errorf("%s: %v are accepted", what, got)
		}
	}
}

func someNode() nodeRecord {
	return nodeRecord{ranks: []transport.Rank{3, 5, 7}, host: "n3", machine: 1 << 55,
		netns: 1 << 44, arenaBytes: 3 * mib, secret: []byte("secret"),
		reports: []report{{"no memory", 5, 2}}}
}

// A node's record is read as it was written; shortened or changed ones are refused.
func TestNodeRecord(t *testing.T) {
	want := someNode()
	b := want.encodeNode()
	if got, err := decodeNode(b, 8); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v became %+v, %v", want, got, err)
	}
	for n := range len(b) {
		if _, err := decodeNode(b[:n], 8); !errors.Is(err, errRecord) {
			t.Errorf("%d bytes of a record: %v", n, err)
		}
	}
	if _, err := decodeNode(b, 7); !errors.Is(err, errRecord) {
		t.Errorf("a rank that is not of the job: %v", err)
	}
}

// Whatever comes, it is refused, or it is what would be written.
func FuzzNodeRecord(f *testing.F) {
	good := someNode()
	f.Add([]byte(good.encodeNode()))
	f.Add([]byte("AMS\x01\x00\x01\x00\xff\xff\xff\xff\x0f\x01"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := decodeNode(b, 1000)
		if err != nil {
			return
		}
		if again, err := decodeNode(n.encodeNode(), 1000); err != nil ||
			!slices.Equal(again.ranks, n.ranks) ||
			!bytes.Equal(again.secret, n.secret) {
			t.Errorf("%x is read as %+v, and then as %+v, %v", b, n, again, err)
		}
		var o recordReader
		o.rest = b
		o.readOffers(1000)
		mergeReports([][]byte{b, b}, []transport.Rank{0, 1})
	})
}
