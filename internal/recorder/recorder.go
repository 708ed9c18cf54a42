// SPDX-License-Identifier: BSD-3-Clause

// Package recorder carries out ARMCI_STATS and ARMCI_TRACE=FILE for every shared library: when
// recording begins and ends, and whose counters are put together. C records (profile.h); package
// profile prints. How a call gets to C's recording is its library's.
package recorder

// #cgo CFLAGS: -std=gnu11 -fvisibility=hidden -Wall -Wextra -Wno-unused-parameter
// #include <stdlib.h>
// #include "profile.h"
// void profile_start(struct profile_counters *counters, int *node_of, int me, int ranks,
//   bool traced);
// void profile_stop(void);
import "C"

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"unsafe"

	"libarmci/internal/config"
	"libarmci/internal/core"
	"libarmci/internal/kernel"
	"libarmci/internal/log"
	"libarmci/internal/profile"
	"libarmci/internal/transport"
)

// Recorder is what is wanted, and the counters while there are some.
type Recorder struct {
	library  string // its name, for the title
	stats    bool
	file     string // of ARMCI_TRACE, "" for none
	counters *profile.Counters
	running  bool
}

// New is what ARMCI_TRACE and ARMCI_STATS ask a library for: a line per call, or recording.
func New(library string, cfg *config.Set) (lines bool, r Recorder) {
	on, file := cfg.BoolOrText("ARMCI_TRACE")
	return on && file == "", Recorder{library: library, stats: cfg.Bool("ARMCI_STATS"),
		file: file}
}

// Wanted says whether calls are to be recorded.
func (r *Recorder) Wanted() bool { return r.stats || r.file != "" }

// Beside gives the trace another name, because another library in the process writes the file.
func (r *Recorder) Beside(suffix string) {
	if r.file != "" {
		r.file += suffix
	}
}

// Start begins to record, before the library completes calls in C; false: nothing is. Collective.
func (r *Recorder) Start(rt *core.Runtime) bool {
	if !r.Wanted() {
		return false
	}
	topo := rt.Topo
	if r.stats {
		var err error
		if r.counters, err = profile.Create(int(rt.Me), rt.N, topo.MyNode(),
			len(topo.Nodes), topo.Hosts[topo.MyNode()]); err != nil {
			log.Errorf("nothing is counted: %v", err)
		}
	}
	if r.file != "" && !openTrace(rt, r.file) {
		r.file = ""
	}
	nodeOf := unsafe.Slice((*C.int)(C.malloc(C.size_t(rt.N)*C.sizeof_int)), rt.N)
	for i := range nodeOf {
		nodeOf[i] = C.int(topo.Node(transport.Rank(i)))
	}
	C.profile_start((*C.struct_profile_counters)(unsafe.Pointer(r.counters)), &nodeOf[0],
		C.int(rt.Me), C.int(rt.N), C.bool(r.file != ""))
	r.running = true
	return true
}

// openTrace is collective: the clocks of all nodes are compared, and all ranks trace or none does.
func openTrace(rt *core.Runtime, file string) bool {
	zero, err := rt.CommonClock(profile.Now)
	if err != nil {
		log.Errorf("ARMCI_TRACE: the clocks of the nodes cannot be compared: %v", err)
	}
	err = openPart(rt, file, zero)
	first, failed := failures(rt, err)
	switch {
	case failed == 0:
		return true
	case err == nil:
		closeTrace()
		os.Remove(profile.Part(file, int(rt.Me)))
	case first == int(rt.Me) && failed == 1:
		log.Errorf("ARMCI_TRACE: nothing is traced: %v", err)
	case first == int(rt.Me):
		log.Errorf("ARMCI_TRACE: nothing is traced: %v (this rank, and %d more)", err,
			failed-1)
	}
	return false
}

// openPart opens this rank's file. Rank 0 sees to it that all of them can be put together at the
// end.
func openPart(rt *core.Runtime, file string, zero int64) error {
	if rt.Me == 0 {
		if err := profile.CheckFile(file); err != nil {
			return err
		}
	}
	path := profile.Part(file, int(rt.Me))
	fd, err := profile.CreateFile(path)
	if err != nil {
		return err
	}
	host := C.CString(jsonText(rt.Topo.Hosts[rt.Topo.MyNode()]))
	defer C.free(unsafe.Pointer(host))
	limit := C.uint64_t(rt.Cfg.Size("ARMCI_TRACE_LIMIT"))
	if e := C.trace_open(C.int(fd), C.int(rt.Me), host, C.int64_t(zero), limit); e != 0 {
		os.Remove(path)
		return &fs.PathError{Op: "write", Path: path, Err: syscall.Errno(e)}
	}
	return nil
}

