// SPDX-License-Identifier: BSD-3-Clause

// System calls on non-blocking sockets, without Go's network poller: an attempt costs no more than the call itself, and
// waiting is a plain system call in which the goroutine's processor serves others.
package tcp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// errTimeout is returned by what waits until a deadline.
var errTimeout = fmt.Errorf("no answer: %w", os.ErrDeadlineExceeded)

// quickBytes is up to which size a call is made without telling Go's scheduler: it takes at most a few microseconds.
const quickBytes = 64 << 10

// The calls below take addresses of Go memory, also of stacks: such a conversion may only stand in the call itself.

// verdict makes an error of a call's number without allocating in the usual cases, and asks for another attempt.
func verdict(e unix.Errno) (error, bool) {
	switch e {
	case 0:
		return nil, false
	case unix.EINTR:
		return nil, true
	case unix.EAGAIN:
		return unix.EAGAIN, false
	}
	return e, false
}

// recvNow receives what is there, up to len(b) > 0 bytes: unix.EAGAIN if nothing is, io.EOF at the end.
func recvNow(fd int, b []byte) (int, error) {
	return receiveNow(fd, unsafe.Pointer(unsafe.SliceData(b)), len(b), 0)
}

// lookNow is recvNow of what can be received once more.
func lookNow(fd int, b []byte) (int, error) {
	return receiveNow(fd, unsafe.Pointer(unsafe.SliceData(b)), len(b), unix.MSG_PEEK)
}

// dropNow receives up to n > 0 bytes that nobody wants.
func dropNow(fd, n int) (int, error) { return receiveNow(fd, nil, n, unix.MSG_TRUNC) }

func receiveNow(fd int, p unsafe.Pointer, most int, flags uintptr) (int, error) {
	var n uintptr
	var e unix.Errno
	flags |= unix.MSG_DONTWAIT
	for {
		if most > quickBytes {
			n, _, e = unix.Syscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(p), uintptr(most), flags, 0, 0)
		} else {
			n, _, e = unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(p), uintptr(most), flags, 0, 0)
		}
		if e == 0 && n == 0 {
			return 0, io.EOF
		}
		if err, again := verdict(e); !again {
			return moved(n, e), err
		}
	}
}

// moved is the number of bytes that a call moved.
func moved(n uintptr, e unix.Errno) int {
	if e != 0 {
		return 0
	}
	return int(n)
}

// sendNow sends what fits: unix.EAGAIN if nothing does.
func sendNow(fd int, b []byte) (int, error) {
	const flags = unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL
	var n uintptr
	var e unix.Errno
	p := unsafe.Pointer(unsafe.SliceData(b))
	for {
		if len(b) > quickBytes {
			n, _, e = unix.Syscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(p), uintptr(len(b)), flags, 0, 0)
		} else {
			n, _, e = unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(p), uintptr(len(b)), flags, 0, 0)
		}
		if err, again := verdict(e); !again {
			return moved(n, e), err
		}
	}
}

// iovMax is how many pieces one call takes.
const iovMax = 1024

// recvPieces is recvNow into several pieces of memory, at most iovMax.
func recvPieces(fd int, iov []unix.Iovec) (int, error) {
	h := unix.Msghdr{Iov: unsafe.SliceData(iov), Iovlen: uint64(len(iov))}
	for {
		n, _, e := unix.Syscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&h)), unix.MSG_DONTWAIT)
		if e == 0 && n == 0 {
			return 0, io.EOF
		}
		if err, again := verdict(e); !again {
			return moved(n, e), err
		}
	}
}

// sendPieces is sendNow of several pieces of memory, at most iovMax.
func sendPieces(fd int, iov []unix.Iovec) (int, error) {
	const flags = unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL
	h := unix.Msghdr{Iov: unsafe.SliceData(iov), Iovlen: uint64(len(iov))}
	for {
		n, _, e := unix.Syscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&h)), flags)
		if err, again := verdict(e); !again {
			return moved(n, e), err
		}
	}
}

// skip removes n bytes from the front of a list of pieces and gives what is left of it.
func skip(iov []unix.Iovec, n int) []unix.Iovec {
	for len(iov) > 0 && uint64(n) >= iov[0].Len {
		n -= int(iov[0].Len)
		iov = iov[1:]
	}
	if n > 0 {
		iov[0].Base = (*byte)(unsafe.Add(unsafe.Pointer(iov[0].Base), n))
		iov[0].Len -= uint64(n)
	}
	return iov
}

// noDeadline makes waitFor wait for ever.
var noDeadline time.Time

// waitFor sleeps until the socket is ready for events (unix.POLLIN, unix.POLLOUT), or broken, or the time is over:
// errTimeout.
func waitFor(fd int, events int16, deadline time.Time) error {
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
		case err != nil:
			return err
		case n == 0:
			return errTimeout
		default:
			return nil
		}
	}
}

// recvFull receives exactly len(b) bytes.
func recvFull(fd int, b []byte, deadline time.Time) error {
	for len(b) > 0 {
		n, err := recvNow(fd, b)
		if errors.Is(err, unix.EAGAIN) {
			err = waitFor(fd, unix.POLLIN, deadline)
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// sendFull sends all of b.
func sendFull(fd int, b []byte, deadline time.Time) error {
	for len(b) > 0 {
		n, err := sendNow(fd, b)
		if errors.Is(err, unix.EAGAIN) {
			err = waitFor(fd, unix.POLLOUT, deadline)
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
