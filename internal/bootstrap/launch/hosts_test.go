// SPDX-License-Identifier: BSD-3-Clause

// Tests of lists of hosts, of who goes where, and of the address to listen on.

package launch

import (
	"net"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestHostLists(t *testing.T) {
	hosts, err := ParseHosts("a, b.example,user@c")
	if want := []Host{{"a", 0}, {"b.example", 0}, {"user@c", 0}}; err != nil || !reflect.DeepEqual(hosts, want) {
		t.Errorf("%v, %v", hosts, err)
	}
	for _, list := range []string{"", "a,,b", "a b", "-oProxyCommand=x", "a'"} {
		if hosts, err := ParseHosts(list); err == nil {
			t.Errorf("%q is read as %v", list, hosts)
		}
	}
	hosts, err = ReadHosts(strings.NewReader("# all\na slots=2 # the first\n\n b\n"))
	if want := []Host{{"a", 2}, {"b", 0}}; err != nil || !reflect.DeepEqual(hosts, want) {
		t.Errorf("%v, %v", hosts, err)
	}
	for _, file := range []string{"", "# none\n", "a slots=0", "a slots=x", "a 2", "-a", "a max=3"} {
		if hosts, err := ReadHosts(strings.NewReader(file)); err == nil {
			t.Errorf("%q is read as %v", file, hosts)
		}
	}
}

func TestPlaces(t *testing.T) {
	plain, slots := []Host{{"a", 0}, {"b", 0}, {"c", 0}}, []Host{{"a", 2}, {"b", 0}, {"c", 3}}
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
	} {
		r := Remote{Hosts: c.hosts, PerHost: c.perHost}
		got, err := r.place(c.ranks)
		if !slices.Equal(got, c.want) || (err == nil) != (c.want != nil) || r.Slots() != c.all {
			t.Errorf("%v, %d a host, %d ranks: %v, %v, at most %d", c.hosts, c.perHost, c.ranks, got, err, r.Slots())
		}
	}
}

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
	loopback := net.IPv4(127, 0, 0, 1)
	first, err := Ports{}.listen(loopback)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	port := first.Addr().(*net.TCPAddr).Port
	if l, err := (Ports{port, port}).listen(loopback); err == nil {
		l.Close()
		t.Error("a port was taken twice")
	}
	if port < 65535 {
		if l, err := (Ports{port, 65535}).listen(loopback); err != nil || l.Addr().(*net.TCPAddr).Port <= port {
			t.Errorf("%v, %v", l, err)
		} else {
			l.Close()
		}
	}
}

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{"/usr/bin/armcirun": "/usr/bin/armcirun", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'"} {
		if got := quote(word); got != want {
			t.Errorf("%s becomes %s", word, got)
		}
	}
}
