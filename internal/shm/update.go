// SPDX-License-Identifier: BSD-3-Clause

// Updates of any operator and type, and compare-and-swap, under the node's accumulate locks. Memory
// that is mapped here is updated in place. Private memory of another rank is fetched, updated in a
// copy and stored back while the locks are held.
package shm

/*
#include "shm.h"
#include "../kernel/kernel.h"
#include "../kernel/update.h"

static inline int foreign_update(void *word, uint32_t mask, uint32_t pitch, uint32_t owner,
	uint32_t device, int local, bool via_owner, int op, int type, const void *r, size_t n,
	const void *src, void *old)
{
	struct k_stripes st = {word, mask, pitch, owner, device};
	struct shm_update u = {local, via_owner, &st, op, type};
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

// Update carries out an update of runs of the peer's memory, mapped here or not.
func (d *Transport) Update(p transport.Peer, u *transport.Update) error {
	local, part := d.peers[p], *u
	for done, all := 0, len(u.Runs); done < all; {
		n, bytes, mapped := d.m.leadingRuns(local, u.Runs[done:])
		part.Runs = u.Runs[done : done+n]
		if mapped {
			kernel.UpdateRuns(d.stripes, u.Op, u.Type, part.Runs, part.Data, part.Old)
		} else if err := d.updateForeign(local, &part); err != nil {
			return err
		}
		if done += n; done < all {
			part.Data, part.Old = advance(part.Data, bytes), advance(part.Old, bytes)
		}
	}
	u.Finish(nil)
	return nil
}

// leadingRuns returns the number of leading runs, at least one, that are all mapped here or all
// not, and their bytes. Empty runs may lie anywhere.
func (m *foreignMemory) leadingRuns(local int, runs []kernel.Segment) (n int, bytes int64,
	mapped bool) {
	known := false
	for _, run := range runs {
		if run.Bytes > 0 {
			here := m.MappedHere(local, run.Addr)
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

func advance(p unsafe.Pointer, n int64) unsafe.Pointer {
	if p == nil {
		return nil
	}
	return unsafe.Add(p, n)
}

// updateForeign is Update in private memory of another rank.
func (d *Transport) updateForeign(local int, u *transport.Update) error {
	w, err := d.m.pathTo(local)
	if err != nil {
		return err
	}
	st, device := &d.stripes, C.uint32_t(0)
	if st.Device {
		device = 1
	}
	errno := C.foreign_update(st.Word, C.uint32_t(st.Mask),
		C.uint32_t(st.PitchWords), C.uint32_t(st.Owner), device,
		C.int(local), w == pathByOwner, C.int(u.Op), C.int(u.Type),
		unsafe.Pointer(unsafe.SliceData(u.Runs)), C.size_t(len(u.Runs)),
		u.Data, u.Old)
	if errno == 0 {
		return nil
	}
	return d.m.foreignError(errno, local, u.Runs[0].Addr, u.Bytes())
}

// CompareSwap carries out a compare-and-swap of any length in the peer's memory.
func (d *Transport) CompareSwap(p transport.Peer, c *transport.CompareSwap) error {
	local := d.peers[p]
	if d.m.MappedHere(local, c.Addr) {
		kernel.CompareSwap(d.stripes, len(c.Compare), kernel.Ptr(c.Addr),
			unsafe.Pointer(&c.Compare[0]), unsafe.Pointer(&c.Value[0]),
			unsafe.Pointer(&c.Old[0]))
		return nil
	}
	return d.compareForeign(local, c)
}

// compareForeign is CompareSwap by copies, under the accumulate lock of the address.
func (d *Transport) compareForeign(local int, c *transport.CompareSwap) error {
	defer kernel.DropStripe(kernel.HoldStripe(d.stripes, c.Addr))
	if err := d.m.ReadForeign(local, c.Addr, c.Old); err != nil ||
		!bytes.Equal(c.Old, c.Compare) {
		return err
	}
	return d.m.WriteForeign(local, c.Addr, c.Value)
}
