// SPDX-License-Identifier: BSD-3-Clause

// Nodes and domains of several placements.
package core

import (
	"fmt"
	"testing"

	"libarmci/internal/transport"
)

// Domains are nodes where the ranks of each node follow each other, and single ranks elsewhere.
func TestDomains(t *testing.T) {
	for placement, want := range map[string]string{
		"aaaa": "[[0 1 2 3]]", "aabb": "[[0 1] [2 3]]", "aaab": "[[0 1 2] [3]]", "abbb": "[[0] [1 2 3]]",
		"abab": "[[0] [1] [2] [3]]", "abba": "[[0] [1] [2] [3]]", "aaba": "[[0] [1] [2] [3]]", "abcd": "[[0] [1] [2] [3]]",
	} {
		var ids []string
		for _, c := range placement {
			ids = append(ids, string(c))
		}
		for me := range ids {
			top := newTopology(transport.Rank(me), ids, make([]string, len(ids)))
			if got := fmt.Sprint(top.Domains); got != want {
				t.Errorf("%s: domains %s, expected %s", placement, got, want)
			}
			interleaved := placement == "abab" || placement == "abba" || placement == "aaba"
			if top.Interleaved() != interleaved {
				t.Errorf("%s: interleaved: %v", placement, top.Interleaved())
			}
			for id, ranks := range top.Domains {
				for _, r := range ranks {
					if top.Domain(r) != id {
						t.Errorf("%s: rank %d is in domain %d, not %d", placement, r, top.Domain(r), id)
					}
				}
			}
		}
	}
}
