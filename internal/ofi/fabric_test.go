// SPDX-License-Identifier: BSD-3-Clause

// The two conformance suites over the provider that ARMCI_OFI_PROVIDER names.
package ofi

import (
	"os"
	"testing"
	"time"

	"libarmci/internal/internode"
	"libarmci/internal/testutil/transporttest"
	"libarmci/internal/transport"
)

// testOptions are the settings of tests, which are skipped where there are none.
func testOptions(t *testing.T) Options {
	provider := os.Getenv("ARMCI_OFI_PROVIDER")
	if provider == "" {
		t.Skip("ARMCI_OFI_PROVIDER names no provider to test with")
	}
	if provider == "shm" {
		t.Skip("provider shm reads memory of closed endpoints if they are of the same " +
			"process: it is tested by programs")
	}
	return Options{Provider: provider, Domain: os.Getenv("ARMCI_OFI_DOMAIN"), Named: true}
}

// The fabric passes the suite of fabrics.
func TestFabric(t *testing.T) { transporttest.RunFabric(t, Driver(testOptions(t))) }

// The transport passes the suite with every protocol.
func TestConformance(t *testing.T) {
	o := testOptions(t)
	for _, c := range []struct {
		name   string
		ranks  []int
		change func(*internode.Options)
	}{
		{"2x2", []int{2, 2}, nil},
		{"buffered, host", []int{1, 1}, func(o *internode.Options) {
			o.Contiguous, o.Strided = transport.ByCopy, transport.ByPacking
		}},
		{"zerocopy, nic", []int{1, 1}, func(o *internode.Options) {
			o.Contiguous, o.Strided, o.Eager = transport.ByZeroCopy, transport.ByDevice,
				0
		}},
		{"push, few buffers", []int{1, 1}, func(o *internode.Options) {
			o.Strided, o.Buffer = transport.ByTargetSide, 1<<20
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := Driver(o)
			if err := d.Probe(); err != nil {
				t.Skip(err)
			}
			transporttest.NewEnds(t, c.ranks,
				func(info transport.OpenInfo) (transport.Transport, error) {
					o := internode.Options{OpenInfo: info,
						Poll: 20 * time.Microsecond,
						Settings: transport.Settings{
							Timeout: 20 * time.Second, Eager: 8 << 10,
							Buffer: 4 << 20,
							Looks:  func() int { return 100 }}}
					if c.change != nil {
						c.change(&o)
					}
					return internode.Open(d, o)
				}).Conform(t)
		})
	}
}
