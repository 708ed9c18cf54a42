// SPDX-License-Identifier: BSD-3-Clause

// Short time slices for threads of the library. The kernel (EEVDF, Linux 6.12 and later) lets a
// thread that wakes take the core from one with a longer slice at once, as long as it has not had
// more than its share. So a data server on a core where another thread computes need not wait for
// the end of that thread's slice. It gets no more processor time than others. Threads of the
// application are never changed.
package wait

import "golang.org/x/sys/unix"

// shortSlice is the least that the kernel grants; other threads have a few milliseconds.
const shortSlice = 100_000 // ns

// ShortSlice asks for short slices for the calling thread, which is locked to its goroutine for
// good: false where the kernel refuses, or has no such thing, or the thread is scheduled by another
// policy than the usual one.
func ShortSlice() bool {
	a, err := unix.SchedGetAttr(0, 0)
	if err != nil || a.Policy != unix.SCHED_NORMAL {
		return false
	}
	a.Runtime = shortSlice
	if unix.SchedSetAttr(0, a, 0) != nil {
		return false
	}
	a, err = unix.SchedGetAttr(0, 0)
	return err == nil && a.Runtime == shortSlice // older kernels ignore it
}
