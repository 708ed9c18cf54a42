// SPDX-License-Identifier: BSD-3-Clause

// Where a job server may listen for other hosts: addresses of this machine, and ports that a firewall leaves open.

package jobserver

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// Ports is a range to listen in, for firewalls; zero is any port.
type Ports struct{ Low, High int }

// Listen listens at the first free port.
func (p Ports) Listen(ip net.IP) (l net.Listener, err error) {
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

// Addresses lists addresses of this machine: of an interface, in a network, or the given one; with "", all that other hosts
// may know it by. There may be none.
func Addresses(what string) (all []net.IP, err error) {
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
			if !ok || own.IP.IsLinkLocalUnicast() {
				continue
			}
			if i.Name == what || network != nil && network.Contains(own.IP) || literal != nil && literal.Equal(own.IP) ||
				what == "" && i.Flags&net.FlagUp != 0 && !own.IP.IsLoopback() {
				all = append(all, own.IP)
			}
		}
	}
	return all, nil
}
