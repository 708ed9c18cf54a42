// SPDX-License-Identifier: BSD-3-Clause

// Package rawsock is raw sockets: the system calls on them, their settings, listening and
// connecting. It must not know what travels over them.
//
// This file: system calls on non-blocking sockets, without Go's network poller: an attempt costs no
// more than the call itself, and waiting is a plain system call in which the goroutine's processor
// serves others.
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

// ErrTimeout is returned by what waits until a deadline.
var ErrTimeout = fmt.Errorf("no answer: %w", os.ErrDeadlineExceeded)

const (
	// that many are moved without telling Go's scheduler: it takes at most a few microseconds
	quickBytes = 64 << 10
	sendFlags  = unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL
)

// transfer makes a call that moves up to n bytes. The caller keeps the memory.
func transfer(call uintptr, fd int, p unsafe.Pointer, n int, flags uintptr) (int, error) {
	moved, _, e := unix.RawSyscall6(call, uintptr(fd), uintptr(p), uintptr(min(n, quickBytes)),
		flags, 0, 0)
	return result(moved, e)
}

// result makes an error of a call's number without allocating in the usual cases. What does not
// block is not interrupted.
func result(moved uintptr, e unix.Errno) (int, error) {
	switch e {
	case 0:
		return int(moved), nil
	case unix.EAGAIN, unix.EINTR:
		return 0, unix.EAGAIN
	}
	return 0, e
}

// unlessEnd is what a receiving call has returned: io.EOF at the end.
func unlessEnd(n int, err error) (int, error) {
	if n == 0 && err == nil {
		err = io.EOF
	}
	return n, err
}

// Receive receives what is there, up to len(b) > 0 bytes: unix.EAGAIN if nothing is, io.EOF at the
// end.
func Receive(fd int, b []byte) (int, error) {
	return unlessEnd(transfer(unix.SYS_RECVFROM, fd, unsafe.Pointer(unsafe.SliceData(b)),
		len(b), unix.MSG_DONTWAIT))
}

// Peek is Receive of what can be received once more.
func Peek(fd int, b []byte) (int, error) {
	const flags = unix.MSG_DONTWAIT | unix.MSG_PEEK
	return unlessEnd(transfer(unix.SYS_RECVFROM, fd, unsafe.Pointer(unsafe.SliceData(b)),
		len(b), flags))
}

// Discard receives up to n > 0 bytes that nobody wants.
func Discard(fd, n int) (int, error) {
	return unlessEnd(transfer(unix.SYS_RECVFROM, fd, nil, n, unix.MSG_DONTWAIT|unix.MSG_TRUNC))
}

// Send sends what fits: unix.EAGAIN if nothing does.
func Send(fd int, b []byte) (int, error) {
	return transfer(unix.SYS_SENDTO, fd, unsafe.Pointer(unsafe.SliceData(b)), len(b), sendFlags)
}

// Unsent is how many bytes the other side's kernel has not confirmed.
func Unsent(fd int) int {
	n, _ := unix.IoctlGetInt(fd, unix.SIOCOUTQ)
	return n
}

// MaxPieces is how many pieces of memory are given to a call. The kernel takes up to 1024.
const MaxPieces = 256

// transferPieces makes a call that moves several pieces, which have the layout of struct iovec.
func transferPieces(call uintptr, fd int, p []kernel.Piece, flags uintptr) (int, error) {
	h := unix.Msghdr{Iov: (*unix.Iovec)(unsafe.Pointer(unsafe.SliceData(p))),
		Iovlen: uint64(len(p))}
	n, _, e := unix.Syscall(call, uintptr(fd), uintptr(unsafe.Pointer(&h)), flags)
	return result(n, e)
}

// ReceivePieces is Receive into several pieces of memory.
func ReceivePieces(fd int, p []kernel.Piece) (int, error) {
	return unlessEnd(transferPieces(unix.SYS_RECVMSG, fd, p, unix.MSG_DONTWAIT))
}

// SendPieces is Send of several pieces of memory.
func SendPieces(fd int, p []kernel.Piece) (int, error) {
	return transferPieces(unix.SYS_SENDMSG, fd, p, sendFlags)
}

// PieceOf is memory of ours as a piece. The caller keeps it.
func PieceOf(b []byte) kernel.Piece {
	return kernel.Piece{Addr: uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		Len: uintptr(len(b))}
}

// NoDeadline makes WaitFor wait for ever.
var NoDeadline time.Time

// WaitFor sleeps until the socket is ready for events (unix.POLLIN, unix.POLLOUT), or broken, or
// the time is over: ErrTimeout.
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

// full repeats Receive or Send until all of b has been moved.
func full(move func(int, []byte) (int, error), fd int, b []byte, ready int16,
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

func ReceiveAll(fd int, b []byte, deadline time.Time) error {
	return full(Receive, fd, b, unix.POLLIN, deadline)
}

func SendAll(fd int, b []byte, deadline time.Time) error {
	return full(Send, fd, b, unix.POLLOUT, deadline)
}
