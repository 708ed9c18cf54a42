// SPDX-License-Identifier: BSD-3-Clause

// How a stream socket tells that the peer has closed it.
package sys

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"
)

// ClosedByPeer tells whether an error of a stream socket says that the peer has closed it, perhaps
// in the middle of what it was sending, or with bytes that it had not received.
func ClosedByPeer(err error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, unix.EPIPE, unix.ECONNRESET} {
		if errors.Is(err, end) {
			return true
		}
	}
	return false
}
