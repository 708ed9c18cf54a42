// SPDX-License-Identifier: BSD-3-Clause

// The choice of a provider and of a domain, from directories that look like the kernel's and from
// made-up lists.
package ofi

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"libarmci/internal/ofi/libfabric"
)

// Providers are chosen by the devices of the kernel and by the settings.
func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		files  string // below the directory of classes
		o      Options
		expect string
	}{
		{"", Options{}, ""},
		{"net/eth0", Options{}, ""},
		{"net/eth0", Options{Named: true}, "tcp;ofi_rxm udp;ofi_rxd"},
		{"cxi/cxi0", Options{}, "cxi"},
		{"infiniband/efa_0", Options{}, "efa psm3 verbs;ofi_rxm"},
		{"infiniband/hfi1_0", Options{}, "opx psm2 psm3 verbs;ofi_rxm"},
		{"infiniband/mlx5_0", Options{}, "psm3 verbs;ofi_rxm"},
		{"infiniband/mlx5_0 cxi/cxi1", Options{Named: true},
			"cxi psm3 verbs;ofi_rxm tcp;ofi_rxm udp;ofi_rxd"},
		{"cxi/cxi0", Options{Provider: "shm", Named: true}, "shm"},
		{"cxi/cxi0", Options{Provider: "shm"}, ""},
	} {
		c.o.Sysfs = t.TempDir()
		for _, f := range strings.Fields(c.files) {
			if err := os.MkdirAll(filepath.Join(c.o.Sysfs, f), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(candidates(&c.o), " "); got != c.expect {
			t.Errorf("%s, %+v: %q, expected %q", c.files, c.o, got, c.expect)
		}
	}
}

// Where there is no network of a provider, the library is not loaded, and Probe says why.
func TestNothingToUse(t *testing.T) {
	d := Driver(Options{Sysfs: t.TempDir()})
	if err := d.Probe(); err == nil || !strings.Contains(err.Error(), "ARMCI_TRANSPORT=ofi") {
		t.Errorf("%v", err)
	}
	if hint := d.Hint(); hint != nil {
		t.Errorf("a hint of %d bytes", len(hint))
	}
	if text := d.Spare(); libfabric.Load() == nil && !strings.Contains(text, "tcp;ofi_rxm") {
		t.Errorf("providers that a setting could choose: %s", text)
	}
}

// The library is not loaded where a verbs device can be used.
func TestNotNeeded(t *testing.T) {
	o := Options{Sysfs: t.TempDir(), Better: func() error { return nil }}
	if err := os.MkdirAll(filepath.Join(o.Sysfs, "infiniband", "mlx5_0"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Driver(o).Probe(); err == nil || !strings.Contains(err.Error(), "not needed") {
		t.Errorf("%v", err)
	}
}

// Domains are ordered by the scope of their addresses, and chosen by hints.
func TestDomains(t *testing.T) {
	at := func(domain, addr string) *libfabric.Info {
		a, _ := netip.ParseAddr(addr)
		return &libfabric.Info{Domain: domain, Addr: a}
	}
	list := distinct([]*libfabric.Info{at("lo", "127.0.0.1"), at("eth1", "10.2.0.1"),
		at("eth0", "10.1.0.1"), at("eth0", "10.1.0.1"),
		at("eth0", "fe80::1"), at("eth0", "2001:db8::1")})
	var got []string
	for _, i := range list {
		got = append(got, i.Domain+" "+i.Addr.String())
	}
	expect := []string{"eth1 10.2.0.1", "eth0 10.1.0.1", "eth0 2001:db8::1", "eth0 fe80::1",
		"lo 127.0.0.1"}
	if !slices.Equal(got, expect) {
		t.Errorf("%q, expected %q", got, expect)
	}
	f := &foundDomains{domains: list}
	hint := func(addr string) []byte {
		a := netip.MustParseAddr(addr).As16()
		return a[:]
	}
	for addr, domain := range map[string]string{"10.1.0.7": "eth0", "10.2.0.7": "eth1"} {
		if i := f.domainNear([][]byte{nil, {1}, hint(addr)}); i.Domain != domain {
			t.Errorf("%s is nearest to %s", addr, i.Domain)
		}
	}
	ib := &foundDomains{domains: []*libfabric.Info{{Domain: "by another kind of address"},
		list[1]}}
	if i := ib.domainNear([][]byte{hint("10.1.0.7")}); i != list[1] {
		t.Errorf("%s is nearest to 10.1.0.7", i.Domain)
	}
	if i := f.domainNear(nil); i != list[0] {
		t.Errorf("without a hint %s", i.Domain)
	}
}
