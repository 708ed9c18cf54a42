// SPDX-License-Identifier: BSD-3-Clause

// The tree of the ranks of a node, by which strings travel within it. It is that of a heap: the
// leader is its root, and a rank's children follow those of the rank before it.

package jobwire

import "slices"

// fan is the most children of a rank: each gets everything from its parent, and passes it on so
// often.
const maxChildren = 3

// Parent is the local number of a rank's parent; the leader, 0, has none.
func Parent(local int) int { return (local - 1) / maxChildren }

// Children are the local numbers of a rank's children in a node of that size: count of them from
// first on.
func Children(local, size int) (first, count int) {
	first = maxChildren*local + 1
	return first, max(min(maxChildren, size-first), 0)
}

// ranksBelow lists the local numbers of a rank and of all that are below it: its own, then those of
// its first child, and so on.
func ranksBelow(local, size int) []int {
	all := []int{local}
	first, count := Children(local, size)
	for child := first; child < first+count; child++ {
		all = append(all, ranksBelow(child, size)...)
	}
	return all
}

// InOrder puts the strings of a rank, in parts[0], and those of the ranks below each of its
// children, in the order of local numbers.
func InOrder(local, size int, parts [][][]byte) [][]byte {
	type numbered struct {
		local int
		part  []byte
	}
	var all []numbered
	first, _ := Children(local, size)
	for i, of := range parts {
		ranks := []int{local}
		if i > 0 {
			ranks = slices.Sorted(slices.Values(ranksBelow(first+i-1, size)))
		}
		for k, part := range of[:min(len(of), len(ranks))] {
			all = append(all, numbered{ranks[k], part})
		}
	}
	slices.SortFunc(all, func(a, b numbered) int { return a.local - b.local })
	list := make([][]byte, len(all))
	for i, n := range all {
		list[i] = n.part
	}
	return list
}
