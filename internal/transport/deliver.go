// SPDX-License-Identifier: BSD-3-Clause

// Delivery of a frame that a fabric has received whole, as fabrics do whose messages have
// boundaries.
package transport

import "fmt"

// DeliverFrame passes one whole frame to r: BeginFrame, then the body by Data or into Body.Into,
// then EndFrame. r may use both slices during the call only. A receiver is called by one thread at
// a time, so calls of DeliverFrame for the same r must not overlap. An error means that the
// receiver refused the frame, or that the body does not fit its memory: the caller calls only
// r.Lost after it, with that error.
func DeliverFrame(r Receiver, head, body []byte) error {
	to, err := r.BeginFrame(head, int64(len(body)))
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
	return r.EndFrame()
}
