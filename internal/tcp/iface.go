// SPDX-License-Identifier: BSD-3-Clause

// Which of this host's addresses the others reach it at. It sends no packet.
package tcp

import (
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"libarmci/internal/transport"
)

// hint is what a rank tells the others about its host before they open their wires.
type hint struct {
	Host  string   // machine and network namespace: equal where loopback connects
	Addrs []string // of interfaces that are up, with prefix lengths: 10.0.0.1/24
}

// makeHint describes this host.
func makeHint() []byte {
	h := hint{Host: hostIdentity()}
	own, _ := ownAddrs("", false)
	for _, p := range own {
		h.Addrs = append(h.Addrs, p.String())
	}
	b, _ := json.Marshal(h) // strings only: cannot fail
	return b
}

// hostIdentity names the running kernel and the network namespace.
func hostIdentity() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	var st unix.Stat_t
	if unix.Stat("/proc/self/ns/net", &st) != nil {
		return ""
	}
	return fmt.Sprintf("%s/%d:%d", strings.TrimSpace(string(boot)), st.Dev, st.Ino)
}

// ownAddrs lists the addresses of interfaces that are up; with a name, of that one only.
func ownAddrs(name string, loopback bool) ([]netip.Prefix, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var out []netip.Prefix
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 || name != "" && i.Name != name ||
			!loopback && i.Flags&net.FlagLoopback != 0 {
			continue
		}
		addrs, err := i.Addrs()
		if err != nil {
			return nil, err
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil && !p.Addr().IsLinkLocalUnicast() {
				out = append(out, netip.PrefixFrom(p.Addr().Unmap(), p.Bits()))
			}
		}
	}
	return out, nil
}

// zoneIndex is the number of an interface.
func zoneIndex(zone string) (uint32, error) {
	i, err := net.InterfaceByName(zone)
	if err != nil {
		return 0, err
	}
	return uint32(i.Index), nil
}

// chooseAddr picks the own address to listen at: what the user said; loopback where all nodes are this host; else the
// one in whose network most other nodes are; else the one from which the route to them starts.
func (o *Options) chooseAddr() (netip.Addr, error) {
	hints, err := o.hints()
	if err != nil {
		return netip.Addr{}, err
	}
	if o.Interface != "" {
		return o.namedAddr(hints)
	}
	mine := hints[o.MyNode]
	if mine.Host != "" && !slices.ContainsFunc(hints, func(h hint) bool { return h.Host != mine.Host }) {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
	}
	own, err := ownAddrs("", false)
	if err != nil {
		return netip.Addr{}, fmt.Errorf("list the network interfaces: %w", err)
	}
	if a, ok := o.nearest(own, hints); ok {
		return a, nil
	}
	for n, h := range hints {
		for _, p := range h.prefixes() {
			if a, ok := routeFrom(p.Addr()); n != o.MyNode && ok {
				return a, nil
			}
		}
	}
	return netip.Addr{}, fmt.Errorf("no network interface of host %s leads to the other hosts: set ARMCI_TCP_INTERFACE to "+
		"the name or the network (10.0.0.0/8) of one that does", o.Hosts[o.MyNode])
}

// hints reads what the first rank of every node said.
func (o *Options) hints() ([]hint, error) {
	out := make([]hint, len(o.Nodes))
	for n, ranks := range o.Nodes {
		if err := json.Unmarshal(o.hintOf(ranks[0]), &out[n]); err != nil {
			return nil, fmt.Errorf("rank %d says nothing of its network addresses: %w", ranks[0], err)
		}
	}
	return out, nil
}

func (o *Options) hintOf(r transport.Rank) []byte {
	if int(r) < len(o.Hints) {
		return o.Hints[r]
	}
	return nil
}

func (h *hint) prefixes() (out []netip.Prefix) {
	for _, text := range h.Addrs {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p)
		}
	}
	return out
}

// nearest is the address in whose network the most other hosts have one; false if none has, or if it is ambiguous.
// Of equals the first in the system's order wins, which is the same kind on all hosts: IPv4 before IPv6.
func (o *Options) nearest(own []netip.Prefix, hints []hint) (best netip.Addr, ok bool) {
	most := 0
	for _, mine := range byFamily(own) {
		count := 0
		for n, h := range hints {
			near := func(p netip.Prefix) bool { return mine.Contains(p.Addr()) && p.Addr() != mine.Addr() }
			if n != o.MyNode && slices.ContainsFunc(h.prefixes(), near) {
				count++
			}
		}
		if count > most {
			best, most = mine.Addr(), count
		}
	}
	return best, most > 0
}

// byFamily puts IPv4 first.
func byFamily(all []netip.Prefix) []netip.Prefix {
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b netip.Prefix) int { return a.Addr().BitLen() - b.Addr().BitLen() })
	return out
}

// routeFrom is the own address from which packets to another start: connecting a UDP socket asks for the route.
func routeFrom(to netip.Addr) (netip.Addr, bool) {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(to, 9)))
	if err != nil {
		return netip.Addr{}, false
	}
	defer c.Close()
	a, ok := netip.AddrFromSlice(c.LocalAddr().(*net.UDPAddr).IP)
	a = a.Unmap()
	return a, ok && !a.IsLoopback() && !a.IsUnspecified() && a != to
}

// namedAddr is the one of those the setting names that is nearest to the other nodes.
func (o *Options) namedAddr(hints []hint) (netip.Addr, error) {
	own, err := o.named()
	if err != nil {
		return netip.Addr{}, err
	}
	if a, ok := o.nearest(own, hints); ok {
		return a, nil
	}
	return byFamily(own)[0].Addr(), nil
}

// named is the addresses that the setting names, by an interface or a network; it is an error if there are none.
func (o *Options) named() ([]netip.Prefix, error) {
	wanted, err := netip.ParsePrefix(o.Interface)
	isNet := err == nil
	name := o.Interface
	if isNet {
		name = ""
	}
	own, err := ownAddrs(name, true)
	if isNet {
		own = slices.DeleteFunc(own, func(p netip.Prefix) bool { return !wanted.Contains(p.Addr()) })
	}
	if err == nil && len(own) == 0 {
		err = fmt.Errorf("ARMCI_TCP_INTERFACE=%q: no interface or network of that name is up and has an address", o.Interface)
	}
	return own, err
}
