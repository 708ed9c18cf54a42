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

// Atomics tells whether the domain has atomic operations on 8-byte words.
func (d *Device) Atomics() bool { return C.lf_atomics(&d.c) != 0 }

// Close closes the domain; all that was made on it has been closed.
func (d *Device) Close() error { return result("close the domain", C.lf_close(&d.c)) }

// Region is registered memory.
type Region struct {
	p    *C.struct_lf_mr
	Key  uint64
	Desc Desc
}

// Desc is the descriptor of registered local memory for requests; 0: none is needed.
type Desc uintptr

// ErrKey is the error of Register for a key that is in use.
const ErrKey = Error(C.LF_ENOKEY)

// Register registers memory for this process or, if remote, for others, too. The key is used if the
// provider does not choose it, the endpoint if the provider needs one.
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

// errnoOf adds the error of the system if libfabric's is one, so that callers can compare it.
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

// Name is the name by which others Insert the endpoint.
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
	room := append(make([]byte, 0, 256), name...) // the library may read more than the name
	err := result("find another endpoint",
		C.lf_insert(&e.c, unsafe.Pointer(&room[0:cap(room)][0]), &a))
	return Address(a), err
}

// Remove ends the use of an address.
func (e *Endpoint) Remove(a Address) error {
	return result("forget another endpoint", C.lf_remove(&e.c, C.uint64_t(a)))
}

// Receive gives a receive buffer to the provider.
func (e *Endpoint) Receive(buffer uintptr, n int, desc Desc, context uintptr) error {
	return result("offer a receive buffer", C.lf_receive(&e.c, C.uintptr_t(buffer), C.size_t(n),
		pointer(desc), C.uintptr_t(context)))
}

// pointer is a descriptor in the form of C.
func pointer(d Desc) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&d)) }

// MostPieces is the most pieces of a request.
const MostPieces = C.LF_PIECES

// Piece is local memory of a request, outside of Go's heap.
type Piece struct {
	Addr  uintptr
	Bytes uintptr
	Desc  Desc
}

// Request is a request in the layout of C. Op is one of package qp.
type Request struct {
	To                        Address
	Remote, Key, Flags        uint64
	Context, Operand, Compare uintptr // of atomics: addresses of the operands
	Operands                  Desc    // and their descriptor
	Op, Pieces                uint32
	Piece                     [MostPieces]Piece
}

var _ [unsafe.Sizeof(Request{})]byte = [C.sizeof_struct_lf_request]byte{}

// Flags of requests.
const (
	Completion = uint64(C.LF_COMPLETION)
	Delivered  = uint64(C.LF_DELIVERY_COMPLETE)
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

// Look reads completions. It polls for the first of them so many times, then so many times more
// between yields.
func (e *Endpoint) Look(out []Done, looks, yields int) (int, error) {
	return polled(C.lf_look(&e.c, C.int(len(out)), where(out), C.uint(looks), C.uint(yields)))
}

// Sleep reads completions, and sleeps until there may be some, the descriptor wake is readable
// (rang; -1: none), or limit has passed (negative: none). stirred tells that the network's
// descriptor has ended the sleep. Without that descriptor it naps, at most for nap at a time.
func (e *Endpoint) Sleep(out []Done, wake int, limit, nap time.Duration) (n int, rang, stirred bool,
	err error) {
	var why C.int
	n, err = polled(C.lf_sleep(&e.c, C.int(len(out)), where(out), C.int(wake), C.int64_t(limit),
		C.int64_t(nap), &why))
	return n, why&C.LF_WAKE != 0, why&C.LF_NETWORK != 0, err
}

// Handle is the endpoint of C.
func (e *Endpoint) Handle() unsafe.Pointer { return unsafe.Pointer(&e.c) }

// FD is a descriptor that is readable when there may be completions; -1: there is none.
func (e *Endpoint) FD() int { return int(e.c.fd) }

// Pending tells whether there may be completions already: then the caller does not wait for FD.
func (e *Endpoint) Pending() bool { return C.lf_pending(&e.c) != 0 }
