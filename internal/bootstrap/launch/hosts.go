// SPDX-License-Identifier: BSD-3-Clause

// The hosts of a job, and which ranks run where. hostlist.go parses lists of
// hosts. Nothing is started here.

package launch

import (
	"fmt"
	"time"

	"libarmci/internal/sys"
)

// Host is a machine that ranks may be started on. With Slots 0 it takes its
// equal share.
type Host struct {
	Name  string
	Slots int
	// ranks that it takes when the slots of all hosts are not enough; 0: no more than its slots
	Most int
}

// Remote says how ranks are started on other hosts.
type Remote struct {
	Hosts   []Host
	PerHost int      // ranks on every host, whatever the slots say; 0: as they say
	Source  string   // where Hosts are from, for messages; "": the command line
	Agent   []string // command that runs a command there: AGENT HOST COMMAND...
	NoShell bool     // the agent does not give the command to a shell
	Proxy   []string // what it runs: a program there that calls Serve
	// where hosts connect to: an interface, an address or a network; "": by the route to them
	Interface string
	Ports     sys.Ports // to listen on; zero: any
	Env       []string  // NAME=value for the ranks, besides what their login has
	// for how long a host may be out of reach before its ranks are lost; 0: 10 s
	Outage time.Duration
}

// slotsOf is how many ranks a host has room for.
func (r *Remote) slotsOf(h Host) int {
	if r.PerHost > 0 {
		return r.PerHost
	}
	return max(h.Slots, 1)
}

// maxRanksOf is how many ranks a host accepts if there are too few slots.
func (r *Remote) maxRanksOf(h Host) int {
	if r.PerHost > 0 {
		return r.PerHost
	}
	return max(r.slotsOf(h), h.Most)
}

// Slots is how many ranks the hosts take if the number of ranks is not given.
func (r *Remote) Slots() int {
	n := 0
	for _, h := range r.Hosts {
		n += r.slotsOf(h)
	}
	return n
}

// sourceText names the source of the hosts, for messages.
func (r *Remote) sourceText() string {
	if r.Source == "" {
		return ""
	}
	return " of " + r.Source
}

// dealRanks returns the ranks of each host: in blocks, or in turn while a host has fewer than its
// count.
func dealRanks(counts []int, cyclic bool) [][]int {
	ranks := make([][]int, len(counts))
	all := 0
	for _, n := range counts {
		all += n
	}
	for rank, i := 0, 0; rank < all; {
		if len(ranks[i]) < counts[i] {
			ranks[i] = append(ranks[i], rank)
			rank++
			if !cyclic {
				continue
			}
		}
		i = (i + 1) % len(counts)
	}
	return ranks
}

// divideRanks divides ranks among the hosts and returns how many each has.
func (r *Remote) divideRanks(ranks int) ([]int, error) {
	counts := make([]int, len(r.Hosts))
	limited := r.PerHost > 0
	for _, h := range r.Hosts {
		limited = limited || h.Slots > 0
		if h.Most > 0 && r.PerHost > h.Most {
			return nil, fmt.Errorf("%d ranks for each host (-ppn), but %s takes %d "+
				"at most (max_slots)", r.PerHost, h.Name, h.Most)
		}
	}
	if !limited {
		for rank := range ranks {
			counts[rank*len(counts)/ranks]++
		}
		return counts, nil
	}
	left, all := ranks, 0
	for i, h := range r.Hosts {
		counts[i] = min(left, r.slotsOf(h))
		left -= counts[i]
		all += r.maxRanksOf(h)
	}
	if ranks > all {
		return nil, fmt.Errorf("%d ranks are more than the hosts%s take (%d)", ranks,
			r.sourceText(), all)
	}
	for i := 0; left > 0; i = (i + 1) % len(counts) { // beyond the slots, in turn
		if counts[i] < r.maxRanksOf(r.Hosts[i]) {
			counts[i]++
			left--
		}
	}
	return counts, nil
}
