// SPDX-License-Identifier: BSD-3-Clause

// Devices and what is made once on them: contexts, protection domains, memory regions, completion
// channels. Data moves in queue.go.
package verbs

// #cgo CFLAGS: -fvisibility=hidden -Wall -Wextra -std=c11
// #cgo LDFLAGS: -ldl
// #include <errno.h>
// #include "verbs.h"
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"unsafe"

	"libarmci/internal/rdma/qp"
)

var loading sync.Mutex

// Load loads libibverbs, once. An error says what is missing.
func Load() error {
	loading.Lock()
	defer loading.Unlock()
	if why := C.vb_load(); why != nil {
		return errors.New(C.GoString(why))
	}
	return nil
}

// Context is an open device.
type Context struct {
	p *C.struct_vb_context
}

// Open opens the device with a name. The caller has called Load with success.
func Open(name string) (*Context, error) {
	var n C.int
	list, err := C.vb_devices(&n)
	if list == nil {
		return nil, fmt.Errorf("list the devices: %w", err)
	}
	defer C.vb_free_devices(list)
	for _, d := range unsafe.Slice(list, n) {
		if C.GoString(C.vb_device_name(d)) != name {
			continue
		}
		p, err := C.vb_open(d)
		if p == nil {
			return nil, fmt.Errorf("open %s: %w", name, orEIO(err))
		}
		return &Context{p}, nil
	}
	return nil, fmt.Errorf("libibverbs does not know %s: its user-space driver is not "+
		"installed, or its device file is not there", name)
}

// orEIO returns err, or EIO where a function has failed without setting errno.
func orEIO(err error) error {
	if err == nil {
		return syscall.EIO
	}
	return err
}

// errnoResult makes an error of a negative errno value; nil otherwise.
func errnoResult(what string, code C.int) error {
	if code >= 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", what, syscall.Errno(-code))
}

// Close closes the device; all that was made on it has been destroyed.
func (c *Context) Close() error { return errnoResult("close the device", C.vb_close(c.p)) }

// Limits queries the limits of the device.
func (c *Context) Limits() (qp.Limits, error) {
	var a C.struct_vb_device_attr
	if err := errnoResult("query the device", C.vb_query_device(c.p, &a)); err != nil {
		return qp.Limits{}, err
	}
	return qp.Limits{Firmware: C.GoString(&a.fw_ver[0]), MaxWR: int(a.max_qp_wr),
		MaxSGE: int(a.max_sge), MaxCQE: int(a.max_cqe),
		MaxSRQ: int(a.max_srq_wr), ReadsOut: int(a.max_qp_init_rd_atom),
		ReadsIn: int(a.max_qp_rd_atom),
		Atomic:  int(a.atomic_cap), OnDemand: C.vb_on_demand(c.p) != 0}, nil
}

// PortState is the state of a port when it was queried.
type PortState struct {
	MTU uint8 // enumeration of the interface: 1 = 256 ... 5 = 4096
	LID uint16
}

// Port queries the state of a port.
func (c *Context) Port(number uint8) (PortState, error) {
	var a C.struct_vb_port_attr
	if err := errnoResult("query the port", C.vb_query_port(c.p, C.uint8_t(number),
		&a)); err != nil {
		return PortState{}, err
	}
	return PortState{uint8(a.active_mtu), uint16(a.lid)}, nil
}

// AsyncFD is readable when Async has an event.
func (c *Context) AsyncFD() int { return int(c.p.async_fd) }

// eventKinds are the events that mean something here.
var eventKinds = map[C.int]qp.EventKind{
	C.VB_EVENT_DEVICE_FATAL: qp.DeviceFatal,
	C.VB_EVENT_PORT_ACTIVE:  qp.PortUp,
	C.VB_EVENT_PORT_ERR:     qp.PortDown,
}

// Async takes an asynchronous event, if there is one. port is valid for events of a port.
func (c *Context) Async() (text string, kind qp.EventKind, port uint8, some bool) {
	var number, at C.int
	if C.vb_async_event(c.p, &number, &at) == 0 {
		return "", qp.OtherEvent, 0, false
	}
	return C.GoString(C.vb_event_text(number)), eventKinds[number], uint8(at), true
}

// Domain is a protection domain.
type Domain struct {
	p       *C.struct_vb_pd
	Atomics bool // memory registered with qp.Remote allows atomics
}

// NewDomain makes a protection domain.
func (c *Context) NewDomain() (*Domain, error) {
	p, err := C.vb_alloc_pd(c.p)
	if p == nil {
		return nil, fmt.Errorf("make a protection domain: %w", orEIO(err))
	}
	return &Domain{p: p}, nil
}

// Close frees the domain. Its regions and queue pairs have been destroyed.
func (d *Domain) Close() error {
	return errnoResult("end a protection domain", C.vb_dealloc_pd(d.p))
}

// Region is registered memory.
type Region struct {
	p          *C.struct_vb_mr
	LKey, RKey uint32
}

// Key packs both keys: the upper half is for this process, the lower half for others.
func (r *Region) Key() uint64 { return uint64(r.LKey)<<32 | uint64(r.RKey) }

// access has the flags of the kinds of registered memory.
var access = [...]C.int{
	qp.Local:    C.VB_LOCAL_WRITE,
	qp.OnDemand: C.VB_LOCAL_WRITE | C.VB_ON_DEMAND,
	qp.Locks:    C.VB_LOCAL_WRITE | C.VB_REMOTE_READ | C.VB_REMOTE_ATOMIC,
	qp.Remote:   C.VB_LOCAL_WRITE | C.VB_REMOTE_READ | C.VB_REMOTE_ATOMIC | C.VB_REMOTE_WRITE,
}

// Register registers memory, which is pinned unless the access is qp.OnDemand.
func (d *Domain) Register(addr uintptr, nbytes int64, kind qp.Access) (*Region, error) {
	flags := access[kind]
	if kind == qp.Remote && !d.Atomics {
		flags &^= C.VB_REMOTE_ATOMIC
	}
	p, err := C.vb_reg_mr(d.p, C.uintptr_t(addr), C.size_t(nbytes), flags)
	if p == nil {
		return nil, fmt.Errorf("register %d bytes: %w", nbytes, orEIO(err))
	}
	return &Region{p, uint32(p.lkey), uint32(p.rkey)}, nil
}

// Close ends the registration. r may be nil.
func (r *Region) Close() error {
	if r == nil {
		return nil
	}
	return errnoResult("end a registration", C.vb_dereg_mr(r.p))
}

// Channel is a completion channel: a descriptor that signals completions of queues that are armed.
type Channel struct{ p *C.struct_vb_channel }

// NewChannel makes a completion channel.
func (c *Context) NewChannel() (*Channel, error) {
	p, err := C.vb_create_channel(c.p)
	if p == nil {
		return nil, fmt.Errorf("make a completion channel: %w", orEIO(err))
	}
	return &Channel{p}, nil
}

// FD is readable when there are events.
func (ch *Channel) FD() int { return int(ch.p.fd) }

// DrainEvents takes and acknowledges all events. It does not block.
func (ch *Channel) DrainEvents() {
	for C.vb_take_event(ch.p) != 0 {
	}
}

// Close destroys the channel. Its queues have been destroyed.
func (ch *Channel) Close() error {
	return errnoResult("end a completion channel", C.vb_destroy_channel(ch.p))
}
