// SPDX-License-Identifier: BSD-3-Clause

// The one Runtime of this process, how often it was initialised, and how mistakes are answered.
package main

// #include <stdlib.h>
// #include "front.h"
// void front_open(int me, int ranks, int *local, struct shm_hold *world, struct lane_traffic *traffic, struct front_batch *batches);
// void front_close(void);
// void life_started(uintptr_t comm);
// #ifdef ARMCI_ABI_MPI
// enum { mistakes_abort = 1 }; // ARMCI-MPI's contract
// #else
// enum { mistakes_abort = 0 };
// #endif
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"libarmci/internal/bootstrap"
	"libarmci/internal/config"
	"libarmci/internal/core"
	"libarmci/internal/drivers"
	"libarmci/internal/log"
	"libarmci/internal/transport"
)

// lib is the state behind the C interface. inits counts ARMCI_Init..ARMCI_Finalize; messages is true between
// armci_msg_init and armci_msg_finalize, when messages work even without ARMCI_Init.
var lib struct {
	mu       sync.Mutex
	inits    atomic.Int32 // changed with mu held
	messages bool
	abort    bool // mistakes end the job instead of returning a code
	trace    bool // one line per call
	rt       atomic.Pointer[core.Runtime]
	shared   runtime.Pinner // of Go's memory that C reads
}

// start brings the library up if it is not, and says why if it cannot: name is the function that was called. Called with
// lib.mu held, collectively.
func start(name string, comm *uintptr) error {
	if lib.rt.Load() != nil {
		return nil
	}
	runtime.GOMAXPROCS(2) // goroutines here only wait; the cores belong to the application
	debug.SetGCPercent(50)
	cfg, problem := config.LoadFrom(bootstrap.Environ())
	if problem == nil {
		problem = watchCrashes(cfg)
	}
	lib.trace = cfg.Bool("ARMCI_TRACE")
	lib.abort = cfg.String("ARMCI_ERRORS") == "abort" || cfg.String("ARMCI_ERRORS") == "auto" && C.mistakes_abort == 1
	job, err := bootstrap.Start(cfg, comm)
	if err != nil {
		if !errors.Is(err, bootstrap.ErrNotLinked) || config.Launcher().Rank <= 0 {
			log.Errorf("%s: %v", name, err)
		}
		return err
	}
	host, _ := os.Hostname()
	log.SetIdentity(job.Rank(), host)
	identifyCrashes(job.Rank(), host)
	p := drivers.New(cfg)
	rt, err := startIn(job, cfg, p, problem)
	if err != nil {
		refused(name, job, err)
		return err
	}
	lib.rt.Store(rt)
	C.life_started(C.uintptr_t(rt.Job.WorldComm()))
	greet(rt, p)
	return nil
}

func startIn(job bootstrap.Job, cfg *config.Set, p *drivers.Platform, problem error) (*core.Runtime, error) {
	if problem != nil {
		return nil, core.Refuse(cfg, job, problem)
	}
	return core.Start(cfg, job, p)
}

// refused says why the job does not start, and leaves it when that is said: some launchers end all ranks with the first
// that leaves.
func refused(name string, job bootstrap.Job, err error) {
	var s *core.StartError
	agreed := errors.As(err, &s)
	if !agreed || s.Tell {
		log.Errorf("%s: %v", name, err)
		log.AwaitReader(time.Second)
	}
	if agreed {
		job.Exchange(nil)
	}
	job.Close()
}

// greet says once per job what there is to say at the start.
func greet(rt *core.Runtime, p *drivers.Platform) {
	if rt.Me != 0 {
		return
	}
	for _, u := range rt.Cfg.Unknown() {
		log.WarnOnce(u.Name, "%s is no setting of this library%s", u.Name, didYouMean(u.Nearest))
	}
	if rt.Cfg.Bool("ARMCI_VERBOSE") {
		fast := "on"
		if !fastWanted(rt) {
			fast = "off"
		}
		log.SetLevel(log.LevelInfo)
		log.Infof("libarmci %s: %s, arena %d GiB at %#x, fast path %s", config.Version, rt.Summary(),
			p.Machine.Bytes()>>30, p.Machine.Base(), fast)
	}
}

func didYouMean(name string) string {
	if name == "" {
		return ""
	}
	return "; did you mean " + name + "?"
}

func fastWanted(rt *core.Runtime) bool {
	return rt.Cfg.Bool("ARMCI_FASTPATH") && !lib.trace
}

// openFastPath tells C where everybody is. Node-local calls no longer enter Go from here on.
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
	var world *C.struct_shm_hold
	if here == rt.N {
		world = (*C.struct_shm_hold)(rt.Node.World().Pointer())
	}
	traffic := rt.Traffic()
	lib.shared.Unpin()
	lib.shared.Pin(&traffic[0]) // C looks at it until the next start
	var batches *C.struct_front_batch
	if b := rt.Batches(); len(b) == C.FRONT_BATCHES {
		lib.shared.Pin(&b[0])
		batches = (*C.struct_front_batch)(unsafe.Pointer(&b[0]))
	}
	C.front_open(C.int(rt.Me), C.int(rt.N), &local[0], world, (*C.struct_lane_traffic)(unsafe.Pointer(&traffic[0])), batches)
}

var _ [unsafe.Sizeof(core.Batch{})]byte = [C.sizeof_struct_front_batch]byte{} // C adds to them

var errNotRunning error = &core.ArgError{Text: "called before ARMCI_Init or after ARMCI_Finalize", Code: core.CodeArgument}

// running returns the Runtime, or reports that the function was called before init or after finalize.
func running(name string) (*core.Runtime, error) {
	rt := lib.rt.Load()
	if rt == nil {
		return nil, errNotRunning
	}
	if lib.trace {
		log.Tracef("%s", name)
	}
	return rt, nil
}

// initialised is running for one-sided calls, which armci_msg_init alone does not open.
func initialised(name string) (*core.Runtime, error) {
	if !inInit() {
		return nil, errNotRunning
	}
	return running(name)
}

func inInit() bool { return lib.inits.Load() > 0 }

// literal is a C string constant of this library, such as a function's name, seen as a Go string without copying.
func literal(p *C.char) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return unsafe.String((*byte)(unsafe.Pointer(p)), n)
}

// code prints one line about an error, naming function, argument and rank, and returns the documented code, or ends
// the job where that is asked for.
func code(name string, err error) C.int {
	if err == nil {
		return 0
	}
	if lib.abort {
		end(name, err)
	}
	log.Errorf("%s: %v", name, err)
	return C.int(core.CodeOf(err))
}

// must is code for functions that have no way to tell their caller: an error ends the job.
func must(name string, err error) {
	if err != nil {
		end(name, err)
	}
}

func end(name string, err error) {
	abort(fmt.Sprintf("%s: %v: the job ends", name, err), -core.CodeOf(err))
}

// abort ends every rank; a status of 0 counts as -1, since no job ends well by it.
func abort(text string, status int) {
	if status == 0 {
		status = -1
	}
	if rt := lib.rt.Load(); rt != nil {
		rt.Abort(text, status)
	}
	if text != "" {
		log.Errorf("%s", text)
	}
	os.Exit(max(status&255, 1))
}
