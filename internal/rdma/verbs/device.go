// SPDX-License-Identifier: BSD-3-Clause

// An open device with what all queues and connections of a process share: qp.Device by libibverbs.
package verbs

import (
	"fmt"

	"libarmci/internal/rdma/qp"
)

// Device is a port of an open device.
type Device struct {
	State  PortState
	name   string
	number uint8 // of the port
	gid    *GID  // my address; nil: by LID alone
	ctx    *Context
	domain *Domain
	limits qp.Limits
}

// OpenDevice opens a port of a device. gid is the address that this process has there.
func OpenDevice(name string, port uint8, gid *GID) (*Device, error) {
	d := &Device{name: name, number: port, gid: gid}
	var err error
	if d.ctx, err = Open(name); err != nil {
		return nil, err
	}
	if d.limits, err = d.ctx.Limits(); err == nil {
		d.State, err = d.ctx.Port(port)
	}
	if err == nil {
		d.domain, err = d.ctx.NewDomain()
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	d.domain.Atomics = d.limits.Atomic != 0
	return d, nil
}

// Name is the name of the device.
func (d *Device) Name() string { return d.name }

// Limits are those of the device.
func (d *Device) Limits() *qp.Limits { return &d.limits }

// Register registers memory with the device. The caller closes the region.
func (d *Device) Register(addr uintptr, nbytes int64, kind qp.Access) (qp.Region, error) {
	r, err := d.domain.Register(addr, nbytes, kind)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// LocalKey is the half of a key that is for this process.
func (d *Device) LocalKey(key uint64) uint32 { return uint32(key >> 32) }

// DeviceError returns an error that names the device and its host, so that a user knows which to
// check.
func (d *Device) DeviceError(text string) error {
	return fmt.Errorf("device %s of this host: %s", d.name, text)
}

// EventFD is readable when Event has something to tell.
func (d *Device) EventFD() int { return d.ctx.AsyncFD() }

// Event takes an asynchronous event, if there is one. Events of other ports of the device say
// nothing of this one.
func (d *Device) Event() (e qp.Event, some bool) {
	text, kind, port, some := d.ctx.Async()
	if port != d.number && (kind == qp.PortDown || kind == qp.PortUp) {
		kind = qp.OtherEvent
	}
	return qp.Event{Kind: kind, Text: text}, some
}

// completions makes a completion queue of n entries, if the device has so many.
func (d *Device) completions(n int) (*Completions, error) {
	if n > d.limits.MaxCQE {
		return nil, fmt.Errorf("a completion queue of %d entries is needed, %s has %d", n,
			d.name, d.limits.MaxCQE)
	}
	return d.ctx.NewCompletions(n)
}

// path returns the path to another port.
func (d *Device) path(lid uint16, gid [16]byte) *Path {
	index := -1
	if d.gid != nil {
		index = d.gid.Index
	}
	return &Path{Port: d.number, GID: index, ToLID: lid, ToGID: gid}
}

// address returns the GID of this port; zeros if it has only a LID.
func (d *Device) address() (gid [16]byte) {
	if d.gid != nil {
		gid = d.gid.Addr
	}
	return gid
}

// Close closes the device. What was made on it has been closed.
func (d *Device) Close() {
	if d.domain != nil {
		d.domain.Close()
	}
	d.ctx.Close()
}

var _ qp.Device = (*Device)(nil)
