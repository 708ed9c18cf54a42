// SPDX-License-Identifier: BSD-3-Clause

// The driver: whether libfabric has a provider to use on this machine, which one and on which
// domain, and if not, why.
//
// A provider of a network is chosen without a setting where the kernel has a device of that
// network. Others are chosen by a setting only: they run over TCP, UDP or within a machine, where
// package tcp is better. The library is not loaded before a provider is needed.
package ofi

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"libarmci/internal/ofi/libfabric"
	"libarmci/internal/rdma"
	"libarmci/internal/transport"
)

// Options are named in docs/configuration.md.
type Options struct {
	Provider string // as fi_info -p takes it; "": by the devices of the kernel
	Domain   string // of the provider: an interface, a device; "": the best
	Named    bool   // the user has set this transport: then any provider is used
	// not Named: libfabric is not used where this returns nil, as a verbs device can be used;
	// may be nil
	Better func() error
	Sysfs  string // directory of the kernel's classes of devices; "": /sys/class. For tests.
	// memory of the application that stays registered; 0: by what the system has
	Pin int64
}

// networks are the providers of networks, and the files that the kernel has for their devices: the
// best first.
var networks = []struct{ provider, files string }{
	{"cxi", "cxi/cxi*"},
	{"efa", "infiniband/efa_*"},
	{"opx", "infiniband/hfi1_*"},
	{"psm2", "infiniband/hfi1_*"},
	{"psm3", "infiniband/*"},
	{"verbs;ofi_rxm", "infiniband/*"},
}

// otherProviders are used if the user sets this transport without a provider.
var otherProviders = []string{"tcp;ofi_rxm", "udp;ofi_rxd"}

// Driver is libfabric with the settings in o.
func Driver(o Options) transport.Driver {
	probed := sync.OnceValues(func() (*foundDomains, error) { return probe(&o) })
	return transport.Driver{
		Name:  "ofi",
		Probe: func() error { _, err := probed(); return err },
		Hint: func() []byte { // the address that this process is likely to have
			if f, err := probed(); err == nil && f.domains[0].Addr.IsValid() {
				a := f.domains[0].Addr.As16()
				return a[:]
			}
			return nil
		},
		Notes: func() string {
			f, err := probed()
			if err != nil {
				return err.Error()
			}
			return f.notes()
		},
		Spare: listProviders,
		Open: func(cfg transport.FabricConfig) (transport.Fabric, error) {
			f, err := probed()
			if err != nil {
				return nil, err
			}
			return open(f.domainNear(cfg.Hints), o.Pin, cfg)
		},
	}
}

// open opens the fabric over a domain.
func open(i *libfabric.Info, keep int64, cfg transport.FabricConfig) (transport.Fabric, error) {
	d, err := openDevice(i, cfg.Secret)
	if err != nil {
		return nil, err
	}
	return rdma.Open(d, keep, cfg)
}

// foundDomains is the domains that can be used, of one provider, and why others cannot.
type foundDomains struct {
	domains  []*libfabric.Info
	unusable []string
}

// probe finds a provider, and makes one object of every kind, since each may be refused.
func probe(o *Options) (*foundDomains, error) {
	names := candidates(o)
	if len(names) > 0 && !o.Named && o.Better != nil && o.Better() == nil {
		return nil, errors.New("not needed beside a verbs device (ARMCI_TRANSPORT=ofi " +
			"takes it)")
	}
	if len(names) == 0 {
		return nil, errors.New("the kernel tells of no network of a libfabric provider " +
			"(ARMCI_TRANSPORT=ofi takes any)")
	}
	if err := libfabric.Load(); err != nil {
		return nil, err
	}
	f := &foundDomains{}
	for _, name := range names {
		list, err := libfabric.List(name, o.Domain)
		if err == nil {
			list = distinct(list)
			err = tryDomain(list[0])
		}
		if err == nil {
			f.domains = list
			return f, nil
		}
		f.unusable = append(f.unusable, fmt.Sprintf("%s: %v", name, err))
	}
	return nil, errors.New(strings.Join(f.unusable, "; "))
}

// candidates returns the providers to be tried.
func candidates(o *Options) (names []string) {
	if o.Provider != "" {
		if o.Named {
			return []string{o.Provider}
		}
		return nil // the setting counts only with that of this transport
	}
	dir := cmp.Or(o.Sysfs, "/sys/class")
	for _, n := range networks {
		if files, err := filepath.Glob(filepath.Join(dir, n.files)); err == nil &&
			len(files) > 0 {
			names = append(names, n.provider)
		}
	}
	if o.Named {
		names = append(names, otherProviders...)
	}
	return names
}

// distinct returns one entry of each domain and address, those with addresses of a wider scope
// first.
func distinct(list []*libfabric.Info) (some []*libfabric.Info) {
	for _, i := range list {
		if !slices.ContainsFunc(some,
			func(s *libfabric.Info) bool {
				return s.Domain == i.Domain &&
					s.Addr == i.Addr
			}) {
			some = append(some, i)
		}
	}
	slices.SortStableFunc(some, func(a, b *libfabric.Info) int {
		return cmp.Compare(addressRank(a.Addr), addressRank(b.Addr))
	})
	return some
}

// addressRank orders addresses: global ones of IPv4, those that are not of IP, global ones of IPv6,
// those of one link, those of this host.
func addressRank(a netip.Addr) int {
	switch {
	case !a.IsValid():
		return 1
	case a.IsLoopback():
		return 4
	case a.IsLinkLocalUnicast():
		return 3
	case a.Is4():
		return 0
	}
	return 2
}

// tryDomain opens a domain and makes one object of every kind.
func tryDomain(i *libfabric.Info) error {
	d, err := openDevice(i, nil)
	if err != nil {
		return err
	}
	defer d.Close()
	return rdma.Try(d)
}

// listProviders describes the providers that are installed, which only a setting chooses.
func listProviders() string {
	if err := libfabric.Load(); err != nil {
		return err.Error()
	}
	names, err := libfabric.Providers()
	if err != nil {
		return fmt.Sprintf("libfabric %s: %v", libfabric.Version(), err)
	}
	return fmt.Sprintf("libfabric %s has these providers, by ARMCI_TRANSPORT=ofi and "+
		"ARMCI_OFI_PROVIDER: %s", libfabric.Version(),
		strings.Join(names, ", "))
}

// domainNear returns the domain of which the address has most leading bits in common with the
// addresses in all hints of the other ranks; the first of equals.
func (f *foundDomains) domainNear(hints [][]byte) *libfabric.Info {
	best, most := f.domains[0], -1
	for _, i := range f.domains {
		common := 0
		if i.Addr.IsValid() {
			common = 128
			for _, h := range hints {
				if len(h) == 16 {
					common = min(common, transport.CommonBits(i.Addr.As16(),
						[16]byte(h)))
				}
			}
		}
		if common > most {
			best, most = i, common
		}
	}
	return best
}

// notes describes the domain that would be used, and lists the others.
func (f *foundDomains) notes() string {
	i := f.domains[0]
	text := fmt.Sprintf("libfabric %s, provider %s, domain %s", libfabric.Version(), i.Provider,
		i.Domain)
	if i.Addr.IsValid() {
		text += " (" + i.Addr.String() + ")"
	}
	text += "; " + i.Modes.String()
	if !i.Delivered {
		text += "; completions mean that data has left"
	}
	for _, o := range f.domains[1:] {
		text += "; also usable: " + o.Domain
		if o.Addr.IsValid() {
			text += " (" + o.Addr.String() + ")"
		}
	}
	for _, why := range f.unusable {
		text += "; not usable: " + why
	}
	return text
}
