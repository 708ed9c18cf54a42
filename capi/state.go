// SPDX-License-Identifier: BSD-3-Clause

// The Runtime of this process, how often it was initialised, and how errors are reported.
package main

// #include <stdlib.h>
// #include "front.h"
// void front_open(int me, int ranks, int *local, struct shm_team *world,
//   struct traffic *traffic, struct notified *notified, struct front_batch *batches,
//   struct front_batch *coalesced, bool words);
// void front_close(void);
// void life_started(uintptr_t comm, void (*idle)(void));
// #ifdef ARMCI_ABI_MPI
// enum { mistakes_abort = 1 }; // ARMCI-MPI's contract
// #else
// enum { mistakes_abort = 0 };
// #endif
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"libarmci/internal/bootstrap"
	"libarmci/internal/core"
	"libarmci/internal/guest"
	"libarmci/internal/log"
	"libarmci/internal/recorder"
	"libarmci/internal/startup"
	"libarmci/internal/transport"
)

// lib is the state behind the C interface. inits counts ARMCI_Init..ARMCI_Finalize; messages is
// true between armci_msg_init and armci_msg_finalize, when messages work even without ARMCI_Init.
var lib struct {
	mu       sync.Mutex   // held while the library starts or ends, which changes the rest
	inits    atomic.Int32 // changed with mu held
	messages bool
	abort    bool // mistakes end the job instead of returning a code
	trace    bool // one line per call
	profile  recorder.Recorder
	rt       atomic.Pointer[core.Runtime]
	shared   runtime.Pinner // of Go's memory that C reads
}

var library = startup.Library{Name: "libarmci", Access: "ARMCI_Get and ARMCI_Put"}

func init() { guest.NamedBy(publicName) }

// publicName is the public name of a C function, "" if it has none.
func publicName(symbol string) string {
	if name := strings.TrimPrefix(symbol, "P"); strings.HasPrefix(name, "ARMCI") {
		return name
	}
	if name := strings.TrimPrefix(symbol, "p"); strings.HasPrefix(name, "armci_") {
		return name
	}
	return ""
}

// start starts the library unless it is running, and prints why if it cannot; name is the function
// that was called. Collective; called with lib.mu held.
func start(name string, comm *uintptr) error {
	if lib.rt.Load() != nil {
		return nil
	}
	s := startup.Load(library)
	lib.trace, lib.profile = recorder.New(library.Name, s.Cfg)
	lib.abort = s.Cfg.String("ARMCI_ERRORS") == "abort" ||
		s.Cfg.String("ARMCI_ERRORS") == "auto" && C.mistakes_abort == 1
	rt, err := s.Start(name, comm)
	if err != nil {
		return err
	}
	open, implicit := &C.front.open, &C.front.implicit
	if lib.profile.Wanted() {
		open, implicit = &C.front_inner.open, &C.front_inner.implicit
	}
	rt.CountHandles((*atomic.Int32)(unsafe.Pointer(open)),
		(*atomic.Int32)(unsafe.Pointer(implicit)))
	lib.rt.Store(rt)
	C.life_started(C.uintptr_t(rt.Job.WorldComm()), (*[0]byte)(bootstrap.WhileWaiting()))
	s.Announce(rt, fastWanted(rt))
	if rt.Me == 0 && rt.Topo.Interleaved() {
		log.Infof("the ranks of a node do not follow each other: armci_domain_* tell one " +
			"domain per rank")
	}
	return nil
}

func fastWanted(rt *core.Runtime) bool {
	return rt.Cfg.Bool("ARMCI_FASTPATH") && !lib.trace
}

// openFastPath gives C the local numbers of ranks and the counters. From here on plain calls within
// the node do not enter Go.
func openFastPath(rt *core.Runtime) {
	if !fastWanted(rt) {
		return
	}
	local := unsafe.Slice((*C.int)(C.malloc(C.size_t(rt.N)*C.sizeof_int)), rt.N)
	here := 0
	for i := range local {
		local[i] = -1
		if rt.Topo.SameNode(transport.Rank(i)) {
			local[i] = C.int(rt.Topo.Local(transport.Rank(i)))
			here++
		}
	}
	var world *C.struct_shm_team
	if here == rt.N {
		world = (*C.struct_shm_team)(rt.Teams.World().Pointer())
	}
	traffic := rt.Traffic()
	lib.shared.Unpin()
	lib.shared.Pin(&traffic[0]) // C uses it until the next start
	var batches *C.struct_front_batch
	if b := rt.Batches(); len(b) == C.FRONT_BATCHES {
		lib.shared.Pin(&b[0])
		batches = (*C.struct_front_batch)(unsafe.Pointer(&b[0]))
	}
	unposted := &C.front.uncoalesced
	if lib.profile.Wanted() {
		unposted = &C.front_inner.uncoalesced
	}
	var coalesced *C.struct_front_batch
	b := rt.EnableCoalescing((*atomic.Int32)(unsafe.Pointer(unposted)))
	if len(b) == C.FRONT_COALESCERS {
		lib.shared.Pin(&b[0])
		coalesced = (*C.struct_front_batch)(unsafe.Pointer(&b[0]))
	}
	rt.CountLockQueues((*atomic.Int32)(unsafe.Pointer(&C.front_lock_queues)))
	notified := rt.Notified()
	lib.shared.Pin(&notified[0])
	C.front_open(C.int(rt.Me), C.int(rt.N), &local[0], world,
		(*C.struct_traffic)(unsafe.Pointer(&traffic[0])),
		(*C.struct_notified)(unsafe.Pointer(&notified[0])), batches, coalesced,
		C.bool(rt.EventWords()))
}

