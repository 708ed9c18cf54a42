// SPDX-License-Identifier: BSD-3-Clause

// The driver: whether RDMA can be used on this machine, by which device, port and address of it,
// and if not, why.
package rdma

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"libarmci/internal/pin"
	"libarmci/internal/rdma/qp"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/sys"
	"libarmci/internal/transport"
)

// Options are named in docs/configuration.md.
type Options struct {
	Device string // name, or name:port; "" = the first that is usable
	GID    string // index of the port's address to use; "" = the best
	Sysfs  string // directory that tells of devices; "" = the kernel's
	NUMA   string // directory that tells of NUMA nodes; "" = the kernel's
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
			w := choosePort(d.usable, cfg.Hints, d.distances, cfg.LocalIndex(cfg.Me))
			base, err := w.open()
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
	// distances of this process from NUMA nodes (sys.NUMADistances)
	distances map[int]int
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
	d := &probedDevice{unused: unused, distances: sys.NUMADistances(o.NUMA)}
	sortByDistance(list, d.distances)
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

// describePorts describes the port that the first rank of a node would use, and lists the others,
// for armci_info.
func (d *probedDevice) describePorts() string {
	l := &d.limits
	text := fmt.Sprintf("%s; firmware %s, mtu %d, up to %d requests of %d pieces in a queue "+
		"pair, %d reads outstanding, atomics %s",
		&d.usable[0], l.Firmware, 128<<d.state.MTU, l.MaxWR, l.MaxSGE, l.ReadsOut,
		[...]string{"none", "of the device", "global"}[min(max(l.Atomic, 0), 2)])
	for i := range d.usable[1:] {
		w := &d.usable[i+1]
		text += "; also usable: " + w.String() + ", " + d.usable[0].whyNot(w, d.distances)
	}
	for _, why := range d.unused {
		text += "; not usable: " + why
	}
	return text
}
