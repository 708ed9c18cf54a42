// SPDX-License-Identifier: BSD-3-Clause

// Domains, endpoints, registered memory, and the data path.
package libfabric

// #include "libfabric.h"
// #cgo noescape lf_post
// #cgo nocallback lf_post
// #cgo noescape lf_look
// #cgo nocallback lf_look
// #cgo noescape lf_sleep
// #cgo nocallback lf_sleep
import "C"

import (
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"
)

// Device is an open domain.
type Device struct {
	Info *Info
	c    C.struct_lf_device
}

// Open opens the domain of an Info.
func Open(i *Info) (*Device, error) {
	d := &Device{Info: i}
	if err := result("open "+i.Provider+" on "+i.Domain, C.lf_open(i.p, &d.c)); err != nil {
		return nil, err
	}
	return d, nil
}

// Atomics tells whether it has the atomic operations on 8-byte words.
func (d *Device) Atomics() bool { return C.lf_atomics(&d.c) != 0 }

// Close closes the domain; all that was made on it has been closed.
func (d *Device) Close() error { return result("close the domain", C.lf_close(&d.c)) }

// Region is registered memory.
type Region struct {
	p    *C.struct_lf_mr
	Key  uint64
	Desc Desc
}

// Desc is what requests need of registered local memory; 0: nothing.
type Desc uintptr

// ErrKey is the error of Register for a key that is in use.
const ErrKey = Error(C.LF_ENOKEY)

// Register registers memory for this process or, if remote, for others, too: with a key, if the
// provider does not choose it, and for an endpoint, if the provider wants one.
func (d *Device) Register(e *Endpoint, addr uintptr, nbytes int64, remote bool,
	key uint64) (*Region, error) {
	var p *C.struct_lf_mr
	var c *C.struct_lf_endpoint
	if e != nil {
		c = &e.c
	} else if d.Info.Modes&ByEndpoint != 0 {
		return nil, errors.New("memory is registered before there is an endpoint")
	}
	err := result(fmt.Sprintf("register %d bytes", nbytes),
		C.lf_register(&d.c, c, C.uintptr_t(addr), C.size_t(nbytes),
			C.int(btoi(remote)), C.uint64_t(key), &p))
	if err != nil {
		return nil, errnoOf(err)
	}
	return &Region{p, uint64(p.key), Desc(uintptr(p.mem_desc))}, nil
}

// errnoOf is the error of the system, if libfabric's is one: callers know those.
func errnoOf(err error) error {
	var e Error
	if errors.As(err, &e) && e < 256 {
		return fmt.Errorf("%w: %w", err, syscall.Errno(e))
	}
	return err
}

// Close ends the registration.
func (r *Region) Close() error { return result("end a registration", C.lf_deregister(r.p)) }

// Endpoint is an endpoint with its completion queue and the addresses it knows.
type Endpoint struct {
	c C.struct_lf_endpoint
}

// NewEndpoint makes an endpoint with room for so many requests and receive buffers.
func (d *Device) NewEndpoint(requests, buffers int) (*Endpoint, error) {
	e := &Endpoint{}
	if err := result("make an endpoint", C.lf_endpoint_open(&d.c, C.size_t(requests),
		C.size_t(buffers), &e.c)); err != nil {
		return nil, err
	}
	return e, nil
}

// Close closes it.
func (e *Endpoint) Close() error { return result("close an endpoint", C.lf_endpoint_close(&e.c)) }

// Name is where others find it.
func (e *Endpoint) Name() ([]byte, error) {
	b := make([]byte, 256)
	n := C.size_t(len(b))
	err := result("ask for the name of an endpoint", C.lf_name(&e.c, unsafe.Pointer(&b[0]), &n))
	return b[:min(int(n), len(b))], err
}

// Address is another endpoint, for requests of this one.
type Address uint64

