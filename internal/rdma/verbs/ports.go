// SPDX-License-Identifier: BSD-3-Clause

// What devices, ports and addresses there are, read from sysfs. Nothing is opened here.
package verbs

import (
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ClassDir is the directory in which the kernel lists devices.
const ClassDir = "/sys/class/infiniband"

// GID is an entry of a port's table of addresses.
type GID struct {
	Index int
	Addr  [16]byte
	Kind  string // "RoCE v2", "IB/RoCE v1"
	Bits  int    // leading bits that its network has in common; 0: not known
}

// Port is a port of a device.
type Port struct {
	Device string
	Number int
	State  string // "ACTIVE"
	Link   string // "InfiniBand", "Ethernet"
	LID    uint16
	GIDs   []GID
	Node   int // NUMA node of the device; -1: not known
}

func (p *Port) String() string { return fmt.Sprintf("%s port %d", p.Device, p.Number) }

// ListPorts lists the ports of all devices in a directory like ClassDir.
func ListPorts(dir string) []Port {
	var all []Port
	found, _ := filepath.Glob(filepath.Join(dir, "*", "ports", "*"))
	slices.Sort(found)
	for _, at := range found {
		number, err := strconv.Atoi(filepath.Base(at))
		if err != nil {
			continue
		}
		device := filepath.Dir(filepath.Dir(at))
		p := Port{Device: filepath.Base(device), Number: number, Node: -1}
		if node, err := strconv.Atoi(readLine(device, "device/numa_node")); err == nil {
			p.Node = node
		}
		_, p.State, _ = strings.Cut(readLine(at, "state"), ": ")
		p.Link = readLine(at, "link_layer")
		lid, _ := strconv.ParseUint(readLine(at, "lid"), 0, 16)
		p.LID = uint16(lid)
		p.GIDs = listGIDs(at)
		all = append(all, p)
	}
	return all
}

// readLine returns the contents of a file of one line; "" if it cannot be read.
func readLine(dir, name string) string {
	text, _ := os.ReadFile(filepath.Join(dir, name))
	return strings.TrimSpace(string(text))
}

// emptyGIDs in a row end a table: the kernel puts an address into the first free entry, so holes
// are where some have been taken away. Tables have up to 1024 entries, and each is a file.
const emptyGIDs = 32

// listGIDs reads the table of addresses of a port.
func listGIDs(at string) []GID {
	var all []GID
	for index, empty := 0, 0; empty < emptyGIDs; index++ {
		name := strconv.Itoa(index)
		b, err := hex.DecodeString(strings.ReplaceAll(readLine(at, "gids/"+name), ":", ""))
		if err != nil || len(b) != 16 || [16]byte(b) == [16]byte{} {
			empty++
			continue
		}
		empty = 0
		g := GID{Index: index, Addr: [16]byte(b),
			Kind: readLine(at, "gid_attrs/types/"+name)}
		g.Bits = networkBits(readLine(at, "gid_attrs/ndevs/"+name), &g)
		all = append(all, g)
	}
	return all
}

// networkBits is the length of the prefix that a network interface has for an address, as one of 16
// bytes; 0 if it has none.
func networkBits(name string, g *GID) int {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return 0
	}
	addresses, _ := i.Addrs()
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.Equal(net.IP(g.Addr[:])) {
			ones, bits := n.Mask.Size()
			return ones + 128 - bits
		}
	}
	return 0
}

// Text formats an address: an IPv4 address with dots, another one in hexadecimal.
func (g *GID) Text() string {
	if g.IPv4() {
		return fmt.Sprintf("%d.%d.%d.%d", g.Addr[12], g.Addr[13], g.Addr[14], g.Addr[15])
	}
	return hex.EncodeToString(g.Addr[:8]) + ":" + hex.EncodeToString(g.Addr[8:])
}

// IPv4 reports whether the address was made of an IPv4 address.
func (g *GID) IPv4() bool {
	return [12]byte(g.Addr[:12]) == [12]byte{10: 0xff, 11: 0xff}
}

// LinkLocal reports whether the address is valid in one network only.
func (g *GID) LinkLocal() bool { return g.Addr[0] == 0xfe && g.Addr[1]&0xc0 == 0x80 }
