// SPDX-License-Identifier: BSD-3-Clause

// The arena's files: the leader creates them, maps them and sends them to the members, which map
// them, too. Each rank keeps the file of its own slice open. Each slice is a file because the
// kernel locks a file while it gains or loses pages, and ranks that allocate at the same time must
// not wait for each other. join.go has reserved the address space.
package shm

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"
	"libarmci/internal/sys"
	"libarmci/internal/transport"
)

// filesAtOnce is the number of files in one message. The kernel allows 253, and counts files in
// flight against the limit of open files.
const filesAtOnce = 128

// newFiles creates files of these sizes. The caller closes those that it returns, which after an
// error are the ones made until then.
func newFiles(sizes []int64) ([]int, error) {
	fds := make([]int, 0, len(sizes))
	for _, bytes := range sizes {
		fd, where, err := newFile(bytes)
		if err != nil {
			return fds, fmt.Errorf("%w%s", err, raiseFiles(err, len(sizes)))
		}
		fds = append(fds, fd)
		if err := unix.Ftruncate(fd, bytes); err != nil {
			return fds, fmt.Errorf("size %s to %d bytes: %w", where, bytes, err)
		}
	}
	return fds, nil
}

func closeFiles(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}

// distribute creates the files of an arena, maps them at a reserved place, and has all members map
// them. The leader keeps the file of its own slice.
func distribute(p arenaPlace, sizes []int64, conns []*net.UnixConn, ranks []transport.Rank) (int,
	error) {
	fds, err := newFiles(sizes)
	left := span{p.base, p.base + uintptr(p.bytes)}
	for i := 0; err == nil && i < len(fds); i++ {
		left, err = mapFile(fds[i], left)
	}
	for i, c := range conns {
		// one member after the other, so that few files are in flight
		if c != nil && err == nil {
			err = sendFiles(fds, c, ranks[i])
		}
	}
	if err != nil {
		closeFiles(fds)
		return -1, err
	}
	closeFiles(fds[:1])
	closeFiles(fds[2:])
	return fds[1], nil
}

// sendFiles sends a member the files, in the order of their addresses, and waits until it has
// mapped them.
func sendFiles(fds []int, c *net.UnixConn, to transport.Rank) error {
	for rest := fds; len(rest) > 0; {
		now := rest[:min(filesAtOnce, len(rest))]
		rest = rest[len(now):]
		f := frame{kind: frameFiles, a: uint64(len(now)), b: uint64(len(rest))}
		if err := sys.Send(c, f.marshal(), unix.UnixRights(now...)); err != nil {
			return fmt.Errorf("hand the arena to rank %d: %w", to, err)
		}
	}
	c.SetReadDeadline(time.Now().Add(joinTimeout))
	defer c.SetReadDeadline(time.Time{})
	f, err := readFrame(c, frameVote)
	if err != nil {
		return fmt.Errorf("rank %d %w (%w)", to, errMemberLost, err)
	}
	if f.a != 1 {
		// a consequence: the member's error says why
		return fmt.Errorf("rank %d cannot map the %d files of the arena (%w)", to, len(fds),
			io.EOF)
	}
	return nil
}

// mapReceivedFiles maps the files that the leader sends at a reserved place, and keeps that of this
// rank's own slice.
func mapReceivedFiles(c *net.UnixConn, p arenaPlace, self int) (int, error) {
	mine, err := receiveFiles(c, span{p.base, p.base + uintptr(p.bytes)}, self+1)
	vote := frame{kind: frameVote, from: uint32(self)}
	if err == nil {
		vote.a = 1
	}
	if werr := sys.Send(c, vote.marshal(), nil); err == nil {
		err = werr
	}
	if err != nil && mine >= 0 {
		unix.Close(mine)
	}
	return mine, err
}

// receiveFiles returns file number keep, also with an error; -1 if it was not received.
func receiveFiles(c *net.UnixConn, left span, keep int) (mine int, err error) {
	mine = -1
	for n, more := 0, true; more; {
		fds, rest, err := readFiles(c)
		if err != nil {
			return mine, err
		}
		for _, fd := range fds {
			if err == nil {
				left, err = mapFile(fd, left)
			}
			if n == keep {
				mine = fd
			} else {
				unix.Close(fd)
			}
			n++
		}
		if err != nil {
			return mine, err
		}
		more = rest > 0
	}
	if mine < 0 {
		return mine, errors.New("the arena has no part for this rank")
	}
	return mine, nil
}

// readFiles receives one message with files: all of them or an error. rest is the number of files
// in later messages.
func readFiles(c *net.UnixConn) (fds []int, rest uint64, err error) {
	body, oob := make([]byte, frameBytes), make([]byte, unix.CmsgSpace(4*filesAtOnce))
	n, oobn, _, _, err := c.ReadMsgUnix(body, oob)
	if err != nil {
		return nil, 0, err
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:oobn])
	for i := range msgs {
		some, _ := unix.ParseUnixRights(&msgs[i])
		fds = append(fds, some...)
	}
	f := unmarshalFrame(body)
	if err != nil || n != frameBytes || f.kind != frameFiles || len(fds) == 0 ||
		uint64(len(fds)) != f.a {
		closeFiles(fds)
		return nil, 0, fmt.Errorf("the files of the arena did not come%s",
			raiseFiles(unix.EMFILE, int(f.a+f.b)))
	}
	return fds, f.b, nil
}
