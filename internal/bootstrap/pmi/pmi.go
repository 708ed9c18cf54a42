// SPDX-License-Identifier: BSD-3-Clause

// Package pmi asks a launcher, by PMI-2 or PMIx, which rank of which job this process is, and lets
// the ranks exchange short strings. The libraries are found at run time, never linked: libpmi2.so.0
// and libpmix.so.2.
package pmi

/*
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "abi.h"
#include "pmi.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"unsafe"
)

// MaxValue is the most bytes of a value.
const MaxValue = C.P2_MAX_VALLEN - 1

// Interface is one of the two.
type Interface int

// The interfaces.
const (
	PMI2 Interface = C.PMI_2
	PMIx Interface = C.PMI_X
)

func (i Interface) String() string {
	if i == PMIx {
		return "PMIx"
	}
	return "PMI-2"
}

// Client is this process as a rank of the launcher's job. All methods but Abort are for one thread
// at a time.
type Client struct {
	Interface
	Rank, Size int
	Local      int // ranks on this host, 0 if not known
}

// Open joins the job; a process that opens it again gets the same job. It is left at exit.
func Open(i Interface) (*Client, error) {
	var place C.struct_pmi_place
	if why := C.pmi_open(C.int(i), &place); why != nil {
		return nil, errors.New(C.GoString(why))
	}
	c := &Client{Interface: i, Rank: int(place.rank), Size: int(place.size),
		Local: int(place.local)}
	if c.Rank < 0 || c.Rank >= c.Size {
		return nil, fmt.Errorf("the launcher calls this rank %d of %d", c.Rank, c.Size)
	}
	return c, nil
}

// Put stores a value of at most MaxValue bytes under a key that no rank uses again.
func (c *Client) Put(key, value string) error {
	if len(value) > MaxValue {
		return fmt.Errorf("%v: a value of %d bytes is too long", c.Interface, len(value))
	}
	k, v := C.CString(key), C.CString(value)
	defer C.free(unsafe.Pointer(k))
	defer C.free(unsafe.Pointer(v))
	return c.failed("put", C.pmi_put(C.int(c.Interface), k, v))
}

// Fence is collective: what any rank has put before can be got after it.
func (c *Client) Fence() error { return c.failed("fence", C.pmi_fence(C.int(c.Interface))) }

// Get returns what a rank has put.
func (c *Client) Get(rank int, key string) (string, error) {
	k, v := C.CString(key), (*C.char)(C.malloc(MaxValue+1))
	defer C.free(unsafe.Pointer(k))
	defer C.free(unsafe.Pointer(v))
	if err := c.failed("get", C.pmi_get(C.int(c.Interface), C.int(rank), k, v,
		MaxValue+1)); err != nil {
		return "", err
	}
	return C.GoString(v), nil
}

// Abort has the launcher end all ranks, if it can. It may return.
func (c *Client) Abort(status int, message string) {
	m := C.CString(message)
	defer C.free(unsafe.Pointer(m))
	C.pmi_abort(C.int(c.Interface), C.int(status), m)
}

func (c *Client) failed(what string, code C.int) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%v: %s failed with code %d", c.Interface, what, int(code))
}
