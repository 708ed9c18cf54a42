// SPDX-License-Identifier: BSD-3-Clause

// How hosts ask each other whether the cause of a job's end is known (shm.Inquiries): a connection
// to the host's reporter, which sends its answer and asks for nothing.
package tcp

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"libarmci/internal/tcp/rawsock"
)

// Inquiries implements shm.Inquiries with the addresses and ports of these options.
type Inquiries struct {
	Options
	patience time.Duration // with a reporter that is there; 0: answerTime
}

const mostAsked = 2 // addresses of a host

var (
	errNoAddress = errors.New("this host has no address that others can reach")
	errOnePort   = errors.New("ARMCI_TCP_PORTS has one port only, which is the data server's")
)

// Listen opens the socket at the host's address, or at any address if it has several.
func (i Inquiries) Listen() (fd int, at []byte, err error) {
	own, err := i.candidates()
	if err != nil {
		return -1, nil, err
	}
	if len(own) == 0 {
		return -1, nil, errNoAddress
	}
	v4 := own[0].Addr().Is4()
	own = slices.DeleteFunc(own, func(p netip.Prefix) bool { return p.Addr().Is4() != v4 })
	listen := own[0].Addr()
	if len(own) > 1 && v4 {
		listen = netip.IPv4Unspecified()
	} else if len(own) > 1 {
		listen = netip.IPv6Unspecified()
	}
	fd, bound, err := i.listenAt(listen)
	if err != nil {
		return -1, nil, err
	}
	at = binary.LittleEndian.AppendUint16(nil, bound.Port())
	for _, p := range own[:min(len(own), mostAsked)] {
		at = append(append(at, byte(len(p.Addr().AsSlice()))), p.Addr().AsSlice()...)
	}
	return fd, at, nil
}

// listenAt takes the last free port of the range, since the data servers, which cannot do without,
// take the first ones, and later.
func (i Inquiries) listenAt(a netip.Addr) (fd int, bound netip.AddrPort, err error) {
	ports, err := rawsock.Ports(i.Ports)
	if err != nil {
		return -1, bound, err
	}
	if ports.High == 0 {
		return rawsock.Listen(a, "")
	}
	err = errOnePort
	for port := ports.High; port > ports.Low; port-- {
		if fd, bound, err = rawsock.Listen(a, strconv.Itoa(port)); err == nil {
			return fd, bound, nil
		}
	}
	return -1, bound, err
}

// decodeInquiries reads the addresses in what Listen has returned. What does not hold a whole
// address at its end is dropped.
func decodeInquiries(at []byte) (all []netip.AddrPort) {
	if len(at) < 2 {
		return nil
	}
	port, rest := binary.LittleEndian.Uint16(at), at[2:]
	for len(rest) > 0 && len(rest) > int(rest[0]) {
		end := 1 + int(rest[0])
		if addr, ok := netip.AddrFromSlice(rest[1:end]); ok {
			all = append(all, netip.AddrPortFrom(addr, port))
		}
		rest = rest[end:]
	}
	return all
}

// answerTime is how long a reporter may take that is there: on a busy host it comes late to look.
const answerTime = 5 * time.Second

// Ask asks at all addresses of the host at once. Another program may listen at one of them, if that
// is of a network which many hosts have: it does not know the answer.
func (i Inquiries) Ask(at []byte, answer string, within time.Duration) bool {
	all := decodeInquiries(at)
	heard := make(chan bool, len(all))
	for _, to := range all {
		go func() { heard <- i.ask(to, answer, within) }()
	}
	for range all {
		if <-heard {
			return true
		}
	}
	return false
}

func (i Inquiries) ask(to netip.AddrPort, answer string, within time.Duration) bool {
	c, err := net.DialTimeout("tcp", to.String(), within)
	if err != nil {
		return false
	}
	defer c.Close()
	c.SetReadDeadline(time.Now().Add(cmp.Or(i.patience, answerTime)))
	got := make([]byte, len(answer))
	_, err = io.ReadFull(c, got)
	return err == nil && string(got) == answer
}
