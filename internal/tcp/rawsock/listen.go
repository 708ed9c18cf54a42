// SPDX-License-Identifier: BSD-3-Clause

// Listening and connecting: raw non-blocking sockets of the right settings.
package rawsock

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/hostnet"
)

// backlog is how many connections wait for accept; the kernel takes less if net.core.somaxconn is
// lower.
const backlog = 4096

// milliseconds is a timeout as sockets take it.
func milliseconds(timeout time.Duration) int {
	return int(max(timeout, time.Second) / time.Millisecond)
}

// Tune sets what every connection has: nothing is delayed, and a silent host is noticed within
// timeout.
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

// socket makes a socket for an address, and gives the address as the kernel wants it.
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

// Ports reads the setting.
func Ports(text string) (hostnet.Ports, error) {
	p, err := hostnet.ParsePorts(text)
	if err != nil {
		err = fmt.Errorf("ARMCI_TCP_PORTS=%q: %w", text, err)
	}
	return p, err
}

// Listen opens the first free port of the range at an address.
func Listen(at netip.Addr, portRange string) (fd int, bound netip.AddrPort, err error) {
	ports, err := Ports(portRange)
	if err != nil {
		return -1, bound, err
	}
	for port := ports.Low; port <= ports.High; port++ {
		if fd, bound, err = listenAt(netip.AddrPortFrom(at,
			uint16(port))); err != unix.EADDRINUSE {
			break
		}
	}
	if err == unix.EADDRINUSE {
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

func listenAt(a netip.AddrPort) (int, netip.AddrPort, error) {
	fd, sa, err := socket(a)
	if err != nil {
		return -1, a, err
	}
	if a.Port() != 0 {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1)
	}
	if err = unix.Bind(fd, sa); err == nil {
		err = unix.Listen(fd, backlog)
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

// Connect makes a connection and waits for it until the deadline.
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
			err = unix.Connect(fd, sa) // which tells how it went
		}
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// Congestion control. Where the system's choice paces what is sent (BBR), it must measure the path
// all the time; requests and answers are no stream, so it measures too little, and data then leaves
// at a fraction of the network's speed. Between the hosts of a job, whose round trips are short, an
// algorithm that sends what the window allows is taken instead.

// autoControl leaves the choice to the system, but for pacing.
const autoControl = "auto"

// SetCongestion sets the congestion control of a socket: the named one, or by default. It must be
// called before the socket is connected: the kernel goes on pacing one that has begun with it.
func SetCongestion(fd int, name string) error {
	if name != "" && name != autoControl {
		if err := setControl(fd, name); err != nil {
			return fmt.Errorf("ARMCI_TCP_CONGESTION=%s: %w", name, err)
		}
		return nil
	}
	now, err := unix.GetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION)
	if err == nil && strings.HasPrefix(now, "bbr") && setControl(fd, "cubic") != nil {
		setControl(fd, "reno") // every kernel has it, and everybody may use it
	}
	return nil
}

func setControl(fd int, name string) error {
	return unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, name)
}

// TryCongestion tells whether a congestion control exists here and is allowed.
func TryCongestion(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil // that is told where a socket is needed
	}
	defer unix.Close(fd)
	return SetCongestion(fd, name)
}
