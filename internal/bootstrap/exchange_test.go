// SPDX-License-Identifier: BSD-3-Clause

// Nodes and exchanges of a job of armcirun, from the ranks' side; the server runs in the test.
package bootstrap

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"libarmci/internal/bootstrap/jobwire"
)

// placements are nodes of ranks: equal letters are one node.
var placements = []string{"a", "aaaaa", "aabbc", "abcab", "abcde", "bbaab", "aaaaaaaabaaaaaaaaa"}

// placed is a rank's number on its node, its node's ranks, and the leaders of all nodes.
func placed(placement string, rank int) (local int, ranks, leaders []int) {
	for r := range placement {
		if placement[r] == placement[rank] {
			if r < rank {
				local++
			}
			ranks = append(ranks, r)
		}
		if strings.IndexByte(placement, placement[r]) == r {
			leaders = append(leaders, r)
		}
	}
	return local, ranks, leaders
}

// exchanges checks what a rank gets in both levels of an exchange; the job has been split.
func exchanges(t *testing.T, j Job, placement string, round int) {
	part := func(rank int) []byte {
		return bytes.Repeat([]byte{byte(round), byte(rank)}, (round*rank*997)%20000)
	}
	_, ranks, leaders := placed(placement, j.Rank())
	checkExchange(t, j, "node", ranks, j.GatherNode, part)
	checkExchange(t, j, "leaders", leaders, j.ExchangeLeaders, part)
}

// checkExchange checks that an exchange returns the parts of the listed ranks.
func checkExchange(t *testing.T, j Job, what string, from []int, exchange func([]byte) ([][]byte,
	error), part func(int) []byte) {
	all, err := exchange(part(j.Rank()))
	if err != nil || len(all) != len(from) {
		t.Errorf("rank %d, %s: %d parts of ranks %v, error %v", j.Rank(), what, len(all),
			from, err)
		return
	}
	for i, got := range all {
		if !bytes.Equal(got, part(from[i])) {
			t.Errorf("rank %d, %s: part of rank %d is wrong", j.Rank(), what, from[i])
		}
	}
}

// split checks a rank's place.
func split(t *testing.T, j Job, placement string) { splitBy(t, j, placement, nil) }

// splitBy has keys for some letters.
func splitBy(t *testing.T, j Job, placement string, keys map[byte]string) {
	key, given := keys[placement[j.Rank()]]
	if !given {
		key = "node " + placement[j.Rank():j.Rank()+1]
	}
	local, size, err := j.Split(key)
	if at, ranks, _ := placed(placement, j.Rank()); local != at || size != len(ranks) ||
		err != nil {
		t.Errorf("%s: rank %d is number %d of %d, error %v", placement, j.Rank(), local,
			size, err)
	}
}

// Strings are exchanged within nodes and between leaders, whatever the placement, and again after
// Close.
func TestExchange(t *testing.T) {
	for _, placement := range placements {
		size := len(placement)
		s, _ := server(t, size)
		jobs := joinAll(t, s, size)
		together(jobs, func(j Job) {
			split(t, j, placement)
			for round := range 10 {
				exchanges(t, j, placement, round)
			}
			back := strings.Repeat("x", size) // and once more, otherwise
			split(t, j, back)
			exchanges(t, j, back, 3)
			if err := Barrier(j); err != nil {
				t.Error(err)
			}
		})
		for r, j := range jobs {
			if j.Kind() != "armcirun" || j.Rank() != r || j.Size() != size {
				t.Errorf("%s: rank %d of %d", j.Kind(), j.Rank(), j.Size())
			}
		}
		together(jobs, func(j Job) {
			if err := j.Close(); err != nil {
				t.Error(err)
			}
		})
		jobs = joinAll(t, s, size) // after Close a process may initialise again
		together(jobs, func(j Job) {
			split(t, j, placement)
			exchanges(t, j, placement, 1)
			j.Close()
		})
	}
}

// A string that is too long is refused, and the job goes on.
func TestExchangeTooLarge(t *testing.T) {
	s, _ := server(t, 1)
	j := joinAll(t, s, 1)[0]
	defer j.Close()
	split(t, j, "a")
	large := make([]byte, jobwire.MaxContribution+1)
	if _, err := j.GatherNode(large); err == nil {
		t.Error("no error within the node")
	}
	if _, err := j.ExchangeLeaders(large); err == nil {
		t.Error("no error between nodes")
	}
	if _, err := j.ExchangeLeaders([]byte("after")); err != nil {
		t.Errorf("the job did not survive: %v", err)
	}
	if _, _, err := j.Split(strings.Repeat("x", 5000)); err == nil {
		t.Error("no error of a long key")
	}
}

// A rank leaves at any point: all others learn which one, those that wait for its node's leader,
// too.
func TestExchangeNamesTheRankThatLeft(t *testing.T) {
	for _, placement := range []string{"aab", "abb", "aba", "abc", "aaaaaab"} {
		for gone := range placement {
			for _, when := range []string{"split", "node", "leaders"} {
				leaveOne(t, placement, gone, when)
			}
		}
	}
}

// leaveOne has a rank leave before a step of the exchange: the others get an error that names it.
func leaveOne(t *testing.T, placement string, gone int, when string) {
	s, _ := server(t, len(placement))
	jobs := joinAll(t, s, len(placement))
	leave := func(j Job) {
		j.Close()
		s.ProcessEnded(j.Rank())
	}
	together(jobs, func(j Job) {
		err := until(t, j, placement, when)
		if j.Rank() == gone {
			leave(j)
			return
		}
		switch local, _, _ := placed(placement, gone); {
		case err != nil:
		case when == "split":
			_, _, err = j.Split("x")
		case when == "leaders":
			_, err = j.ExchangeLeaders(nil)
			if local > 0 && err == nil {
				err = Barrier(j) // between nodes a leader needs no rank of its node
			}
		default:
			err = Barrier(j)
		}
		if want := fmt.Sprintf("rank %d has left", gone); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s, rank %d leaves before %s: rank %d: error %v", placement, gone,
				when, j.Rank(), err)
		}
	})
	for _, j := range jobs {
		if j.Rank() != gone {
			leave(j)
		}
	}
}

// until takes part in what comes before a step.
func until(t *testing.T, j Job, placement, step string) (err error) {
	if step != "split" {
		split(t, j, placement)
	}
	if step == "leaders" {
		_, err = j.GatherNode(nil)
	}
	return err
}
