// SPDX-License-Identifier: BSD-3-Clause

// The Runtime of this process: started after MPI_Init, finalised before MPI_Finalize.
package main

// #include "plan.h"
// void life_open(int me, int fast, int vm);
// void life_share(int words, int ranks, struct traffic *traffic, void *reserve);
// void record_operations(bool on);
// bool record_beside(void);
import "C"

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"

	"libarmci/internal/core"
	"libarmci/internal/guest"
	"libarmci/internal/log"
	"libarmci/internal/recorder"
	"libarmci/internal/startup"
)

// lib is the state behind the C files.
var lib struct {
	rt       atomic.Pointer[core.Runtime]
	recorder recorder.Recorder
	shared   runtime.Pinner // of Go's memory that C reads
}

// mpirmago_start returns 1 if the processes of the job cannot find each other: then each would be
// a job of its own, in its MPI, too.
//
//export mpirmago_start
func mpirmago_start() C.int {
	defer guest.Guard(guest.Faults())
	library := startup.Library{Name: "libarmci-mpirma", Access: "MPI_Get"}
	s := startup.Load(library)
	rt, err := s.Start("MPI_Init", nil)
	if startup.Unconnected(err) {
		return 1
	}
	if err != nil {
		return 0 // the reason has been printed; every call passes through
	}
	lib.rt.Store(rt)
	s.Announce(rt, s.Cfg.Bool("ARMCI_FASTPATH"))
	record(library.Name, rt)
	shareMemory(rt, s.Cfg.Bool("ARMCI_FASTPATH"))
	C.life_open(C.int(rt.Me), flag(s.Cfg.Bool("ARMCI_FASTPATH")),
		flag(s.Cfg.Bool("ARMCI_SHM_VM")))
	return 0
}

// shareMemory gives C memory that it uses until the library ends: the counters of stores for the
// fast path, and what it needs to make a window without memory. It also tells C how many ranks
// there are, and whether a device writes events.
func shareMemory(rt *core.Runtime, fast bool) {
	var traffic *C.struct_traffic
	if fast {
		t := rt.Traffic()
		lib.shared.Pin(&t[0])
		traffic = (*C.struct_traffic)(unsafe.Pointer(&t[0]))
	}
	reserve := make([]uint64, C.plan_bytes(C.int(rt.N))/8)
	lib.shared.Pin(&reserve[0])
	C.life_share(flag(rt.EventWords()), C.int(rt.N), traffic, unsafe.Pointer(&reserve[0]))
}

// C and Go have the same layout.
var (
	_ [unsafe.Sizeof(core.Traffic{})]byte = [C.sizeof_struct_traffic]byte{}
	_ [fencedAt]byte                      = [unsafe.Offsetof(C.struct_traffic{}.fenced)]byte{}
)

const fencedAt = unsafe.Offsetof(core.Traffic{}.Fenced)

// record begins to record, if that is wanted.
func record(name string, rt *core.Runtime) {
	_, lib.recorder = recorder.New(name, rt.Cfg)
	if C.record_beside() {
		lib.recorder.Beside(".windows")
	}
	C.record_operations(C.bool(lib.recorder.Start(rt)))
}

func flag(yes bool) C.int {
	if yes {
		return 1
	}
	return 0
}

//export mpirmago_stop
func mpirmago_stop() {
	defer guest.Guard(guest.Faults())
	rt := lib.rt.Load()
	C.record_operations(false)
	lib.recorder.End(rt)
	lib.rt.Store(nil)
	if err := rt.Finalize(); err != nil {
		log.Errorf("MPI_Finalize: %v", err)
	}
}

//export mpirmago_passed_through
func mpirmago_passed_through() {
	defer guest.Guard(guest.Faults())
	log.WarnOnce("passed through",
		"MPI_Win_*: a window has members that are not of this job, or not of one node: "+
			"it is the MPI's own")
}

const aborted = "the job is aborted"

// mpirmago_aborting is called before an error handler ends the job.
//
//export mpirmago_aborting
func mpirmago_aborting() {
	defer guest.Guard(guest.Faults())
	lib.recorder.Alone(lib.rt.Load(), aborted)
}

// ended ends the job: a request has failed, which its MPI cannot be told.
func ended(err error) {
	rt := lib.rt.Load()
	rt.AwaitJobEnd("MPI_Wait", err)
	lib.recorder.Alone(rt, aborted)
	rt.AbortInTurn(fmt.Sprintf("a request of one-sided communication: %v: the job ends", err),
		1)
}
