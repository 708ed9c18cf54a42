// SPDX-License-Identifier: BSD-3-Clause

// Tests of lists of hosts, of the placement of ranks, and of the address to listen on.

package launch

import (
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"

	"libarmci/internal/sys"
)

// Lists of hosts with ranges, slots and users are parsed, and malformed ones are refused.
func TestHostLists(t *testing.T) {
	for list, want := range map[string][]Host{
		"a, b.example,user@c": {{Name: "a"}, {Name: "b.example"}, {Name: "user@c"}},
		"a:2,b:1":             {{Name: "a", Slots: 2}, {Name: "b", Slots: 1}},
		"n[1-3,7]":            {{Name: "n1"}, {Name: "n2"}, {Name: "n3"}, {Name: "n7"}},
		"n[08-10]:4, a": {{Name: "n08", Slots: 4}, {Name: "n09", Slots: 4},
			{Name: "n10", Slots: 4}, {Name: "a"}},
		"me@r[1-2]n[5,7].site": {{Name: "me@r1n5.site"}, {Name: "me@r1n7.site"},
			{Name: "me@r2n5.site"}, {Name: "me@r2n7.site"}},
		"fe80::1,10.0.0.7:3": {{Name: "fe80::1"}, {Name: "10.0.0.7", Slots: 3}},
	} {
		if hosts, err := ParseHosts(list); err != nil || !reflect.DeepEqual(hosts, want) {
			t.Errorf("%q is read as %v, %v", list, hosts, err)
		}
	}
	for _, list := range []string{"", "a,,b", "a b", "-oProxyCommand=x", "a'", "a:", "a:0",
		"a:x", ":2", "n[", "n[]", "n[1", "n1]",
		"n[3-1]", "n[a-b]", "n[1-2-3]", "n[1,]", "n[0-99999999]", "n[0-999]x[0-999]",
		"[1-2],-x"} {
		if hosts, err := ParseHosts(list); err == nil {
			t.Errorf("%q is read as %v", list, hosts)
		}
	}
	for file, want := range map[string][]Host{
		"# all\na slots=2 # the first\n\n b\n": {{"a", 2, 0}, {"b", 0, 0}},
		"a slots=2 max_slots=4\nb max_slots=3": {{"a", 2, 4}, {"b", 3, 3}},
		"a max-slots=4 slots=1\nn[1-2]:2 max_slots=2": {{"a", 1, 4}, {"n1", 2, 2},
			{"n2", 2, 2}},
	} {
		if hosts, err := ReadHosts(strings.NewReader(file)); err != nil ||
			!reflect.DeepEqual(hosts, want) {
			t.Errorf("%q is read as %v, %v", file, hosts, err)
		}
	}
	for _, file := range []string{"", "# none\n", "a slots=0", "a slots=x", "a 2", "-a",
		"a max=3", "a slots=3 max_slots=2",
		"a max_slots=2 slots=3", "a:3 max_slots=2", "a max_slots=-1"} {
		if hosts, err := ReadHosts(strings.NewReader(file)); err == nil {
			t.Errorf("%q is read as %v", file, hosts)
		}
	}
}

// Ranks are distributed over hosts by slots or in equal parts.
func TestPlaces(t *testing.T) {
	plain, slots := []Host{{"a", 0, 0}, {"b", 0, 0}, {"c", 0, 0}},
		[]Host{{"a", 2, 0}, {"b", 0, 0}, {"c", 3, 0}}
	more := []Host{{"a", 2, 4}, {"b", 1, 0}, {"c", 1, 2}}
	for _, c := range []struct {
		hosts          []Host
		perHost, ranks int
		want           []int
		all            int
	}{
		{plain, 0, 3, []int{1, 1, 1}, 3},
		{plain, 0, 7, []int{3, 2, 2}, 3},
		{plain, 0, 2, []int{1, 1, 0}, 3},
		{plain, 2, 5, []int{2, 2, 1}, 6},
		{slots, 0, 6, []int{2, 1, 3}, 6},
		{slots, 0, 3, []int{2, 1, 0}, 6},
		{slots, 0, 7, nil, 6},
		{slots, 1, 3, []int{1, 1, 1}, 3},
		{slots, 1, 4, nil, 3},
		{more, 0, 4, []int{2, 1, 1}, 4},
		{more, 0, 5, []int{3, 1, 1}, 4},
		{more, 0, 6, []int{3, 1, 2}, 4},
		{more, 0, 7, []int{4, 1, 2}, 4},
		{more, 0, 8, nil, 4},
		{more, 2, 6, []int{2, 2, 2}, 6},
		{more, 3, 9, nil, 9},
	} {
		r := Remote{Hosts: c.hosts, PerHost: c.perHost}
		got, err := r.divideRanks(c.ranks)
		if !slices.Equal(got, c.want) || (err == nil) != (c.want != nil) ||
			r.Slots() != c.all {
			t.Errorf("%v, %d a host, %d ranks: %v, %v, at most %d", c.hosts, c.perHost,
				c.ranks, got, err, r.Slots())
		}
	}
}

// The address to listen on is found by interface and by host, and a port is taken once.
func TestAddresses(t *testing.T) {
	for _, what := range []string{"lo", "127.0.0.1", "127.0.0.0/8"} {
		if ip, err := addressOf(what); err != nil || !ip.IsLoopback() {
			t.Errorf("%s: %v, %v", what, ip, err)
		}
	}
	r := Remote{}
	for _, host := range []string{"127.0.0.1", "me@127.0.0.1", "localhost"} {
		if ip, err := r.source(host); err != nil || !ip.IsLoopback() {
			t.Errorf("%s: %v, %v", host, ip, err)
		}
	}
	if _, err := r.source("me@no-such-host.invalid"); err == nil ||
		!strings.HasPrefix(err.Error(), "unknown host no-such-host.invalid") {
		t.Errorf("a host that is not there: %v", err)
	}
	loopback := net.IPv4(127, 0, 0, 1)
	first, err := sys.Ports{}.Listen(loopback)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	port := first.Addr().(*net.TCPAddr).Port
	if l, err := (sys.Ports{Low: port, High: port}).Listen(loopback); err == nil {
		l.Close()
		t.Error("a port was taken twice")
	}
	if port < 65535 {
		if l, err := (sys.Ports{Low: port, High: 65535}).Listen(loopback); err != nil ||
			l.Addr().(*net.TCPAddr).Port <= port {
			t.Errorf("%v, %v", l, err)
		} else {
			l.Close()
		}
	}
}

// Words are quoted for a shell where that is necessary.
func TestQuote(t *testing.T) {
	for word, want := range map[string]string{"/usr/bin/armcirun": "/usr/bin/armcirun",
		"a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'"} {
		if got := quote(word); got != want {
			t.Errorf("%s becomes %s", word, got)
		}
	}
}
