// SPDX-License-Identifier: BSD-3-Clause

// The driver: whether libfabric has a provider to use on this machine, which one and on which
// domain, and if not, why.
//
// A provider of a network is chosen by itself where the kernel tells of such a network. Others are
// chosen by a setting only: they run over TCP, UDP or within a machine, where package tcp is
// better. Nothing is loaded before it is known that it is needed.
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
	Provider string // as fi_info -p takes it; "": by what the kernel tells of
	Domain   string // of the provider: an interface, a device; "": the best
	Named    bool   // this transport has been asked for: then any provider will do
	// else it is not needed where this is nil: a verbs device can be used; may be nil
	Better func() error
	Sysfs  string // directory of the kernel's classes of devices; "": /sys/class
	// memory of the application that stays registered; 0: by what the system has
	Pin int64
}

// networks are the providers of networks, and by which files the kernel tells of these: the best
// first.
var networks = []struct{ provider, files string }{
	{"cxi", "cxi/cxi*"},
	{"efa", "infiniband/efa_*"},
	{"opx", "infiniband/hfi1_*"},
	{"psm2", "infiniband/hfi1_*"},
	{"psm3", "infiniband/*"},
	{"verbs;ofi_rxm", "infiniband/*"},
}

// others are for who asks for libfabric and names none.
var others = []string{"tcp;ofi_rxm", "udp;ofi_rxd"}

// Driver is libfabric with the settings in o.
func Driver(o Options) transport.Driver {
	probed := sync.OnceValues(func() (*found, error) { return probe(&o) })
	return transport.Driver{
		Name:  "ofi",
		Probe: func() error { _, err := probed(); return err },
		Hint: func() []byte { // the address that this process is likely to have
			if f, err := probed(); err == nil && f.list[0].Addr.IsValid() {
				a := f.list[0].Addr.As16()
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
		Spare: spare,
		Open: func(cfg transport.FabricConfig) (transport.Fabric, error) {
			f, err := probed()
			if err != nil {
				return nil, err
			}
			return open(f.nearest(cfg.Hints), o.Pin, cfg)
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

// found is the domains that can be used, of one provider, and why others cannot.
type found struct {
	list   []*libfabric.Info
	unused []string
}

// probe finds a provider, and makes one object of every kind, since each may be refused.
func probe(o *Options) (*found, error) {
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
	f := &found{}
	for _, name := range names {
		list, err := libfabric.List(name, o.Domain)
		if err == nil {
			list = distinct(list)
			err = try(list[0])
		}
		if err == nil {
			f.list = list
			return f, nil
		}
		f.unused = append(f.unused, fmt.Sprintf("%s: %v", name, err))
	}
	return nil, errors.New(strings.Join(f.unused, "; "))
}

// candidates are the providers to be tried.
func candidates(o *Options) (names []string) {
	if o.Provider != "" {
		if o.Named {
			return []string{o.Provider}
		}
		return nil // a setting for who asks for this transport
	}
	dir := cmp.Or(o.Sysfs, "/sys/class")
	for _, n := range networks {
		if files, err := filepath.Glob(filepath.Join(dir, n.files)); err == nil &&
			len(files) > 0 {
			names = append(names, n.provider)
		}
	}
	if o.Named {
		names = append(names, others...)
	}
	return names
}

// distinct leaves one entry of each domain and address, addresses that reach further first.
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
	slices.SortStableFunc(some,
		func(a, b *libfabric.Info) int { return cmp.Compare(reach(a.Addr), reach(b.Addr)) })
	return some
}

// reach orders addresses: global ones of IPv4, those that are not of IP, global ones of IPv6, those
// of one link, those of this host.
func reach(a netip.Addr) int {
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

func try(i *libfabric.Info) error {
	d, err := openDevice(i, nil)
	if err != nil {
		return err
	}
	defer d.Close()
	return rdma.Try(d)
}

// spare lists the providers that are here, which only a setting chooses.
func spare() string {
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

// nearest returns the domain whose address has most leading bits in common with the addresses in
// all hints of the other ranks; the first of equals.
func (f *found) nearest(hints [][]byte) *libfabric.Info {
	best, most := f.list[0], -1
	for _, i := range f.list {
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

// notes describes what would be used, and lists what would not.
func (f *found) notes() string {
	i := f.list[0]
	text := fmt.Sprintf("libfabric %s, provider %s, domain %s", libfabric.Version(), i.Provider,
		i.Domain)
	if i.Addr.IsValid() {
		text += " (" + i.Addr.String() + ")"
	}
	text += "; " + i.Modes.String()
	if !i.Delivered {
		text += "; completions mean that data has left"
	}
	for _, o := range f.list[1:] {
		text += "; also usable: " + o.Domain
		if o.Addr.IsValid() {
			text += " (" + o.Addr.String() + ")"
		}
	}
	for _, why := range f.unused {
		text += "; not usable: " + why
	}
	return text
}
