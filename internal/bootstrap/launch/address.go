// SPDX-License-Identifier: BSD-3-Clause

// Where the job server listens for other hosts: only on the addresses by which
// they are going to reach it.

package launch

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"libarmci/internal/sys"
)

// listeners opens one for each host; hosts on the same route share theirs.
func (r *Remote) listeners() ([]net.Listener, error) {
	byAddress := map[string]net.Listener{}
	all := make([]net.Listener, len(r.Hosts))
	for i, h := range r.Hosts {
		ip, err := r.source(h.Name)
		if err == nil && byAddress[ip.String()] == nil {
			byAddress[ip.String()], err = r.Ports.Listen(ip)
		}
		if err != nil {
			for _, l := range byAddress {
				if l != nil {
					l.Close()
				}
			}
			return nil, err
		}
		all[i] = byAddress[ip.String()]
	}
	return all, nil
}

// source is the address of this machine that a host connects to.
func (r *Remote) source(host string) (net.IP, error) {
	if r.Interface != "" {
		return addressOf(r.Interface)
	}
	name := host[strings.LastIndexByte(host, '@')+1:]
	// asks for the route; nothing is sent
	conn, err := net.Dial("udp", net.JoinHostPort(name, "9"))
	if unknown := (*net.DNSError)(nil); errors.As(err, &unknown) && unknown.IsNotFound {
		return nil, fmt.Errorf("unknown host %s (if only the agent knows the name, "+
			"-interface says what the host can connect to)", name)
	}
	if err != nil {
		return nil, fmt.Errorf("host %s: no route to it is known here (%w); -interface "+
			"says what it can connect to", host, err)
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).IP, nil
}

// addressOf finds an address of this machine: of an interface, in a network, or the given one.
func addressOf(what string) (net.IP, error) {
	// contains nothing, and is no address, if it is the name of an interface
	network, _ := netip.ParsePrefix(what)
	literal, _ := netip.ParseAddr(what)
	own, err := sys.Addresses(func(i net.Interface, p netip.Prefix) bool {
		return i.Name == what || network.Contains(p.Addr()) || literal == p.Addr()
	})
	if err == nil && len(own) == 0 {
		err = fmt.Errorf("-interface %s: no interface, network or address of this host",
			what)
	}
	if err != nil {
		return nil, err
	}
	return own[0].Addr().AsSlice(), nil
}