// C and Go have the same layouts.
var (
	_ [unsafe.Sizeof(core.Batch{})]byte    = [C.sizeof_struct_front_batch]byte{}
	_ [unsafe.Sizeof(core.Traffic{})]byte  = [C.sizeof_struct_traffic]byte{}
	_ [unsafe.Sizeof(core.Notified{})]byte = [C.sizeof_struct_notified]byte{}

	_ [notifiedAt]byte = [unsafe.Offsetof(C.struct_notified{}.at)]byte{}
	_ [fencedAt]byte   = [unsafe.Offsetof(C.struct_traffic{}.fenced)]byte{}
)

const (
	notifiedAt = unsafe.Offsetof(core.Notified{}.At)
	fencedAt   = unsafe.Offsetof(core.Traffic{}.Fenced)
)

// otherLayout is the error of a program that was compiled with the other armci.h (layout.c).
var otherLayout = func() string {
	if C.mistakes_abort == 1 {
		return "the two numbers of a descriptor are in classic ARMCI's order: the " +
			"program was compiled with another armci.h; " +
			"compile it with that of ARMCI-MPI (include/armci-mpi), or link it with " +
			"libarmci.so.0"
	}
	return "the two numbers of a descriptor are in ARMCI-MPI's order: the program was " +
		"compiled with ARMCI-MPI's armci.h; " +
		"compile it with this library's (armcicc does), or link it with libarmci.so.1 " +
		"(docs/installing.md, Binaries built for ARMCI-MPI)"
}()

var errNotRunning error = &core.ArgError{Text: "called before ARMCI_Init or after ARMCI_Finalize",
	Code: core.CodeArgument}

// running returns the Runtime, or reports that the function was called before init or after
// finalize.
func running(name string, args ...argsOf) (*core.Runtime, error) {
	rt := lib.rt.Load()
	if rt == nil {
		return nil, errNotRunning
	}
	trace(name, args)
	return rt, nil
}

// initialised is running for one-sided calls, which need ARMCI_Init; armci_msg_init is not enough.
func initialised(name string, args ...argsOf) (*core.Runtime, error) {
	if !inInit() {
		return nil, errNotRunning
	}
	return running(name, args...)
}

func inInit() bool { return lib.inits.Load() > 0 }

// literal is a C string constant of this library, such as a function's name, as a Go string without
// copying.
func literal(p *C.char) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return unsafe.String((*byte)(unsafe.Pointer(p)), n)
}

// code prints one line about an error, naming function, argument and rank, and returns the
// documented code, or ends the job if ARMCI_ERRORS says so.
func code(name string, err error) C.int {
	if err == nil {
		return 0
	}
	if lib.abort {
		endJob(name, err)
	}
	awaitEnd(name, err)
	if !core.IsQuiet(err) {
		log.ErrorOfKind(name+" "+core.KindOf(err), "%s: %v", name, err)
	}
	return C.int(core.CodeOf(err))
}

// endJobOnError is code for functions that cannot return an error: it ends the job.
func endJobOnError(name string, err error) {
	if err != nil {
		endJob(name, err)
	}
}

// awaitEnd does not return if a call has failed because the job is ending.
func awaitEnd(name string, err error) {
	if rt := lib.rt.Load(); rt != nil {
		rt.AwaitJobEnd(name, err)
	}
}

// endJob ends the job because a public function has failed. It prints the error and does not
// return.
func endJob(name string, err error) {
	awaitEnd(name, err)
	lib.profile.Alone(lib.rt.Load(), "the job is aborted")
	if rt := lib.rt.Load(); rt != nil && core.IsQuiet(err) {
		rt.AbortQuietly(-core.CodeOf(err))
	}
	text, status := fmt.Sprintf("%s: %v: the job ends", name, err), -core.CodeOf(err)
	if rt := lib.rt.Load(); rt != nil {
		rt.AbortInTurn(text, status) // does not return
	}
	abort(text, status)
}

// abort ends every rank; a status of 0 becomes -1, since an aborted job has failed.
func abort(text string, status int) {
	lib.profile.Alone(lib.rt.Load(), "the job is aborted")
	if status == 0 {
		status = -1
	}
	if rt := lib.rt.Load(); rt != nil {
		rt.Abort(text, status)
	}
	if text != "" {
		log.Lastf("%s", text)
	}
	os.Exit(max(status&255, 1))
}
