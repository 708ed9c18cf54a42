// SPDX-License-Identifier: BSD-3-Clause

// Updates of any operator and type, and compare-and-swap, under the node's accumulate locks: where
// this process has mapped the memory by a kernel, in private memory of another rank on a copy,
// which is fetched and stored while the locks are held.
package shm

/*
#include "shm.h"
#include "../kernel/kernel.h"
#include "../kernel/update.h"

static inline int foreign_update(uint32_t *word, uint32_t mask, uint32_t pitch, uint32_t owner, uint32_t device, int local, bool desk,
	int op, int type, const void *r, size_t n, const void *src, void *old)
{
	struct k_stripes st = {word, mask, pitch, owner, device};
	struct shm_update u = {local, desk, &st, op, type};
	return shm_foreign_update(&u, r, n, src, old);
}
*/
import "C"

import (
	"bytes"
	"unsafe"

	"libarmci/internal/kernel"
	"libarmci/internal/transport"
)

// Update carries an update out.
func (d *Transport) Update(p transport.Peer, u *transport.Update) error {
	local, part := d.peers[p], *u
	for done, all := 0, len(u.Runs); done < all; {
		n, bytes, mapped := d.m.alike(local, u.Runs[done:])
		part.Runs = u.Runs[done : done+n]
		if mapped {
			kernel.UpdateRuns(d.stripes, u.Op, u.Type, part.Runs, part.Data, part.Old)
		} else if err := d.updateForeign(local, &part); err != nil {
			return err
		}
		if done += n; done < all {
			part.Data, part.Old = forward(part.Data, bytes), forward(part.Old, bytes)
		}
	}
	return nil
}

// alike tells how many runs, at least one, are mapped here like the first, and their bytes. Empty
// ones may be anywhere.
func (m *Node) alike(local int, runs []kernel.UpdateRun) (n int, bytes int64, mapped bool) {
	known := false
	for _, run := range runs {
		if run.Bytes > 0 {
			here := m.Mapped(local, run.Addr)
			if known && here != mapped {
				break
			}
			known, mapped = true, here
		}
		n++
		bytes += run.Bytes
	}
	return n, bytes, mapped || !known
}

func forward(p unsafe.Pointer, n int64) unsafe.Pointer {
	if p == nil {
		return nil
	}
	return unsafe.Add(p, n)
}

// updateForeign updates memory of another rank by way of copies.
func (d *Transport) updateForeign(local int, u *transport.Update) error {
	w, err := d.m.wayTo(local)
	if err != nil {
		return err
	}
	st, device := &d.stripes, C.uint32_t(0)
	if st.Device {
		device = 1
	}
	errno := C.foreign_update((*C.uint32_t)(st.Word), C.uint32_t(st.Mask),
		C.uint32_t(st.PitchWords), C.uint32_t(st.Owner), device,
		C.int(local), w == byOwner, C.int(u.Op), C.int(u.Type),
		unsafe.Pointer(unsafe.SliceData(u.Runs)), C.size_t(len(u.Runs)),
		u.Data, u.Old)
	if errno == 0 {
		return nil
	}
	bytes := int64(0)
	for _, run := range u.Runs {
		bytes += run.Bytes
	}
	return d.m.foreignError(errno, local, u.Runs[0].Addr, bytes)
}

// CompareSwap carries a compare-and-swap out.
func (d *Transport) CompareSwap(p transport.Peer, c *transport.CompareSwap) error {
	local := d.peers[p]
	if d.m.Mapped(local, c.Addr) {
		kernel.CompareSwap(d.stripes, len(c.Compare), kernel.Ptr(c.Addr),
			unsafe.Pointer(&c.Compare[0]), unsafe.Pointer(&c.Value[0]),
			unsafe.Pointer(&c.Old[0]))
		return nil
	}
	return d.compareForeign(local, c)
}

func (d *Transport) compareForeign(local int, c *transport.CompareSwap) error {
	defer kernel.DropStripe(kernel.HoldStripe(d.stripes, c.Addr))
	if err := d.m.ReadForeign(local, c.Addr, c.Old); err != nil ||
		!bytes.Equal(c.Old, c.Compare) {
		return err
	}
	return d.m.WriteForeign(local, c.Addr, c.Value)
}

var _ transport.Updater = (*Transport)(nil)
