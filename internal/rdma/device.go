// SPDX-License-Identifier: BSD-3-Clause

// Which device, port and address of it to use. Nothing is opened here.
package rdma

import (
	"fmt"
	"slices"
	"strconv"

	"libarmci/internal/rdma/verbs"
)

// way is a port with the address under which others reach it; gid is nil on InfiniBand, where the LID is enough.
type way struct {
	verbs.Port
	gid *verbs.GID
}

// open opens the device.
func (w *way) open() (*verbs.Device, error) {
	index := -1
	if w.gid != nil {
		index = w.gid.Index
	}
	return verbs.OpenDevice(w.Device, uint8(w.Number), index)
}

func (w *way) String() string {
	if w.gid == nil {
		return fmt.Sprintf("%s, LID %d", w.Port.String(), w.LID)
	}
	return fmt.Sprintf("%s, GID %d (%s, %s)", w.Port.String(), w.gid.Index, w.gid.Kind, w.gid.Text())
}

// rank orders addresses of an Ethernet port, the best first: RoCE v2 is routed, and IPv4 and global addresses reach further
// than link-local ones.
func rank(g *verbs.GID) (r int) {
	if g.Kind != "RoCE v2" {
		r = 4
	}
	if g.LinkLocal() {
		r += 2
	} else if !g.IPv4() {
		r++
	}
	return r
}

// ways lists what may be used, the best first, given the settings: a device or device:port, and the number of an
// address. reasons are why other ports may not be used, or why there is nothing.
func ways(all []verbs.Port, device, number string) (usable []way, reasons []string) {
	for _, p := range all {
		if device != "" && device != p.Device && device != fmt.Sprintf("%s:%d", p.Device, p.Number) {
			continue
		}
		if w, why := wayBy(p, number); why != "" {
			reasons = append(reasons, p.String()+": "+why)
		} else {
			usable = append(usable, w)
		}
	}
	switch {
	case len(all) == 0:
		reasons = []string{"no RDMA device on this host"}
	case usable == nil && reasons == nil:
		reasons = []string{"ARMCI_RDMA_DEVICE: there is no device " + device}
	}
	return usable, reasons
}

// wayBy chooses the address of a port, or says why the port cannot be used.
func wayBy(p verbs.Port, number string) (w way, why string) {
	if p.State != "ACTIVE" {
		return w, "the port is " + p.State
	}
	if number != "" {
		i := slices.IndexFunc(p.GIDs, func(g verbs.GID) bool { return strconv.Itoa(g.Index) == number })
		if i < 0 {
			return w, "it has no GID " + number
		}
		return way{p, &p.GIDs[i]}, ""
	}
	if p.Link == "InfiniBand" {
		if p.LID == 0 {
			return w, "the port has no LID: no subnet manager"
		}
		return way{p, nil}, ""
	}
	if len(p.GIDs) == 0 {
		return w, "no usable GID: its network interface has no address"
	}
	best := slices.MinFunc(p.GIDs, func(a, b verbs.GID) int { return rank(&a) - rank(&b) })
	return way{p, &best}, ""
}

// nearest returns the way whose address has most leading bits in common with the addresses in all hints of the other ranks;
// the first of equals.
func nearest(mine []way, hints [][]byte) *way {
	best, most := 0, -1
	for i := range mine {
		common := 128
		for _, h := range hints {
			if mine[i].gid != nil && len(h) == 16 {
				common = min(common, commonBits(mine[i].gid.Addr, [16]byte(h)))
			}
		}
		if common > most {
			best, most = i, common
		}
	}
	return &mine[best]
}

func commonBits(a, b [16]byte) int {
	for i := range 128 {
		if (a[i/8]^b[i/8])>>(7-i%8)&1 != 0 {
			return i
		}
	}
	return 128
}
