// SPDX-License-Identifier: BSD-3-Clause

// Which hosts there are and which ranks go where. Nothing is started here.

package launch

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Host is a machine that ranks may be started on. With Slots 0 it takes its
// equal share.
type Host struct {
	Name  string
	Slots int
}

// Remote says how ranks are started on other hosts.
type Remote struct {
	Hosts     []Host
	PerHost   int      // ranks on every host, whatever the slots say; 0: as they say
	Agent     []string // command that runs a command there: AGENT HOST COMMAND...
	Starter   []string // what it runs: a program there that calls Serve
	Interface string   // where hosts connect to: an interface, an address or a network; "": by the route to them
	Ports     Ports    // to listen on; zero: any
	Env       []string // NAME=value for the ranks, besides what their login has
}

// ParseHosts reads a list of hosts, separated by commas.
func ParseHosts(list string) ([]Host, error) {
	var hosts []Host
	for _, name := range strings.Split(list, ",") {
		h, err := newHost(strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, h)
	}
	return hosts, nil
}

func newHost(name string) (Host, error) {
	if name == "" || name[0] == '-' || strings.ContainsAny(name, " \t'\"") {
		return Host{}, fmt.Errorf("%q is no name of a host", name)
	}
	return Host{Name: name}, nil
}

// ReadHosts reads a host file: a line for each host, `NAME [slots=N]`; what
// follows a # is a comment.
func ReadHosts(r io.Reader) ([]Host, error) {
	var hosts []Host
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		h, err := newHost(words[0])
		for _, word := range words[1:] {
			slots, found := strings.CutPrefix(word, "slots=")
			if h.Slots, err = strconv.Atoi(slots); !found || err != nil || h.Slots < 1 {
				return nil, fmt.Errorf("line %d: %q: only slots=N is known, N at least 1", n, word)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		hosts = append(hosts, h)
	}
	if len(hosts) == 0 && lines.Err() == nil {
		return nil, fmt.Errorf("no host in it")
	}
	return hosts, lines.Err()
}

// slots is how many ranks a host takes.
func (r *Remote) slots(h Host) int {
	if r.PerHost > 0 {
		return r.PerHost
	}
	return max(h.Slots, 1)
}

// Slots is how many ranks the hosts take if nobody says how many there are.
func (r *Remote) Slots() int {
	n := 0
	for _, h := range r.Hosts {
		n += r.slots(h)
	}
	return n
}

// place gives every host its consecutive ranks: how many each has.
func (r *Remote) place(ranks int) ([]int, error) {
	counts := make([]int, len(r.Hosts))
	limited := r.PerHost > 0
	for _, h := range r.Hosts {
		limited = limited || h.Slots > 0
	}
	if !limited {
		for rank := range ranks {
			counts[rank*len(counts)/ranks]++
		}
		return counts, nil
	}
	left := ranks
	for i, h := range r.Hosts {
		counts[i] = min(left, r.slots(h))
		left -= counts[i]
	}
	if left > 0 {
		return nil, fmt.Errorf("%d ranks are more than the hosts take (%d)", ranks, r.Slots())
	}
	return counts, nil
}
