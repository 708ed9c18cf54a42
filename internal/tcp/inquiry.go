// SPDX-License-Identifier: BSD-3-Clause

// How hosts ask each other whether the cause of a job's end is known (shm.Inquiries): by a
// connection to the host's reporter, which sends its answer and reads nothing.
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
	answerTimeout time.Duration // for the answer, once connected; 0: defaultAnswerTimeout
}

const maxReporterAddrs = 2 // of a host

var (
	errNoAddress = errors.New("this host has no address that others can reach")
	errOnePort   = errors.New("ARMCI_TCP_PORTS has one port only, which is the data server's")
)

// Listen opens the reporter's socket at the host's address, or at any address if it has several. at
// is the port and the addresses, for Ask on other hosts. The caller closes fd.
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
	fd, bound, err := i.listenAtLastFree(listen)
	if err != nil {
		return -1, nil, err
	}
	at = binary.LittleEndian.AppendUint16(nil, bound.Port())
	for _, p := range own[:min(len(own), maxReporterAddrs)] {
		at = append(append(at, byte(len(p.Addr().AsSlice()))), p.Addr().AsSlice()...)
	}
	return fd, at, nil
}

// listenAtLastFree listens at the last free port of the range: the data servers, which need one,
// take the first ones, and do so later.
func (i Inquiries) listenAtLastFree(a netip.Addr) (fd int, bound netip.AddrPort, err error) {
	ports, err := rawsock.ParsePorts(i.Ports)
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

// decodeReporterAddrs decodes the addresses that Listen has returned. An incomplete address at the
// end is ignored.
func decodeReporterAddrs(at []byte) (all []netip.AddrPort) {
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

// defaultAnswerTimeout is how long a reporter that has accepted a connection may take to answer: on
// a busy host it gets a core late.
const defaultAnswerTimeout = 5 * time.Second

// Ask asks at all addresses of the host at once, and tells whether one gives the answer. Another
// program may listen at one of them, if many hosts have the same network: it does not know the
// answer.
func (i Inquiries) Ask(at []byte, answer string, within time.Duration) bool {
	all := decodeReporterAddrs(at)
	heard := make(chan bool, len(all))
	for _, to := range all {
		go func() { heard <- i.askReporter(to, answer, within) }()
	}
	for range all {
		if <-heard {
			return true
		}
	}
	return false
}

// askReporter asks at one address. It connects within the given time.
func (i Inquiries) askReporter(to netip.AddrPort, answer string, within time.Duration) bool {
	c, err := net.DialTimeout("tcp", to.String(), within)
	if err != nil {
		return false
	}
	defer c.Close()
	c.SetReadDeadline(time.Now().Add(cmp.Or(i.answerTimeout, defaultAnswerTimeout)))
	got := make([]byte, len(answer))
	_, err = io.ReadFull(c, got)
	return err == nil && string(got) == answer
}
