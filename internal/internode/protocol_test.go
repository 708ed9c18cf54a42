// SPDX-License-Identifier: BSD-3-Clause

// The protocol of blocks that may be flags.
package internode

import (
	"testing"

	"libarmci/internal/transport"
)

// TestFlagsAreMovedWhole shows that blocks that may be flags are not left to a device that may move
// them in parts, whatever is set; longer ones are.
func TestFlagsAreMovedWhole(t *testing.T) {
	const memory = 1 << 20 // an address that nothing looks at
	for _, c := range []struct {
		name     string
		count    []int32 // of a patch whose rows are 64 bytes apart
		bytewise bool
		want     string
	}{
		{"2 bytes", []int32{2}, true, transport.ByPacking},
		{"8 bytes", []int32{8}, true, transport.ByPacking},
		{"16 bytes", []int32{16}, true, transport.ByDevice},
		{"rows of 4 bytes", []int32{4, 10}, true, transport.ByPacking},
		{"rows of 16 bytes", []int32{16, 10}, true, transport.ByDevice},
		{"2 bytes, a device that moves them whole", []int32{2}, false, transport.ByDevice},
		{"rows of 4 bytes, a device that moves them whole", []int32{4, 10}, false,
			transport.ByDevice},
	} {
		for _, k := range []kind{kindGet, kindPut} {
			at := &Transport{info: transport.FabricInfo{Bytewise: c.bytewise}}
			at.opt.Strided = transport.ByDevice
			x := &transport.Xfer{Count: c.count}
			x.Local = transport.Section{Base: memory, Stride: []int32{64}}
			x.Remote = x.Local
			f := new(transfer)
			f.reset(x, k, 1, transport.Scale{})
			f.rewind()
			if got := f.chooseProtocol((&target{t: at})); got != c.want {
				t.Errorf("%s, kind %v: %s, not %s", c.name, k, got, c.want)
			}
		}
	}
}
