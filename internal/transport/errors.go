// SPDX-License-Identifier: BSD-3-Clause

// Errors between processes. "Not supported" (ErrNotNative) and "failed" are different values.
package transport

import "errors"

// Sentinel errors. The errors that transports return wrap them with the operation, the peer and the
// size.
var (
	ErrNotNative = errors.New("not native to this transport")
	ErrPeerDead  = errors.New("the peer has died")
	ErrNoMemory  = errors.New("not enough memory")
	ErrBadAddr   = errors.New("address outside the peer's memory")
	ErrClosed    = errors.New("closed")
)

// ErrTooLong is returned by Mailbox.Recv for a message longer than the buffer, and by Send and Call
// for one longer than MaxMessage.
var ErrTooLong = errors.New("the message is longer than the buffer")
