// SPDX-License-Identifier: BSD-3-Clause

// The choice among ports: which may be used, under which address, and by which rank of a node.
package rdma

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// portAddress is a port with the address under which peers reach it; gid is nil on InfiniBand,
// where the LID is enough.
type portAddress struct {
	verbs.Port
	gid *verbs.GID
}

// open opens the device.
func (w *portAddress) open() (*verbs.Device, error) {
	return verbs.OpenDevice(w.Device, uint8(w.Number), w.gid)
}

// String is the port as armci_info and errors name it: its address, and the NUMA node of the device
// if that is known.
func (w *portAddress) String() string {
	text := fmt.Sprintf("%s, LID %d", w.Port.String(), w.LID)
	if w.gid != nil {
		text = fmt.Sprintf("%s, GID %d (%s, %s)", w.Port.String(), w.gid.Index, w.gid.Kind,
			w.gid.Text())
	}
	if w.Node >= 0 {
		text += fmt.Sprintf(", NUMA node %d", w.Node)
	}
	return text
}

// addressPreference orders addresses of an Ethernet port, the best with the lowest number: RoCE v2
// is routed, and IPv4 and global addresses reach further than link-local ones.
func addressPreference(g *verbs.GID) (r int) {
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

// usablePorts lists the ports that may be used, the best first, given the settings: a device or
// device:port, and the index of an address. reasons are why other ports may not be used, or why
// there is nothing.
func usablePorts(all []verbs.Port, device, number string) (usable []portAddress, reasons []string) {
	for _, p := range all {
		if device != "" && device != p.Device && device != fmt.Sprintf("%s:%d", p.Device,
			p.Number) {
			continue
		}
		if w, why := choosePortAddress(p, number); why != "" {
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

// choosePortAddress chooses the address of a port, or says why the port cannot be used.
func choosePortAddress(p verbs.Port, number string) (w portAddress, why string) {
	if p.State != "ACTIVE" {
		return w, "the port is " + p.State
	}
	if number != "" {
		i := slices.IndexFunc(p.GIDs,
			func(g verbs.GID) bool { return strconv.Itoa(g.Index) == number })
		if i < 0 {
			return w, "it has no GID " + number
		}
		return portAddress{p, &p.GIDs[i]}, ""
	}
	if p.Link == "InfiniBand" {
		if p.LID == 0 {
			return w, "the port has no LID: no subnet manager"
		}
		return portAddress{p, nil}, ""
	}
	if len(p.GIDs) == 0 {
		return w, "no usable GID: its network interface has no address"
	}
	best := slices.MinFunc(p.GIDs, func(a, b verbs.GID) int {
		return addressPreference(&a) - addressPreference(&b)
	})
	return portAddress{p, &best}, ""
}

// choosePort returns the port for the rank with that index among the ranks of its node. The port
// nearest to the addresses of other hosts decides the network. Of the ports on that network those
// nearest to the process's cores are taken by the ranks of a node in turn.
func choosePort(mine []portAddress, hints [][]byte, distances map[int]int, index int) *portAddress {
	first := nearestPort(mine, hints)
	var same []*portAddress
	for i := range mine {
		if w := &mine[i]; w == first || w.sameNetwork(first) {
			same = append(same, w)
		}
	}
	least := slices.MinFunc(same, func(a, b *portAddress) int {
		return cmp.Compare(a.distance(distances), b.distance(distances))
	}).distance(distances)
	same = slices.DeleteFunc(same, func(w *portAddress) bool {
		return w.distance(distances) != least
	})
	// Ranks may be bound to sockets one after the other: then every second one has the same
	// ports to choose from.
	n := len(same)
	index = max(index, 0)
	return same[(index+index/n)%n]
}

// sortByDistance puts the ports that are nearest to the process's cores first, and leaves the order
// of the others.
func sortByDistance(list []portAddress, distances map[int]int) {
	slices.SortStableFunc(list, func(a, b portAddress) int {
		return cmp.Compare(a.distance(distances), b.distance(distances))
	})
}

// nearDistance is the distance from a node to itself, in the kernel's numbers.
const nearDistance = 10

// distance of the process's cores from the port's device. One that is not known is near.
func (w *portAddress) distance(distances map[int]int) int {
	if d, ok := distances[w.Node]; ok {
		return d
	}
	return nearDistance
}

// sameNetwork reports whether both ports are on one network: of InfiniBand by the prefix of the
// subnet, of Ethernet by the network of the address, where that is known and not link-local.
func (w *portAddress) sameNetwork(o *portAddress) bool {
	if w.gid == nil || o.gid == nil {
		return w.gid == nil && o.gid == nil && len(w.GIDs) > 0 && len(o.GIDs) > 0 &&
			[8]byte(w.GIDs[0].Addr[:8]) == [8]byte(o.GIDs[0].Addr[:8])
	}
	return w.gid.Bits > 0 && w.gid.Bits == o.gid.Bits && !w.gid.LinkLocal() &&
		transport.CommonBits(w.gid.Addr, o.gid.Addr) >= w.gid.Bits
}

// whyNot says when the other port is used instead of w, which the first rank of a node uses.
func (w *portAddress) whyNot(o *portAddress, distances map[int]int) string {
	switch {
	case !o.sameNetwork(w):
		return "on another network"
	case o.distance(distances) > w.distance(distances):
		return "farther from this process's cores"
	}
	return "as near: ranks of a node take them in turn"
}

// nearestPort returns the port that has most leading address bits in common with the addresses in
// all hints of the other ranks; the first of equals.
func nearestPort(mine []portAddress, hints [][]byte) *portAddress {
	best, most := 0, -1
	for i := range mine {
		common := 128
		for _, h := range hints {
			if mine[i].gid != nil && len(h) == 16 {
				common = min(common, transport.CommonBits(mine[i].gid.Addr,
					[16]byte(h)))
			}
		}
		if common > most {
			best, most = i, common
		}
	}
	return &mine[best]
}
