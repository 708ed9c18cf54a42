// SPDX-License-Identifier: BSD-3-Clause

// Where rank 0 of a job without MPI meets the others: on its own host by a unix socket; if there
// may be other hosts, by TCP on each of its addresses, of which a rank takes the first that
// answers.

package bootstrap

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"libarmci/internal/bootstrap/jobwire"
	"libarmci/internal/bootstrap/pmi"
	"libarmci/internal/config"
	"libarmci/internal/sys"
)

// meetingPoint is what rank 0 tells: a line of words.
type meetingPoint struct {
	secret    jobwire.Secret
	host      string
	addresses []string // the first is that of the unix socket
}

// listenFor opens a unix socket and, for other hosts, a port on each address that they may know.
func listenFor(s *config.Set, oneHost bool) ([]net.Listener, error) {
	unix, err := net.Listen("unix", jobwire.NewAddress())
	if err != nil {
		return nil, err
	}
	all := []net.Listener{unix}
	if oneHost {
		return all, nil
	}
	own, err := sys.AddressesOf(s.String("ARMCI_TCP_INTERFACE"))
	for i := 0; err == nil && i < len(own); i++ {
		var l net.Listener
		if l, err = portsOf(s.String("ARMCI_TCP_PORTS")).Listen(
			own[i].Addr().AsSlice()); err == nil {
			all = append(all, l)
		}
	}
	if err != nil {
		for _, l := range all {
			l.Close()
		}
	}
	return all, err
}

// portsOf reads the setting. What means nothing means any port; the transport complains about it.
func portsOf(text string) sys.Ports {
	p, _ := sys.ParsePorts(text)
	return p
}

// hostID is this host's identity, as a word. Without /proc all hosts look alike, and TCP is tried
// second.
func hostID() string { return cmp.Or(sys.HostIdentity(), "unknown") }

// encodeMeetingPoint makes the line, with as many addresses as there is room for.
func encodeMeetingPoint(secret jobwire.Secret, listeners []net.Listener) string {
	line := secret.String() + " " + hostID()
	for _, l := range listeners {
		if longer := line + " " + l.Addr().String(); len(longer) <= pmi.MaxValue {
			line = longer
		}
	}
	return line
}

// parse parses the line of encodeMeetingPoint.
func (m *meetingPoint) parse(text string) (err error) {
	words := strings.Fields(text)
	if len(words) < 3 {
		return errors.New("rank 0 does not tell where to meet it")
	}
	m.host, m.addresses = words[1], words[2:]
	m.secret, err = jobwire.ParseSecret(words[0])
	return err
}

// connect takes the first address that answers, and waits so long for each.
func (m *meetingPoint) connect(wait time.Duration) (net.Conn, error) {
	local, others := m.addresses[0], m.addresses[1:]
	var refused error
	if m.host == hostID() {
		conn, err := jobwire.Dial(local, wait)
		if err == nil || len(others) == 0 {
			return conn, err
		}
		refused = err
	}
	if len(others) == 0 {
		return nil, errors.New("it is on another host, and listens on none of its " +
			"addresses")
	}
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result, len(others))
	for _, a := range others {
		go func() {
			conn, err := jobwire.Dial(a, wait)
			results <- result{conn, err}
		}()
	}
	for i := range others {
		r := <-results
		if r.err == nil {
			go func() {
				for range len(others) - i - 1 {
					if late := <-results; late.err == nil {
						late.conn.Close()
					}
				}
			}()
			return r.conn, nil
		}
		refused = errors.Join(refused, r.err)
	}
	return nil, fmt.Errorf("none of its addresses answers (ARMCI_TCP_INTERFACE at rank 0 "+
		"chooses others): %w", refused)
}
