// SPDX-License-Identifier: BSD-3-Clause

// The choice of the address of this host that the other hosts connect to. It sends no packet.
package tcp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/netip"
	"slices"

	"libarmci/internal/sys"
)

// hint describes the host of a node to the others before they open their fabrics. All ranks get the
// hints of all nodes, so it is short: a hash of the host's identity, then for each address its
// bits, length and bytes.
type hint struct {
	// hash of machine and network namespace: equal where loopback connects; 0: not known
	Host  uint64
	Addrs []netip.Prefix // of interfaces that are up: 10.0.0.1/24
}

const maxHintAddrs = 16 // addresses of a host

// makeHint describes this host.
func makeHint() []byte {
	own, _ := sys.Addresses(sys.NotLoopback)
	return encodeHint(hint{hashIdentity(sys.HostIdentity()), own[:min(len(own), maxHintAddrs)]})
}

func encodeHint(h hint) []byte {
	b := binary.LittleEndian.AppendUint64(nil, h.Host)
	for _, p := range h.Addrs {
		addr := p.Addr().AsSlice()
		b = append(append(b, byte(p.Bits()), byte(len(addr))), addr...)
	}
	return b
}

var errHint = errors.New("a malformed hint")

// decodeHint is the inverse of encodeHint. The error is errHint.
func decodeHint(b []byte) (h hint, err error) {
	if len(b) < 8 {
		return h, errHint
	}
	h.Host, b = binary.LittleEndian.Uint64(b), b[8:]
	for len(b) > 0 {
		if len(b) < 2 || len(b) < 2+int(b[1]) {
			return h, errHint
		}
		end := 2 + int(b[1])
		addr, ok := netip.AddrFromSlice(b[2:end])
		p := netip.PrefixFrom(addr, int(b[0]))
		if !ok || !p.IsValid() {
			return h, errHint
		}
		h.Addrs, b = append(h.Addrs, p), b[end:]
	}
	return h, nil
}

func hashIdentity(text string) uint64 {
	if text == "" {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(text))
	return max(h.Sum64(), 1)
}

// candidates returns the addresses of this host that the setting names, at least one.
func (o *Options) candidates() ([]netip.Prefix, error) { return sys.AddressesOf(o.Interface) }

// chooseAddr chooses the local address to listen at: the one that the user has set, and loopback
// where all nodes are on this host. Otherwise it is the one in the network of most other nodes, or
// else the one from which the route to them starts.
func (f *fabric) chooseAddr() (netip.Addr, error) {
	hints, err := f.decodeHints()
	if err != nil {
		return netip.Addr{}, err
	}
	mine := hints[f.MyNode]
	elsewhere := func(h hint) bool { return h.Host != mine.Host }
	if f.options.Interface == "" && mine.Host != 0 && !slices.ContainsFunc(hints, elsewhere) {
		return loopbackAddr()
	}
	own, err := f.options.candidates()
	if err != nil {
		return netip.Addr{}, err
	}
	if a, ok := f.mostSharedAddr(own, hints); ok {
		return a, nil
	}
	if f.options.Interface != "" {
		return own[0].Addr(), nil
	}
	for n, h := range hints {
		for _, p := range h.Addrs {
			if a, ok := routeSource(p.Addr()); n != f.MyNode && ok {
				return a, nil
			}
		}
	}
	identify := ""
	if mine.Host == 0 { // or loopback would be used where all nodes are on one host
		identify = "; or mount /proc, if all are on this host: /proc/self/ns/net cannot " +
			"be read"
	}
	return netip.Addr{},
		fmt.Errorf("no network interface of host %s leads to the other hosts: set "+
			"ARMCI_TCP_INTERFACE to "+
			"the name or the network (10.0.0.0/8) of one that does%s",
			f.Hosts[f.MyNode],
			identify)
}

// loopbackAddr returns an address that only processes of this host reach: IPv4 where there is one.
func loopbackAddr() (netip.Addr, error) {
	own, err := sys.Addresses(func(_ net.Interface,
		p netip.Prefix) bool {
		return p.Addr().IsLoopback()
	})
	if err == nil && len(own) == 0 {
		err = errors.New("all nodes of the job are on this host, whose loopback " +
			"interface is down or has no address: " +
			"'ip link set lo up' (as root) mends that; without pretended nodes " +
			"(-nodes, ARMCI_NODE) no network is needed")
	}
	if err != nil {
		return netip.Addr{}, err
	}
	return own[0].Addr(), nil
}

// decodeHints decodes the hints of all nodes, by node.
func (f *fabric) decodeHints() ([]hint, error) {
	out := make([]hint, len(f.Nodes))
	for n, ranks := range f.Nodes {
		var b []byte
		if n < len(f.Hints) {
			b = f.Hints[n]
		}
		var err error
		if out[n], err = decodeHint(b); err != nil {
			return nil, fmt.Errorf("rank %d says nothing of its network addresses: %w",
				ranks[0], err)
		}
	}
	return out, nil
}

// mostSharedAddr returns the local address of the network in which most other hosts have an
// address; false if there is no such host. Of equals the first in the system's order wins, which is
// the same kind on all hosts: IPv4 before IPv6.
func (f *fabric) mostSharedAddr(own []netip.Prefix, hints []hint) (best netip.Addr, ok bool) {
	most := 0
	for _, mine := range own {
		count := 0
		for n, h := range hints {
			near := func(p netip.Prefix) bool {
				return mine.Contains(p.Addr()) &&
					p.Addr() != mine.Addr()
			}
			if n != f.MyNode && slices.ContainsFunc(h.Addrs, near) {
				count++
			}
		}
		if count > most {
			best, most = mine.Addr(), count
		}
	}
	return best, most > 0
}

// routeSource returns the local address from which packets to another host start: connecting a UDP
// socket asks the kernel for the route. ok is false if there is no route over a network.
func routeSource(to netip.Addr) (a netip.Addr, ok bool) {
	c, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(netip.AddrPortFrom(to, 9)))
	if err != nil {
		return a, false
	}
	defer c.Close()
	a = c.LocalAddr().(*net.UDPAddr).AddrPort().Addr().Unmap()
	return a, !a.IsLoopback() && !a.IsUnspecified() && a != to
}
