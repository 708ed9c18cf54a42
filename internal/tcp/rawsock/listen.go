// SPDX-License-Identifier: BSD-3-Clause

// Listening and connecting: raw non-blocking sockets with the settings that all connections have.
package rawsock

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/sys"
)

// listenBacklog is how many connections may wait for accept; the kernel allows fewer if
// net.core.somaxconn is lower.
const listenBacklog = 4096

// milliseconds is a timeout in the unit of socket options, at least a second.
func milliseconds(timeout time.Duration) int {
	return int(max(timeout, time.Second) / time.Millisecond)
}

// Tune sets the options of every connection: no data is delayed, and a silent host is noticed
// within timeout.
func Tune(fd int, timeout time.Duration) {
	ms := milliseconds(timeout)
	for _, o := range [][3]int{
		{unix.IPPROTO_TCP, unix.TCP_NODELAY, 1},
		{unix.SOL_SOCKET, unix.SO_KEEPALIVE, 1},
		{unix.IPPROTO_TCP, unix.TCP_KEEPIDLE, max(ms/2000, 1)},
		{unix.IPPROTO_TCP, unix.TCP_KEEPINTVL, max(ms/8000, 1)},
		{unix.IPPROTO_TCP, unix.TCP_KEEPCNT, 4},
		{unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, ms},
	} {
		// a socket of another family, in tests, has none of these
		unix.SetsockoptInt(fd, o[0], o[1], o[2])
	}
}

// socket makes a socket for an address, and returns the address in the form of system calls.
func socket(a netip.AddrPort) (fd int, sa unix.Sockaddr, err error) {
	family := unix.AF_INET6
	sa = &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
	if a.Addr().Is4() {
		family, sa = unix.AF_INET, &unix.SockaddrInet4{Port: int(a.Port()),
			Addr: a.Addr().As4()}
	}
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC,
		unix.IPPROTO_TCP)
	return fd, sa, err
}

// ParsePorts parses ARMCI_TCP_PORTS.
func ParsePorts(text string) (sys.Ports, error) {
	p, err := sys.ParsePorts(text)
	if err != nil {
		err = fmt.Errorf("ARMCI_TCP_PORTS=%q: %w", text, err)
	}
	return p, err
}

// Listen listens at an address, at the first free port of the range. The caller closes fd.
func Listen(at netip.Addr, portRange string) (fd int, bound netip.AddrPort, err error) {
	ports, err := ParsePorts(portRange)
	if err != nil {
		return -1, bound, err
	}
	for port := ports.Low; port <= ports.High; port++ {
		if fd, bound, err = listenAtPort(netip.AddrPortFrom(at,
			uint16(port))); err != unix.EADDRINUSE {
			break
		}
	}
	if err == unix.EADDRINUSE {
		if portRange == "" {
			return -1, bound, fmt.Errorf("no port is free at %s", at)
		}
		return -1, bound,
			fmt.Errorf("no port of %s is free at %s: set ARMCI_TCP_PORTS to a wider "+
				"range", portRange, at)
	}
	if err != nil {
		return -1, bound,
			fmt.Errorf("Listen at %s: %w (ARMCI_TCP_INTERFACE chooses another address)",
				at, err)
	}
	return fd, bound, nil
}

// listenAtPort listens at one port, or any if it is 0. The error is unix.EADDRINUSE if it is not
// free.
func listenAtPort(a netip.AddrPort) (int, netip.AddrPort, error) {
	fd, sa, err := socket(a)
	if err != nil {
		return -1, a, err
	}
	if a.Port() != 0 {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if err = unix.Bind(fd, sa); err == nil {
		err = unix.Listen(fd, listenBacklog)
	}
	if err == nil {
		sa, err = unix.Getsockname(fd)
	}
	if err != nil {
		unix.Close(fd)
		return -1, a, err
	}
	port := 0
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		port = sa.Port
	case *unix.SockaddrInet6:
		port = sa.Port
	}
	return fd, netip.AddrPortFrom(a.Addr(), uint16(port)), nil
}

// Connect connects to an address and waits for that until the deadline. timeout is that of Tune.
// The caller closes the descriptor.
func Connect(to netip.AddrPort, congestion string, timeout time.Duration, deadline time.Time) (int,
	error) {
	fd, sa, err := socket(to)
	if err != nil {
		return -1, err
	}
	Tune(fd, timeout)
	if err = SetCongestion(fd, congestion); err == nil {
		err = unix.Connect(fd, sa)
	}
	if err == unix.EINPROGRESS {
		if err = WaitFor(fd, unix.POLLOUT, deadline); err == nil {
			err = unix.Connect(fd, sa) // returns the result
		}
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// Congestion control. Where the system's choice paces output (BBR), it must measure the path all
// the time. Requests and answers are no stream, so it measures too little, and data then leaves at
// a fraction of the network's speed. Between the hosts of a job, round trips are short: an
// algorithm that sends as much as the window allows is used instead.

// autoCongestion leaves the choice to the system, except for algorithms that pace.
const autoCongestion = "auto"

// SetCongestion sets the congestion control of a socket: the named one, or the default. The caller
// has not connected the socket yet: the kernel goes on pacing a connection that has begun with it.
func SetCongestion(fd int, name string) error {
	if name != "" && name != autoCongestion {
		if err := setCongestionName(fd, name); err != nil {
			return fmt.Errorf("ARMCI_TCP_CONGESTION=%s: %w", name, err)
		}
		return nil
	}
	now, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err == nil && strings.HasPrefix(now, "bbr") && setCongestionName(fd, "cubic") != nil {
		setCongestionName(fd, "reno") // every kernel has it, and every user may set it
	}
	return nil
}

func setCongestionName(fd int, name string) error {
	return unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
}

// ProbeCongestion returns an error if a congestion control does not exist here or is not allowed.
func ProbeCongestion(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil // opening the fabric reports it
	}
	defer unix.Close(fd)
	return SetCongestion(fd, name)
}
