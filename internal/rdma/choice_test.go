// SPDX-License-Identifier: BSD-3-Clause

// Which of several ports a rank of a node takes.
package rdma

import (
	"strings"
	"testing"

	"libarmci/internal/rdma/verbs"
)

// infinibandHost is a host with devices of InfiniBand: "name NUMA-node subnet-prefix".
func infinibandHost(t *testing.T, devices ...string) []portAddress {
	t.Helper()
	var files []string
	for _, d := range devices {
		f := strings.Fields(d)
		files = append(files, f[0]+"/ports/1/state: 4: ACTIVE",
			f[0]+"/ports/1/link_layer: InfiniBand", f[0]+"/ports/1/lid: 0x11",
			f[0]+"/ports/1/gids/0: fe80:0000:0000:"+f[2]+":0000:0000:0000:0001",
			f[0]+"/device/numa_node: "+f[1])
	}
	usable, reasons := usablePorts(verbs.ListPorts(someHost(t, files...)), "", "")
	if len(usable) != len(devices) {
		t.Fatalf("%d usable: %v", len(usable), reasons)
	}
	return usable
}

// TestChoosePort: ranks take the devices that are nearest to their cores, several of these in turn,
// and none on another network than the first.
func TestChoosePort(t *testing.T) {
	two := []string{"a0 0 0000", "b0 0 0000", "c0 1 0000", "d0 1 0000"}
	for _, c := range []struct {
		name      string
		devices   []string
		distances map[int]int
		want      string // devices of the ranks 0, 1, 2 ... of a node
	}{
		{"one", []string{"a0 0 0000"}, map[int]int{0: 21}, "a0 a0 a0"},
		{"near, in turn", two, map[int]int{0: 10, 1: 21}, "a0 b0 b0 a0 a0 b0"},
		{"on the other socket", two, map[int]int{0: 21, 1: 10}, "c0 d0 d0 c0"},
		{"not bound", two, map[int]int{0: 10, 1: 10}, "a0 b0 c0 d0 b0 c0 d0 a0"},
		{"the kernel tells nothing", two, nil, "a0 b0 c0 d0"},
		{"a device of no node", []string{"a0 -1 0000", "b0 0 0000"}, map[int]int{0: 10},
			"a0 b0 b0 a0"},
		{"two subnets", []string{"a0 0 0000", "b0 0 0001"}, map[int]int{0: 10}, "a0 a0 a0"},
		{"far, but on the network", []string{"a0 1 0000", "b0 0 0001"},
			map[int]int{0: 10, 1: 21}, "a0 a0"},
	} {
		mine := infinibandHost(t, c.devices...)
		var got []string
		for i := range strings.Fields(c.want) {
			got = append(got, choosePort(mine, nil, c.distances, i).Device)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, expected %s", c.name, s, c.want)
		}
	}
}

// TestSameNetwork: ports of Ethernet are on one network if their interfaces have the same prefix,
// which is read from the system, and if the addresses are not link-local.
func TestSameNetwork(t *testing.T) {
	host := someHost(t, "a0/ports/1/state: 4: ACTIVE", "a0/ports/1/link_layer: Ethernet",
		"a0/ports/1/gids/0: 0000:0000:0000:0000:0000:ffff:7f00:0001",
		"a0/ports/1/gid_attrs/types/0: RoCE v2", "a0/ports/1/gid_attrs/ndevs/0: lo")
	usable, _ := usablePorts(verbs.ListPorts(host), "", "")
	if len(usable) != 1 || usable[0].gid.Bits != 96+8 {
		t.Fatalf("%+v: the loopback interface has 8 bits", usable)
	}
	for _, c := range []struct {
		gid  verbs.GID
		want bool
	}{
		{verbs.GID{Addr: ipv4(127, 200, 0, 1), Bits: 104}, true},
		{verbs.GID{Addr: ipv4(10, 0, 0, 1), Bits: 104}, false},
		{verbs.GID{Addr: ipv4(127, 0, 0, 2)}, false},
	} {
		w := portAddress{gid: &c.gid}
		if got := w.sameNetwork(&usable[0]); got != c.want {
			t.Errorf("%s: %v", c.gid.Text(), got)
		}
	}
}

// TestWhyNot: what armci_info says of the other ports.
func TestWhyNot(t *testing.T) {
	mine := infinibandHost(t, "a0 0 0000", "b0 0 0000", "c0 1 0000", "d0 0 0001")
	want := []string{"", "as near: ranks of a node take them in turn",
		"farther from this process's cores", "on another network"}
	for i := 1; i < len(mine); i++ {
		if why := mine[0].whyNot(&mine[i], map[int]int{0: 10, 1: 21}); why != want[i] {
			t.Errorf("%s: %q", &mine[i], why)
		}
	}
	if s := mine[2].String(); s != "c0 port 1, LID 17, NUMA node 1" {
		t.Error(s)
	}
}
