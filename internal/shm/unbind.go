// SPDX-License-Identifier: BSD-3-Clause

// The CPUs of the library's threads: all that the job may use, not only the core to which a
// launcher has bound the rank.
package shm

// #include "shm.h"
// #cgo nocallback shm_unbind
// #cgo noescape shm_unbind
import "C"

import (
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Unbind lets the calling thread run on every CPU that the process's control group allows. A
// goroutine that needs this for itself is locked to its thread. Repeated calls cost next to
// nothing.
func Unbind() error {
	if code := C.shm_unbind(); code != 0 {
		return syscall.Errno(code)
	}
	return nil
}

// allowed returns the CPUs of an unbound thread. It unbinds a locked thread to read them, which
// ends with its goroutine.
func allowed() (set unix.CPUSet, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err = Unbind(); err == nil {
			err = unix.SchedGetaffinity(0, &set)
		}
	}()
	<-done
	return set, err
}
