// SPDX-License-Identifier: BSD-3-Clause

// Where rank 0 of a job without MPI meets the others: on its own host by a unix socket; if there may be other hosts, by TCP on
// each of its addresses, of which a rank takes the first that answers.

package bootstrap

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"libarmci/internal/bootstrap/jobserver"
	"libarmci/internal/bootstrap/jobwire"
	"libarmci/internal/bootstrap/pmi"
	"libarmci/internal/config"
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
	wanted := s.String("ARMCI_TCP_INTERFACE")
	own, err := jobserver.Addresses(wanted)
	if err == nil && len(own) == 0 && wanted != "" {
		err = fmt.Errorf("ARMCI_TCP_INTERFACE=%q: no interface or network of that name is up and has an address", wanted)
	}
	for i := 0; err == nil && i < len(own); i++ {
		var l net.Listener
		if l, err = portsOf(s.String("ARMCI_TCP_PORTS")).Listen(own[i]); err == nil {
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

// portsOf reads a port or a range. What is neither means any port; the transport complains about it.
func portsOf(text string) (p jobserver.Ports) {
	if n, _ := fmt.Sscanf(text, "%d-%d", &p.Low, &p.High); n == 1 {
		p.High = p.Low
	}
	if p.Low < 1 || p.High > 65535 || p.Low > p.High {
		return jobserver.Ports{}
	}
	return p
}

// tell makes the line, with as many addresses as there is room for.
func tell(secret jobwire.Secret, listeners []net.Listener) string {
	line := secret.String() + " " + ownHost()
	for _, l := range listeners {
		if longer := line + " " + l.Addr().String(); len(longer) <= pmi.MaxValue {
			line = longer
		}
	}
	return line
}

func (m *meetingPoint) read(text string) (err error) {
	words := strings.Fields(text)
	if len(words) < 3 {
		return errors.New("rank 0 does not tell where to meet it")
	}
	m.host, m.addresses = words[1], words[2:]
	m.secret, err = jobwire.ParseSecret(words[0])
	return err
}

// ownHost names the running kernel and the network namespace, in which unix sockets of this kind are seen.
func ownHost() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	var st unix.Stat_t
	_ = unix.Stat("/proc/self/ns/net", &st) // without /proc, all hosts look alike, and TCP is tried second
	return fmt.Sprintf("%s/%d:%d", strings.TrimSpace(string(boot)), st.Dev, st.Ino)
}

// connect takes the first address that answers.
func (m *meetingPoint) connect() (net.Conn, error) {
	local, others := m.addresses[0], m.addresses[1:]
	var refused error
	if m.host == ownHost() {
		conn, err := jobwire.Dial(local, connectTime)
		if err == nil || len(others) == 0 {
			return conn, err
		}
		refused = err
	}
	if len(others) == 0 {
		return nil, errors.New("it is on another host, and listens on none of its addresses")
	}
	type result struct {
		conn net.Conn
		err  error
	}
	results := make(chan result, len(others))
	for _, a := range others {
		go func() {
			conn, err := jobwire.Dial(a, connectTime)
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
	return nil, fmt.Errorf("none of its addresses answers (ARMCI_TCP_INTERFACE at rank 0 chooses others): %w", refused)
}
