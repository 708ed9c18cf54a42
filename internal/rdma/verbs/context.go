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

// Load finds libibverbs.
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

// Open opens the device of a name. Load has succeeded.
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
			return nil, fmt.Errorf("open %s: %w", name, orErrno(err))
		}
		return &Context{p}, nil
	}
	return nil, fmt.Errorf("libibverbs does not know %s: its user-space driver is not "+
		"installed, or its device file is not there", name)
}

func orErrno(err error) error {
	if err == nil {
		return syscall.EIO
	}
	return err
}

// result makes an error of a negative errno value.
func result(what string, code C.int) error {
	if code >= 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", what, syscall.Errno(-code))
}

// Close closes the device; all that was made on it has been destroyed.
func (c *Context) Close() error { return result("close the device", C.vb_close(c.p)) }

// Limits asks the device.
func (c *Context) Limits() (qp.Limits, error) {
	var a C.struct_vb_device_attr
	if err := result("query the device", C.vb_query_device(c.p, &a)); err != nil {
		return qp.Limits{}, err
	}
	return qp.Limits{Firmware: C.GoString(&a.fw_ver[0]), MaxWR: int(a.max_qp_wr),
		MaxSGE: int(a.max_sge), MaxCQE: int(a.max_cqe),
		MaxSRQ: int(a.max_srq_wr), ReadsOut: int(a.max_qp_init_rd_atom),
		ReadsIn: int(a.max_qp_rd_atom),
		Atomic:  int(a.atomic_cap), OnDemand: C.vb_on_demand(c.p) != 0}, nil
}

// PortState is what a port is like now.
type PortState struct {
	MTU uint8 // enumeration of the interface: 1 = 256 ... 5 = 4096
	LID uint16
}

// Port asks the device for one of its ports.
func (c *Context) Port(number uint8) (PortState, error) {
	var a C.struct_vb_port_attr
	if err := result("query the port", C.vb_query_port(c.p, C.uint8_t(number),
		&a)); err != nil {
		return PortState{}, err
	}
	return PortState{uint8(a.active_mtu), uint16(a.lid)}, nil
}

// AsyncFD is readable when Async has something to tell.
func (c *Context) AsyncFD() int { return int(c.p.async_fd) }

// Async takes an asynchronous event, if there is one. fatal: the device is of no more use.
func (c *Context) Async() (text string, fatal, some bool) {
	var kind C.int
	if C.vb_async_event(c.p, &kind) == 0 {
		return "", false, false
	}
	return C.GoString(C.vb_event_text(kind)), kind == C.VB_EVENT_DEVICE_FATAL, true
}

// Domain is a protection domain.
type Domain struct {
	p       *C.struct_vb_pd
	Atomics bool // what is registered for others is for their atomics, too
}

// NewDomain makes one.
func (c *Context) NewDomain() (*Domain, error) {
	p, err := C.vb_alloc_pd(c.p)
	if p == nil {
		return nil, fmt.Errorf("make a protection domain: %w", orErrno(err))
	}
	return &Domain{p: p}, nil
}

// Close ends it.
func (d *Domain) Close() error { return result("end a protection domain", C.vb_dealloc_pd(d.p)) }

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

// Register lets the device at memory, which is pinned unless it is OnDemand.
func (d *Domain) Register(addr uintptr, nbytes int64, kind qp.Access) (*Region, error) {
	flags := access[kind]
	if kind == qp.Remote && !d.Atomics {
		flags &^= C.VB_REMOTE_ATOMIC
	}
	p, err := C.vb_reg_mr(d.p, C.uintptr_t(addr), C.size_t(nbytes), flags)
	if p == nil {
		return nil, fmt.Errorf("register %d bytes: %w", nbytes, orErrno(err))
	}
	return &Region{p, uint32(p.lkey), uint32(p.rkey)}, nil
}

// Close ends the registration; there may be none.
func (r *Region) Close() error {
	if r == nil {
		return nil
	}
	return result("end a registration", C.vb_dereg_mr(r.p))
}

// Channel tells through a descriptor that completion queues have something.
type Channel struct{ p *C.struct_vb_channel }

// NewChannel makes one.
func (c *Context) NewChannel() (*Channel, error) {
	p, err := C.vb_create_channel(c.p)
	if p == nil {
		return nil, fmt.Errorf("make a completion channel: %w", orErrno(err))
	}
	return &Channel{p}, nil
}

// FD is readable when Take has something.
func (ch *Channel) FD() int { return int(ch.p.fd) }

// Take takes all events. It does not wait.
func (ch *Channel) Take() {
	for C.vb_take_event(ch.p) != 0 {
	}
}

// Close ends the channel.
func (ch *Channel) Close() error {
	return result("end a completion channel", C.vb_destroy_channel(ch.p))
}