// Insert makes an address of a name.
func (e *Endpoint) Insert(name []byte) (Address, error) {
	var a C.uint64_t
	room := append(make([]byte, 0, 256), name...) // whatever is read of it is there
	err := result("find another endpoint",
		C.lf_insert(&e.c, unsafe.Pointer(&room[0:cap(room)][0]), &a))
	return Address(a), err
}

// Remove ends the use of an address.
func (e *Endpoint) Remove(a Address) error {
	return result("forget another endpoint", C.lf_remove(&e.c, C.uint64_t(a)))
}

// Receive offers a receive buffer.
func (e *Endpoint) Receive(buffer uintptr, n int, desc Desc, context uintptr) error {
	return result("offer a receive buffer", C.lf_receive(&e.c, C.uintptr_t(buffer), C.size_t(n),
		pointer(desc), C.uintptr_t(context)))
}

// pointer is what C knows a descriptor as.
func pointer(d Desc) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&d)) }

// MostPieces is the most pieces of a request.
const MostPieces = C.LF_PIECES

// Piece is local memory of a request. It is not Go's.
type Piece struct {
	Addr  uintptr
	Bytes uintptr
	Desc  Desc
}

// Request is a request as C reads it. Op is one of package qp.
type Request struct {
	To                        Address
	Remote, Key, Flags        uint64
	Context, Operand, Compare uintptr // of atomics: where the operands are
	Operands                  Desc    // and their descriptor
	Op, Pieces                uint32
	Piece                     [MostPieces]Piece
}

var _ [unsafe.Sizeof(Request{})]byte = [C.sizeof_struct_lf_request]byte{}

// Flags of requests.
const (
	Told      = uint64(C.LF_COMPLETION)
	Delivered = uint64(C.LF_DELIVERY_COMPLETE)
)

// Post posts a request; again: there is no room now.
func (e *Endpoint) Post(r *Request) (again bool, err error) {
	code := C.lf_post(&e.c, (*C.struct_lf_request)(unsafe.Pointer(r)))
	if code == -C.int(syscall.EAGAIN) {
		return true, nil
	}
	return false, result("post a request", code)
}

// Done is a completion. Err is 0, or a number of Error.
type Done struct {
	Context uintptr
	Bytes   uint64
	Err     int64
}

var _ [unsafe.Sizeof(Done{})]byte = [C.sizeof_struct_lf_done]byte{}

func where(out []Done) *C.struct_lf_done {
	return (*C.struct_lf_done)(unsafe.Pointer(unsafe.SliceData(out)))
}

func polled(n C.int) (int, error) { return max(int(n), 0), result("poll a completion queue", n) }

// Look takes completions, and looks for the first of them so many times, then so many times more
// between yields.
func (e *Endpoint) Look(out []Done, looks, yields int) (int, error) {
	return polled(C.lf_look(&e.c, C.int(len(out)), where(out), C.uint(looks), C.uint(yields)))
}

// Sleep takes completions, and sleeps until there may be some, the descriptor wake is readable
// (rang; -1: none), or a time has passed that is not negative. stirred: the network has had
// something to do, perhaps for requests of others. Without a descriptor it naps, at most for nap at
// a time.
func (e *Endpoint) Sleep(out []Done, wake int, limit, nap time.Duration) (n int, rang, stirred bool,
	err error) {
	var why C.int
	n, err = polled(C.lf_sleep(&e.c, C.int(len(out)), where(out), C.int(wake), C.int64_t(limit),
		C.int64_t(nap), &why))
	return n, why&C.LF_WAKE != 0, why&C.LF_NETWORK != 0, err
}

// Handle is the endpoint as C knows it.
func (e *Endpoint) Handle() unsafe.Pointer { return unsafe.Pointer(&e.c) }

// FD is readable when something may have come; -1: there is none.
func (e *Endpoint) FD() int { return int(e.c.fd) }

// Pending tells whether FD is not to be waited for, since something may be there already.
func (e *Endpoint) Pending() bool { return C.lf_pending(&e.c) != 0 }
