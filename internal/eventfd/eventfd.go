// SPDX-License-Identifier: BSD-3-Clause

// Package eventfd wakes threads that wait for descriptors, by one more of them.
package eventfd

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// FD is an eventfd that never blocks. Its zero value is another descriptor: begin with None.
type FD int

// None is no eventfd: it may be closed.
const None = FD(-1)

// New opens one.
func New() (FD, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return None, fmt.Errorf("eventfd: %w", err)
	}
	return FD(fd), nil
}

// Ring makes it readable, from any thread.
func (f FD) Ring() { unix.Write(int(f), []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// Drain makes it unreadable again.
func (f FD) Drain() {
	var b [8]byte
	unix.Read(int(f), b[:])
}

// Close gives it back.
func (f FD) Close() { unix.Close(int(f)) }
