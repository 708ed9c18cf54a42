// SPDX-License-Identifier: BSD-3-Clause

// The driver: whether RDMA can be used on this machine, by which device, and if not, why.
package rdma

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"libarmci/internal/pin"
	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// Options are named in docs/configuration.md.
type Options struct {
	Device     string // name, or name:port; "" = the first that is usable
	GID        string // index of the port's address to use; "" = the best
	Pin        int64  // memory of the application that stays registered; 0 = by what the system has
	Contiguous string // how local memory is used: buffered, zerocopy; "" and "auto" = what is faster
	Strided    string // host-atomic: frames with a body go through the eager ring (lab); anything else has no meaning here
	DeviceAcc  bool   // accumulates may be made by the origin's device (lab)
}

// Values of these settings.
const (
	buffered   = "buffered"    // local memory goes through registered buffers
	zerocopy   = "zerocopy"    // local memory is used as it is, registered where it is not
	hostAtomic = "host-atomic" // frames are written into slots that the origin claims by atomics
)

// Driver is RDMA with the settings in o.
func Driver(o Options) transport.Driver {
	probed := sync.OnceValues(func() (*device, error) { return probe(&o) })
	return transport.Driver{
		Name:  "rdma",
		Probe: func() error { _, err := probed(); return err },
		Hint: func() []byte { // the address that this process is likely to have
			if d, err := probed(); err == nil && d.ways[0].gid != nil {
				return d.ways[0].gid.Addr[:]
			}
			return nil
		},
		Notes: func() string {
			d, err := probed()
			if err != nil {
				return err.Error()
			}
			return d.notes() + "; " + pin.Notes(pinBudget(&o, &transport.OpenInfo{}), d.limits.OnDemand)
		},
		Open: func(cfg transport.FabricConfig) (transport.Fabric, error) {
			d, err := probed()
			if err != nil {
				return nil, err
			}
			return open(o, cfg, nearest(d.ways, cfg.Hints))
		},
	}
}

// device is what probing has found: ports that can be used, all of which could be opened.
type device struct {
	ways   []way
	limits verbs.Limits    // of the first
	state  verbs.PortState // of the first
	unused []string        // ports that cannot be used, and why
}

// probe finds a device, and makes one object of every kind, since each may be refused.
func probe(o *Options) (*device, error) {
	list, unused := ways(verbs.ListPorts(verbs.ClassDir), o.Device, o.GID)
	if len(list) > 0 {
		if err := verbs.Load(); err != nil {
			return nil, err
		}
	}
	d := &device{unused: unused}
	for _, w := range list {
		if err := d.try(&w); err != nil {
			d.unused = append(d.unused, fmt.Sprintf("%s: %v", w.Port.String(), err))
		} else {
			d.ways = append(d.ways, w)
		}
	}
	if d.ways == nil {
		return nil, errors.New(strings.Join(d.unused, "; "))
	}
	return d, nil
}

func (d *device) try(w *way) error {
	base, err := w.open()
	if err != nil {
		return err
	}
	defer base.Close()
	f := &Fabric{base: base, pinned: &registrar{base.Domain, false}, size: pageBytes}
	q, err := f.openQueue(1, 1, 0)
	if err != nil {
		return err
	}
	defer q.free()
	if d.ways == nil {
		d.limits, d.state = base.Limits, base.State
	}
	var e end
	err = e.open(f, q, 1, 1, 0, 0)
	e.pair.Close()
	return err
}

// notes describes the port that would be used, and lists the others.
func (d *device) notes() string {
	l := &d.limits
	text := fmt.Sprintf("%s; firmware %s, mtu %d, up to %d requests of %d pieces in a queue pair, %d reads outstanding, atomics %s",
		d.ways[0].String(), l.Firmware, 128<<d.state.MTU, l.MaxWR, l.MaxSGE, l.ReadsOut,
		[...]string{"none", "of the device", "global"}[min(max(l.Atomic, 0), 2)])
	for _, w := range d.ways[1:] {
		text += "; also usable: " + w.String()
	}
	for _, why := range d.unused {
		text += "; not usable: " + why
	}
	return text
}
