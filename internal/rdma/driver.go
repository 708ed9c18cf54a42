// SPDX-License-Identifier: BSD-3-Clause

// What package drivers asks for: this transport as one of those between nodes, and why it is of no use where it is not.
package rdma

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"libarmci/internal/rdma/verbs"
	"libarmci/internal/transport"
)

// Wire is RDMA with the settings in o; what concerns the job is filled in when it is opened.
func Wire(o Options) transport.Wire {
	probed := sync.OnceValues(func() (*device, error) { return probe(&o) })
	return transport.Wire{
		Name:  "rdma",
		Probe: func() error { _, err := probed(); return err },
		Hint: func() []byte {
			d, _ := probed()
			return d.hint()
		},
		Notes: func() string {
			d, err := probed()
			if err != nil {
				return err.Error()
			}
			return d.notes() + "; " + pinNotes(&o, &d.limits) + "; " + o.modelNotes(&d.ways[0])
		},
		Open: func(info transport.WireInfo) (transport.Transport, error) {
			d, err := probed()
			if err != nil {
				return nil, err
			}
			o.WireInfo = info
			return Open(o, d.closest(info.Hints))
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
	list, unused, err := ways(listPorts(classDir), o.Device, o.GID)
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
			d.unused = append(d.unused, fmt.Sprintf("%s: %v", w.port.String(), err))
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
	h, err := openHCA(w, 64)
	if err != nil {
		return limits, state, err
	}
	defer h.close()
	p, err := newPool(h.domain, 1, pageBytes)
	if err != nil {
		return limits, state, fmt.Errorf("%w; is RLIMIT_MEMLOCK (ulimit -l) too small?", err)
	}
	p.close()
	srq, err := h.domain.NewShared(1)
	if err != nil {
		return limits, state, err
	}
	defer srq.Close()
	pair, err := h.domain.NewPair(verbs.Caps{Send: 1, Pieces: 1, From: h.cq, To: h.cq, Shared: srq})
	if err != nil {
		return limits, state, err
	}
	return h.limits, h.state, pair.Close()
}

// hint tells the others under which addresses I could be reached.
func (d *device) hint() []byte {
	var all [][16]byte
	for _, w := range d.ways {
		if w.gid != nil {
			all = append(all, w.gid.addr)
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		panic(err) // arrays of bytes
	}
	return b
}

// closest is my way that is nearest to all others'.
func (d *device) closest(hints [][]byte) *way {
	var others [][16]byte
	for _, h := range hints {
		var list [][16]byte
		if json.Unmarshal(h, &list) == nil && len(list) > 0 {
			others = append(others, list[0])
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
