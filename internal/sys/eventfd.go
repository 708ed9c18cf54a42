// SPDX-License-Identifier: BSD-3-Clause

// Descriptors that wake threads which wait for descriptors.

package sys

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// EventFD is an eventfd that never blocks. Its zero value is another descriptor: begin with
// NoEventFD.
type EventFD int

// NoEventFD is no eventfd: it may be closed.
const NoEventFD = EventFD(-1)

// NewEventFD opens one.
func NewEventFD() (EventFD, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return NoEventFD, fmt.Errorf("eventfd: %w", err)
	}
	return EventFD(fd), nil
}

// Signal makes it readable, from any thread.
func (f EventFD) Signal() { unix.Write(int(f), []byte{1, 0, 0, 0, 0, 0, 0, 0}) }

// Drain makes it unreadable again.
func (f EventFD) Drain() {
	var b [8]byte
	unix.Read(int(f), b[:])
}

// Close gives it back.
func (f EventFD) Close() { unix.Close(int(f)) }
