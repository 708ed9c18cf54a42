// SPDX-License-Identifier: BSD-3-Clause

// The driver: whether RDMA can be used on this machine, by which device, port and address of it,
// and if not, why.
package rdma

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"libarmci/internal/pin"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// Options are named in docs/configuration.md.
type Options struct {
	Device string // name, or name:port; "" = the first that is usable
	GID    string // index of the port's address to use; "" = the best
	Sysfs  string // directory that tells of devices; "" = the kernel's
	Pin    int64  // memory of the application that stays registered; 0 = by what the system has
}

const (
	mostPort = 999
	mostGID  = 99999
)

// isNumber reports whether text is a decimal number from least to most, without a leading zero.
func isNumber(text string, least, most int) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= least && n <= most && text == strconv.Itoa(n)
}

// isDeviceName reports whether text can be the name of a device, or name:port.
func isDeviceName(text string) bool {
	name, port, numbered := strings.Cut(text, ":")
	return name != "" && !strings.ContainsAny(name, "/ \t,;") &&
		(!numbered || isNumber(port, 1, mostPort))
}

// Check refuses settings that mean nothing on any host.
func (o *Options) Check() error {
	switch {
	case o.Device != "" && !isDeviceName(o.Device):
		return fmt.Errorf("ARMCI_RDMA_DEVICE=%q: must be a device (mlx5_0) or one of its "+
			"ports (mlx5_0:1)", o.Device)
	case o.GID != "" && !isNumber(o.GID, 0, mostGID):
		return fmt.Errorf("ARMCI_RDMA_GID=%q: must be an index, a whole number", o.GID)
	}
	return nil
}

// Driver is RDMA with the settings in o.
func Driver(o Options) transport.Driver {
	probed := sync.OnceValues(func() (*probedDevice, error) { return probe(&o) })
	return transport.Driver{
		Name:  "rdma",
		Probe: func() error { _, err := probed(); return err },
		Hint: func() []byte { // the address that this process will probably have
			if d, err := probed(); err == nil && d.usable[0].gid != nil {
				return d.usable[0].gid.Addr[:]
			}
			return nil
		},
		Notes: func() string {
			d, err := probed()
			if err != nil {
				return err.Error()
			}
			pinning := pin.Notes(pin.Budget(o.Pin, 1), d.limits.OnDemand)
			return d.describePorts() + "; " + pinning
		},
		Open: func(cfg transport.FabricConfig) (transport.Fabric, error) {
			d, err := probed()
			if err != nil {
				return nil, err
			}
			base, err := nearestPort(d.usable, cfg.Hints).open()
			if err != nil {
				return nil, err
			}
			return Open(base, o.Pin, cfg)
		},
	}
}

// probedDevice is what probing has found: ports that can be used, all of which could be opened.
type probedDevice struct {
	usable []portAddress
	limits qp.Limits       // of the first
	state  verbs.PortState // of the first
	unused []string        // ports that cannot be used, and why
}

// probe lists the usable ports: it opens each, makes one object of every kind, since each may be
// refused, and closes all of them. Its error says of each port why it cannot be used.
func probe(o *Options) (*probedDevice, error) {
	all := verbs.ListPorts(cmp.Or(o.Sysfs, verbs.ClassDir))
	list, unused := usablePorts(all, o.Device, o.GID)
	if len(list) > 0 {
		if err := verbs.Load(); err != nil {
			return nil, err
		}
	}
	d := &probedDevice{unused: unused}
	for _, w := range list {
		if err := d.tryPort(&w); err != nil {
			d.unused = append(d.unused, fmt.Sprintf("%s: %v", w.Port.String(), err))
		} else {
			d.usable = append(d.usable, w)
		}
	}
	if d.usable == nil {
		return nil, errors.New(strings.Join(d.unused, "; "))
	}
	return d, nil
}

// tryPort opens a port, makes objects of every kind on it, and closes it. The first one that works
// decides limits and state.
func (d *probedDevice) tryPort(w *portAddress) error {
	base, err := w.open()
	if err != nil {
		return err
	}
	defer base.Close()
	if d.usable == nil {
		d.limits, d.state = *base.Limits(), base.State
	}
	return Try(base)
}

// Try makes one queue and one queue pair on a device, since each may be refused.
func Try(base qp.Device) error {
	f := &Fabric{device: base, bufferRegistrar: &registrar{base, false}, bufferSize: pageBytes}
	q, err := f.openQueue(1, 1, 0)
	if err != nil {
		return err
	}
	defer q.destroy()
	var e endpoint
	if err = e.openPair(f, q, 1, 1, 0, 0); err == nil {
		e.pair.Close()
	}
	return err
}

// describePorts describes the port that would be used, and lists the others, for armci_info.
func (d *probedDevice) describePorts() string {
	l := &d.limits
	text := fmt.Sprintf("%s; firmware %s, mtu %d, up to %d requests of %d pieces in a queue "+
		"pair, %d reads outstanding, atomics %s",
		d.usable[0].String(), l.Firmware, 128<<d.state.MTU, l.MaxWR, l.MaxSGE, l.ReadsOut,
		[...]string{"none", "of the device", "global"}[min(max(l.Atomic, 0), 2)])
	for _, w := range d.usable[1:] {
		text += "; also usable: " + w.String()
	}
	for _, why := range d.unused {
		text += "; not usable: " + why
	}
	return text
}

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

func (w *portAddress) String() string {
	if w.gid == nil {
		return fmt.Sprintf("%s, LID %d", w.Port.String(), w.LID)
	}
	return fmt.Sprintf("%s, GID %d (%s, %s)", w.Port.String(), w.gid.Index, w.gid.Kind,
		w.gid.Text())
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

// nearestPort returns the port whose address has most leading bits in common with the addresses in
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
