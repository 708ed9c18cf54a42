// SPDX-License-Identifier: BSD-3-Clause

// Which device, port and address of it to use. What there is is read from sysfs; nothing is opened here.
package rdma

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const classDir = "/sys/class/infiniband"

// gid is an entry of a port's table of addresses.
type gid struct {
	index int
	addr  [16]byte
	kind  string // "RoCE v2", "IB/RoCE v1"
}

// port is a port of a device.
type port struct {
	device string
	number int
	state  string // "ACTIVE"
	link   string // "InfiniBand", "Ethernet"
	lid    uint16
	gids   []gid
}

func (p *port) String() string { return fmt.Sprintf("%s port %d", p.device, p.number) }

// listPorts reads what the kernel knows below dir.
func listPorts(dir string) []port {
	var all []port
	found, _ := filepath.Glob(filepath.Join(dir, "*", "ports", "*"))
	slices.Sort(found)
	for _, at := range found {
		number, err := strconv.Atoi(filepath.Base(at))
		if err != nil {
			continue
		}
		p := port{device: filepath.Base(filepath.Dir(filepath.Dir(at))), number: number}
		_, p.state, _ = strings.Cut(line(at, "state"), ": ")
		p.link = line(at, "link_layer")
		lid, _ := strconv.ParseUint(line(at, "lid"), 0, 16)
		p.lid = uint16(lid)
		p.gids = listGIDs(at)
		all = append(all, p)
	}
	return all
}

func line(dir, name string) string {
	text, _ := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(text))
}

// emptyGIDs in a row end a table: the kernel puts an address into the first free entry, so holes are where some have been
// taken away. Tables have up to 1024 entries, and each is a file.
const emptyGIDs = 32

func listGIDs(at string) []gid {
	var all []gid
	for index, empty := 0, 0; empty < emptyGIDs; index++ {
		name := strconv.Itoa(index)
		b, err := hex.DecodeString(strings.ReplaceAll(line(at, "gids/"+name), ":", ""))
		if err != nil || len(b) != 16 || [16]byte(b) == [16]byte{} {
			empty++
			continue
		}
		empty = 0
		all = append(all, gid{index: index, addr: [16]byte(b), kind: line(at, "gid_attrs/types/"+name)})
	}
	return all
}

// way is a port with the address under which others reach it; gid is nil on InfiniBand, where the LID is enough.
type way struct {
	port
	gid *gid
}

func (w *way) String() string {
	if w.gid == nil {
		return fmt.Sprintf("%s, LID %d", w.port.String(), w.lid)
	}
	return fmt.Sprintf("%s, GID %d (%s, %s)", w.port.String(), w.gid.index, w.gid.kind, w.gid.text())
}

// text writes an address as people do.
func (g *gid) text() string {
	if g.ipv4() {
		return fmt.Sprintf("%d.%d.%d.%d", g.addr[12], g.addr[13], g.addr[14], g.addr[15])
	}
	return hex.EncodeToString(g.addr[:8]) + ":" + hex.EncodeToString(g.addr[8:])
}

func (g *gid) ipv4() bool {
	return [12]byte(g.addr[:12]) == [12]byte{10: 0xff, 11: 0xff}
}

func (g *gid) linkLocal() bool { return g.addr[0] == 0xfe && g.addr[1]&0xc0 == 0x80 }

// rank orders addresses of an Ethernet port: less is better, since it is routed and survives more networks.
func (g *gid) rank() int {
	r := 0
	if g.kind != "RoCE v2" {
		r += 4
	}
	switch {
	case g.ipv4():
	case !g.linkLocal():
		r++
	default:
		r += 2
	}
	return r
}

// ways lists what may be used, the best first, given the settings: a device or device:port, and the number of an
// address; and why other ports may not. The error says why there is nothing.
func ways(all []port, device, number string) (usable []way, reasons []string, err error) {
	if len(all) == 0 {
		return nil, nil, fmt.Errorf("no RDMA device on this host")
	}
	for _, p := range all {
		if device != "" && device != p.device && device != fmt.Sprintf("%s:%d", p.device, p.number) {
			continue
		}
		w, why := wayBy(p, number)
		if why != "" {
			reasons = append(reasons, p.String()+": "+why)
			continue
		}
		usable = append(usable, w)
	}
	switch {
	case len(usable) > 0:
		return usable, reasons, nil
	case reasons == nil:
		return nil, nil, fmt.Errorf("ARMCI_RDMA_DEVICE: there is no device %s", device)
	}
	return nil, reasons, errors.New(strings.Join(reasons, "; "))
}

// wayBy chooses a port's address.
func wayBy(p port, number string) (w way, why string) {
	if p.state != "ACTIVE" {
		return w, "the port is " + p.state
	}
	if number != "" {
		i := slices.IndexFunc(p.gids, func(g gid) bool { return strconv.Itoa(g.index) == number })
		if i < 0 {
			return w, "it has no GID " + number
		}
		return way{p, &p.gids[i]}, ""
	}
	if p.link == "InfiniBand" {
		if p.lid == 0 {
			return w, "the port has no LID: no subnet manager"
		}
		return way{p, nil}, ""
	}
	if len(p.gids) == 0 {
		return w, "no usable GID: its network interface has no address"
	}
	best := slices.MinFunc(p.gids, func(a, b gid) int { return a.rank() - b.rank() })
	return way{p, &best}, ""
}

// nearest is the way whose address has most leading bits in common with those of all others; the first of equals.
func nearest(mine []way, others [][16]byte) *way {
	best, most := 0, -1
	for i := range mine {
		common := 128
		for _, o := range others {
			if mine[i].gid != nil {
				common = min(common, commonBits(mine[i].gid.addr, o))
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
