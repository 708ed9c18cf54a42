// SPDX-License-Identifier: BSD-3-Clause

// Tests of the checker: histories that can be explained, and others.
package history

import "testing"

func store(client int, start, end int64, v uint64) Op {
	return Op{Client: client, Start: start, Return: start + 1, End: end,
		Apply: func(uint64) (uint64, bool) { return v, true }}
}

func load(client int, start, end int64, v uint64) Op {
	return Op{Client: client, Start: start, Return: end, End: end,
		Apply: func(word uint64) (uint64, bool) { return word, word == v }}
}

// TestExplain gives histories to the checker.
func TestExplain(t *testing.T) {
	maybe := store(0, 0, Never, 5)
	maybe.Maybe = true
	for _, c := range []struct {
		name string
		ops  []Op
		ok   bool
	}{
		{"nothing", nil, true},
		{"old value while the store is open", []Op{store(0, 0, 100, 1), load(1, 10, 20, 0)},
			true},
		{"new value while the store is open", []Op{store(0, 0, 100, 1), load(1, 10, 20, 1)},
			true},
		{"old value behind the fence", []Op{store(0, 0, 5, 1), load(1, 10, 20, 0)}, false},
		{"own store", []Op{store(0, 0, Never, 1), load(0, 10, 20, 0)}, false},
		{"new, then old", []Op{store(0, 0, 100, 1), load(1, 10, 20, 1), load(1, 21, 30, 0)},
			false},
		{"two clients see two orders", []Op{store(0, 0, 100, 1), store(1, 0, 100, 2),
			load(2, 10, 20, 1), load(2, 21, 30, 2), load(3, 10, 20, 2),
			load(3, 21, 30, 1)}, false},
		{"a failed store, seen", []Op{maybe, load(1, 10, 20, 5)}, true},
		{"a failed store, not seen", []Op{maybe, load(1, 10, 20, 0)}, true},
		{"a value that was never stored", []Op{maybe, load(1, 10, 20, 6)}, false},
	} {
		if _, ok := Explain(c.ops, 0, nil); ok != c.ok {
			t.Errorf("%s: %v\n%s", c.name, ok, Describe(c.ops))
		}
	}
	one := uint64(1)
	if _, ok := Explain([]Op{store(0, 0, 5, 1), store(0, 6, 9, 2)}, 0, &one); ok {
		t.Error("the first of two stores is left")
	}
}
