// SPDX-License-Identifier: BSD-3-Clause

// Ranges of ports that a firewall leaves open.
package sys

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
)

// Ports is a range to listen in; zero is any port.
type Ports struct{ Low, High int }

// ParsePorts reads a range such as "7000-7100" or a single port; nothing means any.
func ParsePorts(text string) (p Ports, err error) {
	if text == "" {
		return p, nil
	}
	first, second, isRange := strings.Cut(text, "-")
	if !isRange {
		second = first
	}
	low, err1 := strconv.Atoi(strings.TrimSpace(first))
	high, err2 := strconv.Atoi(strings.TrimSpace(second))
	if err1 != nil || err2 != nil || low < 1 || high > 65535 || high < low {
		return p, errors.New("must be a port or a range such as 7000-7100")
	}
	return Ports{low, high}, nil
}

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
