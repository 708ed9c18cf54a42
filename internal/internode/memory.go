// SPDX-License-Identifier: BSD-3-Clause

// Addresses of Go's memory for cursors, which hold no pointers: the memory must be kept alive by somebody else.
package internode

import "unsafe"

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

func pointerTo(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
