// SPDX-License-Identifier: BSD-3-Clause

// Package rawsock is raw sockets: the system calls on them, their settings, listening and
// connecting. It must not know what travels over them.
//
// This file has the system calls on non-blocking sockets, without Go's network poller. An attempt
// costs no more than the call itself. Waiting is a plain system call, in which the goroutine's
// processor serves other goroutines.
package rawsock

import (
	"fmt"
	"io"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/kernel"
)

// ErrTimeout is returned by functions that wait until a deadline.
var ErrTimeout = fmt.Errorf("no answer: %w", os.ErrDeadlineExceeded)

const (
	// moved by one call of which Go's scheduler is not informed: at most a few microseconds
	maxRawSyscallBytes = 64 << 10
	sendFlags          = unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL
)

// transferBytes makes a system call that moves up to n bytes. The caller keeps the memory alive.
func transferBytes(call uintptr, fd int, p unsafe.Pointer, n int, flags uintptr) (int, error) {
	n, e := faultOf(call, n)
	if e != 0 {
		return errnoResult(0, e)
	}
	moved, _, e := unix.RawSyscall6(call, uintptr(fd), uintptr(p),
		uintptr(min(n, maxRawSyscallBytes)), flags, 0, 0)
	return errnoResult(moved, e)
}

// errnoResult makes an error of an error number, without allocating in the usual cases. EINTR,
// which calls that do not block hardly ever return, becomes EAGAIN.
func errnoResult(moved uintptr, e unix.Errno) (int, error) {
	switch e {
	case 0:
		return int(moved), nil
	case unix.EAGAIN, unix.EINTR:
		return 0, unix.EAGAIN
	}
	return 0, e
}

// eofIfZero turns the result of a receiving call that has received nothing into io.EOF.
func eofIfZero(n int, err error) (int, error) {
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// Receive receives bytes that have arrived, up to len(b) > 0. The error is unix.EAGAIN if there are
// none, io.EOF at the end of the stream.
func Receive(fd int, b []byte) (int, error) {
	return eofIfZero(transferBytes(unix.SYS_RECVFROM, fd, unsafe.Pointer(unsafe.SliceData(b)),
		len(b), unix.MSG_DONTWAIT))
}

// Peek is Receive, but the bytes stay in the socket.
func Peek(fd int, b []byte) (int, error) {
	const flags = unix.MSG_DONTWAIT | unix.MSG_PEEK
	return eofIfZero(transferBytes(unix.SYS_RECVFROM, fd, unsafe.Pointer(unsafe.SliceData(b)),
		len(b), flags))
}

// Discard receives up to n > 0 bytes and drops them.
func Discard(fd, n int) (int, error) {
	const flags = unix.MSG_DONTWAIT | unix.MSG_TRUNC
	return eofIfZero(transferBytes(unix.SYS_RECVFROM, fd, nil, n, flags))
}

// Send sends the bytes that fit into the socket. The error is unix.EAGAIN if none do.
func Send(fd int, b []byte) (int, error) {
	return transferBytes(unix.SYS_SENDTO, fd, unsafe.Pointer(unsafe.SliceData(b)), len(b),
		sendFlags)
}

// UnackedBytes is how many bytes the other side's kernel has not acknowledged.
func UnackedBytes(fd int) (int, error) { return unix.IoctlGetInt(fd, unix.SIOCOUTQ) }

// LimitSendBuffer has the kernel take no more than about so many bytes that are not acknowledged,
// instead of what it takes by its own measurements. It may be fewer than it has taken already.
func LimitSendBuffer(fd, nbytes int) error {
	// The kernel doubles the number, for what it needs itself beside the bytes.
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF, nbytes/2)
}

// FreeSendBuffer ends what LimitSendBuffer has begun. Linux before 5.15 cannot do that.
func FreeSendBuffer(fd int) error {
	return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BUF_LOCK, 0)
}

// MaxPieces is how many pieces of memory one call may have. The kernel allows 1024.
const MaxPieces = 256

// transferPieces makes a system call that moves several pieces, which have the layout of struct
// iovec. The caller keeps the memory alive.
func transferPieces(call uintptr, fd int, p []kernel.Segment, flags uintptr) (int, error) {
	most, e := faultOfPieces(call, len(p))
	if e != 0 {
		return errnoResult(0, e)
	}
	p = p[:most]
	h := unix.Msghdr{Iov: (*unix.Iovec)(unsafe.Pointer(unsafe.SliceData(p))),
		Iovlen: uint64(len(p))}
	n, _, e := unix.Syscall(call, uintptr(fd), uintptr(unsafe.Pointer(&h)), flags)
	return errnoResult(n, e)
}

// ReceivePieces is Receive into several pieces of memory.
func ReceivePieces(fd int, p []kernel.Segment) (int, error) {
	return eofIfZero(transferPieces(unix.SYS_RECVMSG, fd, p, unix.MSG_DONTWAIT))
}

// SendPieces is Send of several pieces of memory.
func SendPieces(fd int, p []kernel.Segment) (int, error) {
	return transferPieces(unix.SYS_SENDMSG, fd, p, sendFlags)
}

// PieceOf is Go memory as a piece. The caller keeps it alive.
func PieceOf(b []byte) kernel.Segment {
	return kernel.Segment{Addr: uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		Bytes: int64(len(b))}
}

// NoDeadline makes WaitFor wait for ever.
var NoDeadline time.Time

// WaitFor sleeps until the socket is ready for events (unix.POLLIN, unix.POLLOUT) or broken, which
// the next call on it reports. The error is ErrTimeout after the deadline.
func WaitFor(fd int, events int16, deadline time.Time) error {
	p := []unix.PollFd{{Fd: int32(fd), Events: events}}
	for {
		var limit *unix.Timespec
		if !deadline.IsZero() {
			t := unix.NsecToTimespec(max(int64(time.Until(deadline)), 0))
			limit = &t
		}
		n, err := unix.Ppoll(p, limit, nil)
		switch {
		case err == unix.EINTR:
		case err == nil && n == 0:
			return ErrTimeout
		default:
			return err
		}
	}
}

// moveAll repeats Receive or Send until all of b has been moved.
func moveAll(move func(int, []byte) (int, error), fd int, b []byte, ready int16,
	deadline time.Time) error {
	for len(b) > 0 {
		n, err := move(fd, b)
		if err == unix.EAGAIN {
			err = WaitFor(fd, ready, deadline)
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// ReceiveAll receives len(b) bytes and waits for them until the deadline.
func ReceiveAll(fd int, b []byte, deadline time.Time) error {
	return moveAll(Receive, fd, b, unix.POLLIN, deadline)
}

// SendAll sends all of b and waits for room until the deadline.
func SendAll(fd int, b []byte, deadline time.Time) error {
	return moveAll(Send, fd, b, unix.POLLOUT, deadline)
}
