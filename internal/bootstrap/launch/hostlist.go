// SPDX-License-Identifier: BSD-3-Clause

// How hosts are written: NAME, NAME:RANKS, and ranges n[1-4,7] that stand for
// n1 n2 n3 n4 n7, in lists and in host files.

package launch

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const mostHosts = 4096

// ParseHosts reads a list of hosts, separated by commas.
func ParseHosts(list string) ([]Host, error) {
	var hosts []Host
	for _, word := range splitList(list) {
		some, err := parseHost(strings.TrimSpace(word))
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, some...)
	}
	return hosts, nil
}

// splitList splits at the commas outside of brackets.
func splitList(list string) []string {
	var words []string
	depth, from := 0, 0
	for i := range len(list) {
		switch {
		case list[i] == '[':
			depth++
		case list[i] == ']':
			depth--
		case list[i] == ',' && depth <= 0:
			words = append(words, list[from:i])
			from = i + 1
		}
	}
	return append(words, list[from:])
}

// parseHost reads NAME or NAME:RANKS, with ranges in the name. What has several
// colons is an IPv6 address.
func parseHost(word string) ([]Host, error) {
	slots := 0
	name, count, found := strings.Cut(word, ":")
	if found && !strings.Contains(count, ":") {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return nil, fmt.Errorf(
				"%q: after the colon must be the number of ranks, at least 1", word)
		}
		slots, word = n, name
	}
	if word == "" || word[0] == '-' || strings.ContainsAny(word, " \t'\"") {
		return nil, fmt.Errorf("%q is no name of a host", word)
	}
	names, err := expandRanges(word)
	if err != nil {
		return nil, err
	}
	hosts := make([]Host, len(names))
	for i, name := range names {
		hosts[i] = Host{Name: name, Slots: slots}
	}
	return hosts, nil
}

// expandRanges replaces the ranges in a name.
func expandRanges(name string) ([]string, error) {
	before, rest, found := strings.Cut(name, "[")
	if !found {
		if strings.Contains(name, "]") {
			return nil, fmt.Errorf("%q: ] without [", name)
		}
		return []string{name}, nil
	}
	inside, after, found := strings.Cut(rest, "]")
	if !found || inside == "" {
		return nil, fmt.Errorf("%q: a range is written like n[1-4,7]", name)
	}
	tails, err := expandRanges(after)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, part := range strings.Split(inside, ",") {
		low, high, width, err := parseRange(part)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", name, err)
		}
		if (high-low+1)*len(tails)+len(names) > mostHosts {
			return nil, fmt.Errorf("%q: more than %d hosts", name, mostHosts)
		}
		for n := low; n <= high; n++ {
			for _, tail := range tails {
				names = append(names, fmt.Sprintf("%s%0*d%s", before, width, n,
					tail))
			}
		}
	}
	return names, nil
}

// parseRange parses a number or a range; numbers are as wide as the first is written.
func parseRange(part string) (low, high, width int, err error) {
	first, last, found := strings.Cut(part, "-")
	if !found {
		last = first
	}
	l, err1 := strconv.ParseUint(first, 10, 31)
	h, err2 := strconv.ParseUint(last, 10, 31)
	if err1 != nil || err2 != nil || l > h {
		return 0, 0, 0, fmt.Errorf("%q is no number and no range such as 1-4", part)
	}
	if h-l >= mostHosts {
		return 0, 0, 0, fmt.Errorf("%s are more than %d hosts", part, mostHosts)
	}
	return int(l), int(h), len(first), nil
}

// ReadHosts reads a host file: a line for each host, or range of hosts,
// `NAME [slots=N] [max_slots=N]`; what follows a # is a comment.
func ReadHosts(r io.Reader) ([]Host, error) {
	var hosts []Host
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(text)
		if len(words) == 0 {
			continue
		}
		some, err := parseHost(words[0])
		for _, word := range words[1:] {
			if err == nil {
				err = applySlots(some, word)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		hosts = append(hosts, some...)
	}
	if len(hosts) == 0 && lines.Err() == nil {
		return nil, fmt.Errorf("no host in it")
	}
	return hosts, lines.Err()
}

// applySlots applies slots=N or max_slots=N to the hosts of a line. The maximum alone also sets the
// slots, as with Open MPI.
func applySlots(hosts []Host, word string) error {
	what, number, _ := strings.Cut(word, "=")
	n, err := strconv.Atoi(number)
	if what != "slots" && what != "max_slots" && what != "max-slots" || err != nil || n < 1 {
		return fmt.Errorf("%q: only slots=N and max_slots=N are known, N at least 1", word)
	}
	for i := range hosts {
		h := &hosts[i]
		if what == "slots" {
			h.Slots = n
		} else if h.Most = n; h.Slots == 0 {
			h.Slots = n
		}
		if h.Most > 0 && h.Slots > h.Most {
			return fmt.Errorf("%d slots are more than max_slots=%d", h.Slots, h.Most)
		}
	}
	return nil
}
