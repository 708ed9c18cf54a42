// SPDX-License-Identifier: BSD-3-Clause

// The conformance suite of fabrics over TCP, with different settings: every way in which bodies
// travel is once the only one.
package tcp

import (
	"testing"

	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// The fabric passes the suite with every setting.
func TestConformance(t *testing.T) {
	for i, c := range []struct {
		name   string
		opt    Options
		change func(*transport.FabricConfig)
	}{
		{"usual", Options{}, nil},
		{"always gathered", Options{Gather: 1},
			func(c *transport.FabricConfig) { c.Eager = 0 }},
		{"always packed", Options{Gather: 1 << 30},
			func(c *transport.FabricConfig) { c.Eager = 0 }},
		{"few buffers", Options{}, func(c *transport.FabricConfig) {
			c.Buffer, c.Looks = 0,
				func() int { return 0 }
		}},
	} {
		if !transporttest.Sampled(i) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			d := Driver(c.opt)
			open := d.Open
			d.Open = func(config transport.FabricConfig) (transport.Fabric, error) {
				if c.change != nil {
					c.change(&config)
				}
				return open(config)
			}
			transporttest.RunFabric(t, d)
		})
	}
}
