// SPDX-License-Identifier: BSD-3-Clause

// One reporter for all nodes of a network namespace, of which there are several where the job
// pretends so. Only one process that watches all ranks sees which of them ends first: several
// reporters wake in any order. The leader of the first node starts it; leaders of the others hand
// their connections over through an abstract socket, which containers of one machine do not share:
// these have a reporter each, as has a node whose leader cannot hand over.
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
	"libarmci/internal/sock"
)

// watch is what a reporter needs of a rank: the end of the connection, and the line about its
// death.
type watch struct {
	end  int
	line string
}

const (
	mostHandedOver = 250     // connections in one message; the kernel takes 253
	mostLines      = 1 << 20 // bytes of the lines of a node
	handOverBytes  = 8       // number of ranks, bytes of the lines
)

// shareReporter starts the reporter of the machine, or hands the ranks of this node over to it.
func (m *Node) shareReporter(own []watch, ready int) error {
	if m.opt.NetnsNode > 0 {
		return m.handOver(own)
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
		// a leader that does not hear it starts a reporter of its own
		sock.Send(c, []byte{1}, nil)
	}
	return nil
}

// handOver gives the ranks of this node to the reporter of the machine, and returns when it watches
// them.
func (m *Node) handOver(own []watch) error {
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
			// until then the first node may not have come so far
			return err
		}
	}
	defer c.Close()
	if err := sock.SameUser(c); err != nil {
		return err
	}
	if err := sendWatches(c, own); err != nil {
		return err
	}
	c.SetReadDeadline(time.Now().Add(2 * reporterStart))
	_, err := io.ReadFull(c, make([]byte, 1))
	return err
}

func sendWatches(c *net.UnixConn, own []watch) error {
	var lines strings.Builder
	ends := make([]int, len(own))
	for i, w := range own {
		ends[i] = w.end
		lines.WriteString(w.line + "\x00")
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(own)))
	head = binary.LittleEndian.AppendUint32(head, uint32(lines.Len()))
	err := sock.Send(c, head, unix.UnixRights(ends...))
	if err == nil {
		err = sock.Send(c, []byte(lines.String()), nil)
	}
	return err
}

// gatherWatches adds the ranks of the other nodes to own until there are n, or the time is up.
func gatherWatches(l *net.UnixListener, own []watch, n int) (all []watch, conns []*net.UnixConn) {
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

func receiveWatches(c *net.UnixConn) ([]watch, error) {
	head, oob := make([]byte, handOverBytes), make([]byte, unix.CmsgSpace(4*mostHandedOver))
	n, oobn, _, _, err := c.ReadMsgUnix(head, oob)
	if err != nil {
		return nil, err
	}
	ends, err := rights(oob[:oobn])
	if err != nil {
		return nil, err
	}
	lines, err := receiveLines(c, head[:n], len(ends))
	if err != nil {
		closeFds(ends)
		return nil, err
	}
	all := make([]watch, len(ends))
	for i, end := range ends {
		all[i] = watch{end, lines[i]}
	}
	return all, nil
}

// receiveLines reads what follows the head of a message with n connections.
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

func closeWatches(all []watch) {
	for _, w := range all {
		unix.Close(w.end)
	}
}
