// SPDX-License-Identifier: BSD-3-Clause

// Package history decides whether what several clients have read of one word can be explained: by
// some order of all operations that keeps the order which the memory model asks for, and in which
// each operation finds what the one before has left.
package history

import (
	"fmt"
	"slices"
	"strings"
)

// Never is the End of an operation that may take effect at any later time.
const Never = int64(1) << 62

// Op is an operation on the word.
type Op struct {
	Client int // operations of one client take effect in the order of its calls
	Start  int64
	Return int64 // of the call
	End    int64 // it has taken effect by then; Never: it may do so at any time
	Maybe  bool  // it has failed: it may have taken effect or not
	Name   string
	// Apply returns the word after the operation; ok is false if the operation did not find
	// such a word.
	Apply func(word uint64) (after uint64, ok bool)
}

// MostOps is the most operations that Explain takes.
const MostOps = 64

// Explain returns an order of the operations, by their indexes, that explains all of them. final
// is the word after all of them, where it is known. ok is false if there is no such order.
func Explain(ops []Op, initial uint64, final *uint64) (order []int, ok bool) {
	s := search{ops: ops, final: final, seen: map[place]bool{}}
	s.before = make([]uint64, len(ops))
	for i := range ops {
		for k := range ops {
			if i != k && precedes(&ops[k], &ops[i]) {
				s.before[i] |= 1 << k
			}
		}
		if !ops[i].Maybe {
			s.needed |= 1 << i
		}
	}
	ok = s.from(0, initial)
	slices.Reverse(s.order)
	return s.order, ok
}

// precedes tells whether the memory model has a take effect before b.
func precedes(a, b *Op) bool {
	return a.End < b.Start || a.Client == b.Client && a.Return < b.Start
}

// search is the search for an order.
type search struct {
	ops    []Op
	final  *uint64
	before []uint64 // of each operation: those that have to come before it
	needed uint64
	seen   map[place]bool // from where there is no order
	order  []int          // from the last to the first
}

// place is how far an order is.
type place struct{ done, word uint64 }

// from tells whether there is an order for the rest.
func (s *search) from(done, word uint64) bool {
	if done&s.needed == s.needed && (s.final == nil || *s.final == word) {
		return true
	}
	at := place{done, word}
	if s.seen[at] {
		return false
	}
	s.seen[at] = true
	for i := range s.ops {
		if done>>i&1 != 0 || s.before[i]&^done&s.needed != 0 {
			continue
		}
		after, ok := s.ops[i].Apply(word)
		if ok && s.from(done|1<<i, after) {
			s.order = append(s.order, i)
			return true
		}
	}
	return false
}

// Describe lists operations for a report.
func Describe(ops []Op) string {
	var b strings.Builder
	for i, o := range ops {
		end := fmt.Sprint(o.End)
		if o.End == Never {
			end = "any time"
		}
		fmt.Fprintf(&b, "  %2d client %d: %s [%d, %d, %s] maybe %v\n", i, o.Client, o.Name,
			o.Start, o.Return, end, o.Maybe)
	}
	return b.String()
}
