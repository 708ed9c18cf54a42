// SPDX-License-Identifier: BSD-3-Clause

// Where the job server listens for other hosts: only on the addresses by which
// they are going to reach it.

package launch

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
)

// Ports is a range to listen in, for firewalls; zero is any port.
type Ports struct{ Low, High int }

// listeners opens one for each host; hosts on the same route share theirs.
func (r *Remote) listeners() ([]net.Listener, error) {
	byAddress := map[string]net.Listener{}
	all := make([]net.Listener, len(r.Hosts))
	for i, h := range r.Hosts {
		ip, err := r.source(h.Name)
		if err == nil && byAddress[ip.String()] == nil {
			byAddress[ip.String()], err = r.Ports.listen(ip)
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
	conn, err := net.Dial("udp", net.JoinHostPort(name, "9")) // asks for the route; nothing is sent
	if unknown := (*net.DNSError)(nil); errors.As(err, &unknown) && unknown.IsNotFound {
		return nil, fmt.Errorf("unknown host %s (if only the agent knows the name, -interface says what the host can connect to)", name)
	}
	if err != nil {
		return nil, fmt.Errorf("host %s: no route to it is known here (%w); -interface says what it can connect to", host, err)
	}
	defer conn.Close()
	return conn.LocalAddr().(*net.UDPAddr).IP, nil
}

// addressOf finds an address of this machine: of an interface, in a network, or the given one.
func addressOf(what string) (net.IP, error) {
	_, network, _ := net.ParseCIDR(what)
	literal := net.ParseIP(what)
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	for _, i := range interfaces {
		addrs, err := i.Addrs()
		if err != nil {
			return nil, err
		}
		for _, a := range addrs {
			own, ok := a.(*net.IPNet)
			if ok && !own.IP.IsLinkLocalUnicast() &&
				(i.Name == what || network != nil && network.Contains(own.IP) || literal != nil && literal.Equal(own.IP)) {
				return own.IP, nil
			}
		}
	}
	return nil, fmt.Errorf("-interface %s: no interface, network or address of this host", what)
}

func (p Ports) listen(ip net.IP) (l net.Listener, err error) {
	for port := p.Low; port <= p.High; port++ {
		l, err = net.ListenTCP("tcp", &net.TCPAddr{IP: ip, Port: port})
		if !errors.Is(err, syscall.EADDRINUSE) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("listen for other hosts: %w", err)
	}
	return l, nil
}
