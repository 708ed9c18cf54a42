// SPDX-License-Identifier: BSD-3-Clause

// In a process bound to one CPU, a thread that calls Unbind may run everywhere, and the others stay
// bound. The process is this test binary, started again, since a test must not change the CPUs
// of its own.
package shm

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

const bindEnv = "ARMCI_TEST_BIND"

func init() {
	if os.Getenv(bindEnv) != "" {
		// the main thread is the application's: no other goroutine may come to run on it
		runtime.LockOSThread()
	}
}

func affinity(t *testing.T, tid int) unix.CPUSet {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(tid, &set); err != nil {
		t.Fatal(err)
	}
	return set
}

// A thread of a process that is bound to one CPU runs everywhere after Unbind, and only that
// thread.
func TestUnbind(t *testing.T) {
	whole, err := allowed()
	if err != nil {
		t.Fatal(err)
	}
	if whole.Count() < 2 {
		t.Skip("one CPU only: nothing can be bound to less")
	}
	if os.Getenv(bindEnv) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestUnbind$", "-test.v")
		cmd.Env = append(os.Environ(), bindEnv+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	runtime.LockOSThread()
	bindAll(t)
	main := affinity(t, os.Getpid())
	if main.Count() != 1 {
		t.Fatalf("bound to %d CPUs", main.Count())
	}
	for range 2 {
		if got, err := allowed(); err != nil || got != whole { // on a thread of its own
			t.Errorf("an unbound thread may run on %d CPUs (%v), allowed are %d",
				got.Count(), err, whole.Count())
		}
	}
	if affinity(t, os.Getpid()) != main || affinity(t, 0) != main {
		t.Error("other threads have been unbound too")
	}
	if Unbind() != nil || Unbind() != nil || affinity(t, 0) != whole {
		t.Error("this thread is still bound")
	}
}

// bindAll binds every thread of the process to one CPU, as a launcher would have before they were
// made.
func bindAll(t *testing.T) {
	t.Helper()
	old := affinity(t, 0)
	var one unix.CPUSet
	for cpu := 0; one.Count() == 0; cpu++ {
		if old.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, th := range threads {
		tid := 0
		for _, digit := range th.Name() {
			tid = 10*tid + int(digit-'0')
		}
		if err := unix.SchedSetaffinity(tid, &one); err != nil && err != unix.ESRCH {
			t.Fatal(err)
		}
	}
}

func BenchmarkUnbind(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for b.Loop() {
		if err := Unbind(); err != nil {
			b.Fatal(err)
		}
	}
}
