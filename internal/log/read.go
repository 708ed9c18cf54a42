// SPDX-License-Identifier: BSD-3-Clause

// Waits until the launcher has read what was printed. Some launchers end a job
// without reading what its ranks have written into their pipes.

package log

import (
	"time"

	"golang.org/x/sys/unix"
)

// AwaitReader waits until the pipe behind standard error is empty, but not longer than limit. If
// standard error is not a pipe it returns at once.
func AwaitReader(limit time.Duration) { awaitReader(2, limit) }

// awaitReader is AwaitReader for a descriptor.
func awaitReader(fd int, limit time.Duration) {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return
	}
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if unread, err := unix.IoctlGetInt(fd, unix.TIOCINQ); err != nil || unread == 0 {
			return
		}
	}
}
