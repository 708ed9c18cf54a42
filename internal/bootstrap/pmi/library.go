// SPDX-License-Identifier: BSD-3-Clause

// PMI-2 and PMIx, by the launcher's library.

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

// A value of MaxValue bytes is one that PMI-2 takes.
const _ = uint(C.P2_MAX_VALLEN - 1 - MaxValue)

// library is one of the two: C.PMI_2 or C.PMI_X.
type library C.int

// openLibrary is Open by PMI-2 or PMIx.
func openLibrary(i Interface, _ Server) (*Client, error) {
	which := C.int(C.PMI_2)
	if i == PMIx {
		which = C.PMI_X
	}
	if why := C.pmi_load(which); why != nil {
		return nil, unavailable(C.GoString(why))
	}
	var place C.struct_pmi_place
	if why := C.pmi_open(which, &place); why != nil {
		return nil, errors.New(C.GoString(why))
	}
	return &Client{Interface: i, Rank: int(place.rank), Size: int(place.size),
		Local: int(place.local), job: library(which)}, nil
}

func (l library) put(key, value string) error {
	k, v := C.CString(key), C.CString(value)
	defer C.free(unsafe.Pointer(k))
	defer C.free(unsafe.Pointer(v))
	return failed("put", C.pmi_put(C.int(l), k, v))
}

func (l library) fence() error { return failed("fence", C.pmi_fence(C.int(l))) }

func (l library) get(rank int, key string) (string, error) {
	k, v := C.CString(key), (*C.char)(C.malloc(MaxValue+1))
	defer C.free(unsafe.Pointer(k))
	defer C.free(unsafe.Pointer(v))
	if err := failed("get", C.pmi_get(C.int(l), C.int(rank), k, v, MaxValue+1)); err != nil {
		return "", err
	}
	return C.GoString(v), nil
}

func (l library) abort(status int, message string) {
	m := C.CString(message)
	defer C.free(unsafe.Pointer(m))
	C.pmi_abort(C.int(l), C.int(status), m)
}

// inJob tells whether this process has joined a job, and has not left it.
func inJob() bool { return C.pmi_in_job() != 0 }

// Leave tells the launcher that this process needs it no longer, as happens at exit otherwise: in
// programs in Go, which end without that, and before other ranks can notice an exit, since a
// launcher may kill this process because of what they do then. Only the first call has an effect.
func Leave() { C.pmi_leave() }

func failed(what string, code C.int) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s failed with code %d", what, int(code))
}