// failures tells the first rank with an error and how many there are. Collective.
func failures(rt *core.Runtime, err error) (first, n int) {
	world, e := rt.Group(core.World)
	if e != nil {
		return int(rt.Me), 1
	}
	x := struct{ first, n int64 }{int64(rt.N), 0}
	if err != nil {
		x.first, x.n = int64(rt.Me), 1
	}
	reduce(world, longs(&x.first), kernel.Min)
	reduce(world, longs(&x.n), kernel.Sum)
	return int(x.first), int(x.n)
}

// jsonText is what a string of JSON has between its quotes, of at most some 100 bytes of a name. A
// node's name (ARMCI_NODE) may have any bytes.
func jsonText(name string) string {
	var text strings.Builder
	for _, r := range strings.ToValidUTF8(name[:min(len(name), 100)], "?") {
		switch {
		case r == '"' || r == '\\':
			text.WriteByte('\\')
			text.WriteRune(r)
		case r < ' ':
			fmt.Fprintf(&text, "\\u%04x", r)
		default:
			text.WriteRune(r)
		}
	}
	return text.String()
}

// End ends recording and prints. Collective; no call is completed in C any more.
func (r *Recorder) End(rt *core.Runtime) {
	if !r.running {
		return
	}
	r.running = false
	C.profile_stop()
	if r.file != "" {
		closeTrace()
		rt.Barrier()
		if rt.Me == 0 {
			mergeTrace(r.file, rt.N)
		}
	}
	if r.stats {
		if s, err := r.gatherSummary(rt); err != nil {
			log.Errorf("ARMCI_STATS: %v", err)
		} else if rt.Me == 0 {
			print(s)
		}
	}
	if r.counters != nil {
		r.counters.Close()
		r.counters = nil
	}
}

func closeTrace() {
	left := C.trace_close()
	if e := C.trace_error(); e != 0 {
		log.Errorf("ARMCI_TRACE: the trace ends early: %v", syscall.Errno(e))
	} else if left > 0 {
		log.Warnf("ARMCI_TRACE: %d calls were left out beyond ARMCI_TRACE_LIMIT",
			uint64(left))
	}
}

func mergeTrace(file string, ranks int) {
	missing, err := profile.Merge(file, ranks)
	if err != nil {
		log.Errorf("ARMCI_TRACE: %v", err)
	} else if missing > 0 {
		log.Warnf("ARMCI_TRACE: %d of %d files are not on this host: bring %s.* together "+
			"and run armci_info -m %s", missing, ranks, file, file)
	}
}

// Alone prints what this rank has counted, when the job will not finalise. rt is nil if the library
// does not run.
func (r *Recorder) Alone(rt *core.Runtime, why string) {
	if !r.running || rt == nil {
		return
	}
	r.running = false
	if r.file != "" {
		closeTrace()
	}
	if r.counters == nil {
		return
	}
	table, by := r.counters.Snapshot()
	s := profile.Summary{Title: fmt.Sprintf("%s %s: statistics of rank %d alone, since %s",
		r.library, config.Version, rt.Me, why), Table: table, Size: 1,
		Elapsed: profile.Now() - r.counters.Started}
	s.Here, s.There = profile.Split(by, rt.Topo.MyNode())
	s.Counts = countsOf(rt)
	print(&s)
}

func print(s *profile.Summary) {
	var text bytes.Buffer
	s.Write(&text)
	os.Stderr.Write(text.Bytes())
}

// C and Go have the same layouts.
var (
	_ [unsafe.Sizeof(profile.Counters{})]byte = [C.sizeof_struct_profile_counters]byte{}
	_ [unsafe.Sizeof(profile.Table{})]byte    = [tableBytes]byte{}

	_ [startedAt]byte = [unsafe.Offsetof(C.struct_profile_counters{}.started)]byte{}
)

const (
	tableBytes = C.PROFILE_OPS * C.PROFILE_CLASSES * C.sizeof_struct_profile_cell // C's
	startedAt  = unsafe.Offsetof(profile.Counters{}.Started)
)
