// SPDX-License-Identifier: BSD-3-Clause

// Go's part of initialisation and finalisation.
package main

// #include "front.h"
// void front_close(void);
// void front_drop_all_mutexes(void);
import "C"

import (
	"fmt"
	"unsafe"

	"libarmci/internal/bootstrap"
	"libarmci/internal/core"
	"libarmci/internal/guest"
	"libarmci/internal/log"
)

func commOf(p *C.uintptr_t) *uintptr {
	if p == nil {
		return nil
	}
	c := uintptr(*p)
	return &c
}

//export armcigo_init
func armcigo_init(name *C.char, comm *C.uintptr_t) C.int {
	defer guest.Guard(guest.Faults())
	lib.mu.Lock()
	defer lib.mu.Unlock()
	if start(literal(name), commOf(comm)) != nil {
		return core.CodeInternal
	}
	if lib.inits.Add(1) == 1 {
		C.front.profiled = C.bool(lib.profile.Start(lib.rt.Load()))
		openFastPath(lib.rt.Load())
	}
	return 0
}

//export armcigo_check_thread
func armcigo_check_thread(level C.int) C.int {
	defer guest.Guard(guest.Faults())
	if have, running := bootstrap.ThreadLevel(); running && have < int(level) {
		endJob("ARMCI_Init_thread", &core.ArgError{Arg: "armci_requested",
			Text: fmt.Sprintf("MPI provides thread level %d, not %d", have, level),
			Code: core.CodeInternal})
	}
	return 0
}

//export armcigo_mpi_init
func armcigo_mpi_init(argc, argv unsafe.Pointer) {
	defer guest.Guard(guest.Faults())
	if err := bootstrap.InitMPI(argc, argv); err != nil {
		endJob("ARMCI_Init_args", err)
	}
}

//export armcigo_initialized
func armcigo_initialized() C.int {
	defer guest.Guard(guest.Faults())
	if inInit() {
		return 1
	}
	return 0
}

// armcigo_finalize finalises at the last of nested calls. Surplus calls are ignored.
//
//export armcigo_finalize
func armcigo_finalize() C.int {
	defer guest.Guard(guest.Faults())
	lib.mu.Lock()
	defer lib.mu.Unlock()
	rt := lib.rt.Load()
	if lib.inits.Load() == 0 || rt == nil {
		return 0
	}
	if lib.inits.Add(-1) > 0 {
		return 0
	}
	C.front_close()
	C.front_drop_all_mutexes()
	C.front.profiled = false
	lib.profile.End(rt)
	if lib.messages {
		rt.AllFence()
		rt.Liveness.AnnounceFinalBarrier(true)
		rt.Barrier()
		rt.Liveness.AnnounceFinalBarrier(false) // armci_msg_* may still be called
		return 0
	}
	return code("ARMCI_Finalize", shutDown(rt))
}

func shutDown(rt *core.Runtime) error {
	lib.rt.Store(nil)
	return rt.Finalize()
}

//export armcigo_msg_init
func armcigo_msg_init(argc, argv unsafe.Pointer, comm *C.uintptr_t) {
	defer guest.Guard(guest.Faults())
	lib.mu.Lock()
	defer lib.mu.Unlock()
	if err := bootstrap.InitMPI(argc, argv); err != nil {
		endJob("armci_msg_init", err)
	}
	mustStart("armci_msg_init", commOf(comm))
	lib.messages = true
}

//export armcigo_msg_finalize
func armcigo_msg_finalize() {
	defer guest.Guard(guest.Faults())
	lib.mu.Lock()
	defer lib.mu.Unlock()
	if rt := lib.rt.Load(); rt != nil {
		C.front_close()
		C.front.profiled = false
		lib.profile.End(rt)
		lib.inits.Store(0)
		endJobOnError("armci_msg_finalize", shutDown(rt))
	}
	lib.messages = false
	bootstrap.FinalizeMPI()
}

// armcigo_leave runs when the process exits with status 0 and has not finalised.
//
//export armcigo_leave
func armcigo_leave() {
	defer guest.Guard(guest.Faults())
	if rt := lib.rt.Load(); rt != nil {
		bootstrap.LeaveLauncher()
		lib.profile.Alone(rt, "this rank exits without ARMCI_Finalize")
		rt.Leave()
	}
}

// armcigo_flush runs when the process exits with another status.
//
//export armcigo_flush
func armcigo_flush() {
	defer guest.Guard(guest.Faults())
	if rt := lib.rt.Load(); rt != nil {
		rt.Abandon()
	}
	log.Flush()
}

//export armcigo_error
func armcigo_error(msg *C.char, status C.int) {
	defer guest.Guard(guest.Faults())
	text := ""
	if msg != nil {
		text = C.GoString(msg)
	}
	abort(fmt.Sprintf("the application ends the job: %s (code %d)", text, status), int(status))
}

// armcigo_fatal ends the job after an error that has been printed, for functions that cannot return
// it.
//
//export armcigo_fatal
func armcigo_fatal() {
	defer guest.Guard(guest.Faults())
	abort("", 1)
}

//export armcigo_me
func armcigo_me() C.int {
	defer guest.Guard(guest.Faults())
	return C.int(startEarly("armci_msg_me").Me)
}

//export armcigo_nproc
func armcigo_nproc() C.int {
	defer guest.Guard(guest.Faults())
	return C.int(startEarly("armci_msg_nproc").N)
}

// startEarly is for functions that programs call before ARMCI_Init: it starts the library if that
// is possible.
func startEarly(name string) *core.Runtime {
	lib.mu.Lock()
	defer lib.mu.Unlock()
	mustStart(name, nil)
	return lib.rt.Load()
}

// mustStart ends this process if the library does not start, after the error has been printed.
func mustStart(name string, comm *uintptr) {
	if err := start(name, comm); err != nil {
		abort("", -core.CodeOf(err))
	}
}
