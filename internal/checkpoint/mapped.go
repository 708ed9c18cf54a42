// SPDX-License-Identifier: BSD-3-Clause

// Whether memory exists, so that a wrong address is an error and not a fault.
package checkpoint

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Mapped tells whether all pages of some memory are mapped in this process.
func Mapped(addr uintptr, n int64) bool {
	const most = 64 << 20 // bytes asked about in one call
	page := uintptr(unix.Getpagesize())
	lo, hi := addr&^(page-1), addr+uintptr(n)
	resident := make([]byte, min(int64(hi-lo), most)/int64(page)+1)
	for ; lo < hi; lo += most {
		_, _, errno := unix.Syscall(unix.SYS_MINCORE, lo, min(hi-lo, most),
			uintptr(unsafe.Pointer(&resident[0])))
		if errno != 0 && errno != unix.EAGAIN {
			return false
		}
	}
	return true
}
