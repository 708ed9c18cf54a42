// SPDX-License-Identifier: BSD-3-Clause

// One reporter for all nodes of a network namespace, which has several nodes where a job simulates
// nodes. Only one process that watches all ranks sees which of them ends first, since several
// reporters wake in any order. The leader of the first node starts it; the leaders of the others
// hand their connections over through an abstract socket. Containers of one machine do not share
// that, so each has a reporter, as has a node whose leader cannot hand over.
package shm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"libarmci/internal/acceptqueue"
	"libarmci/internal/log"
	"libarmci/internal/sys"
)

// watchedRank is one rank as a reporter watches it: the reporter's end of the connection, and the
// line that it prints about the rank's death.
type watchedRank struct {
	end  int
	line string
}

const (
	mostHandedOver = 250     // connections in one message; the kernel takes 253
	mostLines      = 1 << 20 // bytes of the lines of a node
	handOverBytes  = 8       // number of ranks, bytes of the lines
)

// shareReporter starts the reporter of the machine (leader of the first node), or hands the ranks
// of this node over to it (other leaders). ready is the rank's end of the first connection.
func (m *liveness) shareReporter(own []watchedRank, ready int) error {
	if m.opt.NetnsNode > 0 {
		return m.handOverRanks(own)
	}
	name := secretName("reporters ", m.opt.Secret)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: "@" + name, Net: "unix"})
	if err != nil {
		return m.startOwnReporter(own, ready)
	}
	defer l.Close()
	all, conns := gatherWatches(l, own, m.opt.NetnsRanks)
	defer closeAll(conns)
	defer closeWatches(all[len(own):])
	if err := m.startOwnReporter(all, ready); err != nil {
		return err
	}
	for _, c := range conns {
		// A leader that does not receive this byte starts a reporter for its node.
		sys.Send(c, []byte{1}, nil)
	}
	return nil
}

// handOverRanks sends the connections of this node's ranks to the leader of the first node, and
// returns when the reporter of the machine watches them.
func (m *liveness) handOverRanks(own []watchedRank) error {
	if len(own) > mostHandedOver {
		return fmt.Errorf("%d ranks are too many for one message", len(own))
	}
	name := secretName("reporters ", m.opt.Secret)
	var c *net.UnixConn
	for deadline := time.Now().Add(reporterStart); ; time.Sleep(time.Millisecond) {
		var err error
		c, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: "@" + name, Net: "unix"})
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			return err // the leader of the first node does not listen in time
		}
	}
	defer c.Close()
	if err := sys.SameUser(c); err != nil {
		return err
	}
	if err := sendWatches(c, own); err != nil {
		return err
	}
	c.SetReadDeadline(time.Now().Add(2 * reporterStart))
	_, err := io.ReadFull(c, make([]byte, 1))
	return err
}

// sendWatches sends the connections and lines of the ranks of a node.
func sendWatches(c *net.UnixConn, own []watchedRank) error {
	var lines strings.Builder
	ends := make([]int, len(own))
	for i, w := range own {
		ends[i] = w.end
		lines.WriteString(w.line + "\x00")
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(own)))
	head = binary.LittleEndian.AppendUint32(head, uint32(lines.Len()))
	err := sys.Send(c, head, unix.UnixRights(ends...))
	if err == nil {
		err = sys.Send(c, []byte(lines.String()), nil)
	}
	return err
}

// gatherWatches receives the watches of other nodes and appends them to own, until there are n or
// reporterStart has passed. The leader of the first node calls it before it starts the reporter.
// The caller closes the connections and the received ends.
func gatherWatches(l *net.UnixListener, own []watchedRank, n int) (all []watchedRank,
	conns []*net.UnixConn) {
	all = own
	deadline := time.Now().Add(reporterStart)
	l.SetDeadline(deadline)
	for len(all) < n {
		come, err := acceptqueue.AcceptUser(l)
		if err != nil {
			log.Infof("the reporter of this machine watches %d of %d ranks: %v",
				len(all), n, err)
			break
		}
		for _, conn := range come {
			c := conn.(*net.UnixConn)
			c.SetReadDeadline(deadline)
			theirs, err := receiveWatches(c)
			if err != nil {
				c.Close()
				continue
			}
			all, conns = append(all, theirs...), append(conns, c)
		}
	}
	return all, conns
}

// receiveWatches receives what sendWatches sends.
func receiveWatches(c *net.UnixConn) ([]watchedRank, error) {
	head, oob := make([]byte, handOverBytes), make([]byte, unix.CmsgSpace(4*mostHandedOver))
	n, oobn, _, _, err := c.ReadMsgUnix(head, oob)
	if err != nil {
		return nil, err
	}
	ends, err := receivedDescriptors(oob[:oobn])
	if err != nil {
		return nil, err
	}
	lines, err := receiveLines(c, head[:n], len(ends))
	if err != nil {
		closeFds(ends)
		return nil, err
	}
	all := make([]watchedRank, len(ends))
	for i, end := range ends {
		all[i] = watchedRank{end, lines[i]}
	}
	return all, nil
}

// receiveLines reads the lines that follow the head of a message with n connections.
func receiveLines(c *net.UnixConn, head []byte, n int) ([]string, error) {
	if len(head) != handOverBytes || int(binary.LittleEndian.Uint32(head)) != n {
		return nil, errors.New("a message of another length")
	}
	bytes := binary.LittleEndian.Uint32(head[4:])
	if bytes > mostLines {
		return nil, fmt.Errorf("lines of %d bytes", bytes)
	}
	text := make([]byte, bytes)
	if _, err := io.ReadFull(c, text); err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\x00")
	if len(lines) != n+1 {
		return nil, fmt.Errorf("%d lines of %d ranks", len(lines)-1, n)
	}
	return lines[:n], nil
}

func closeWatches(all []watchedRank) {
	for _, w := range all {
		unix.Close(w.end)
	}
}
