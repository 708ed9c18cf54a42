// SPDX-License-Identifier: BSD-3-Clause

// What package drivers asks for: this fabric as one of those between nodes, and why it is of no use where it is not.
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

// What these ways are called in settings.
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
		Hint: func() []byte { // under which address I am likely to be reached
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
			return open(o, cfg, d.closest(cfg.Hints))
		},
	}
}

// device is what probing has found: ways to the network, of which the first could be opened.
type device struct {
	ways   []way
	limits verbs.Limits
	state  verbs.PortState
	unused []string // ports that cannot be used, and why
}

// probe finds a device and makes of every kind of object one, since each may be refused.
func probe(o *Options) (*device, error) {
	list, unused, err := ways(verbs.ListPorts(verbs.ClassDir), o.Device, o.GID)
	if err != nil {
		return nil, err
	}
	if err := verbs.Load(); err != nil {
		return nil, err
	}
	d := &device{unused: unused}
	for _, w := range list {
		limits, state, err := try(&w)
		if err != nil {
			d.unused = append(d.unused, fmt.Sprintf("%s: %v", w.Port.String(), err))
			continue
		}
		if d.ways == nil {
			d.limits, d.state = limits, state
		}
		d.ways = append(d.ways, w)
	}
	if d.ways == nil {
		return nil, errors.New(strings.Join(d.unused, "; "))
	}
	return d, nil
}

func try(w *way) (limits verbs.Limits, state verbs.PortState, err error) {
	d, err := w.open()
	if err != nil {
		return limits, state, err
	}
	defer d.Close()
	cq, err := d.Completions(64)
	if err != nil {
		return limits, state, err
	}
	defer cq.Close()
	p, err := pin.NewPool(&registrar{domain: d.Domain}, 1, pageBytes)
	if err != nil {
		return limits, state, fmt.Errorf("%w; is RLIMIT_MEMLOCK (ulimit -l) too small?", err)
	}
	p.Close()
	srq, err := d.Domain.NewShared(1)
	if err != nil {
		return limits, state, err
	}
	defer srq.Close()
	pair, err := d.Domain.NewPair(verbs.Caps{Send: 1, Pieces: 1, From: cq, To: cq, Shared: srq})
	if err != nil {
		return limits, state, err
	}
	return d.Limits, d.State, pair.Close()
}

// closest is my way that is nearest to all others'.
func (d *device) closest(hints [][]byte) *way {
	var others [][16]byte
	for _, h := range hints {
		if len(h) == 16 {
			others = append(others, [16]byte(h))
		}
	}
	return nearest(d.ways, others)
}

// notes tells what would be used, what it can do, and what else there is.
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
