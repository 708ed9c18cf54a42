// SPDX-License-Identifier: BSD-3-Clause

// Delivery of a frame that a fabric has received whole, as fabrics do whose messages have
// boundaries.
package transport

import "fmt"

// Deliver hands a frame to its receiver. Both slices are valid during the call.
func Deliver(r Receiver, head, body []byte) error {
	to, err := r.Head(head, int64(len(body)))
	switch {
	case err != nil:
		return err
	case len(body) == 0:
	case to.Into == nil:
		if err = r.Data(body); err != nil {
			return err
		}
	case int64(len(body)) > to.Into.Left():
		return fmt.Errorf("a body of %d bytes for %d", len(body), to.Into.Left())
	default:
		to.Into.Unpack(body)
	}
	return r.End()
}
