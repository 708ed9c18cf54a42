// SPDX-License-Identifier: BSD-3-Clause

// The transport where the system refuses userfaultfd, as containers do by seccomp: memory of the
// application is registered for each transfer. This test binary is started again without the right
// to it.
package rdma

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"libarmci/internal/pin"
)

const refusedArg = "refused" // the first argument of such a process

// TestUserfaultfdRefused: the tests of private memory pass in a process without userfaultfd.
func TestUserfaultfdRefused(t *testing.T) {
	skipWithoutDevice(t)
	const tests = "TestChangedMemory|TestForced|TestManyAtOnce"
	out, err := exec.Command("/proc/self/exe", refusedArg, "-test.v",
		"-test.run=^("+tests+")$").CombinedOutput()
	if err != nil || strings.Contains(string(out), "--- SKIP") {
		t.Fatalf("%v:\n%s", err, out)
	}
	for _, test := range strings.Split(tests, "|") {
		if !strings.Contains(string(out), "--- PASS: "+test+" ") {
			t.Errorf("%s did not run:\n%s", test, out)
		}
	}
}

// refuseUserfaultfd has the kernel refuse it to this process from now on.
func refuseUserfaultfd() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_USERFAULTFD, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return errno
	}
	if why := pin.Watching(); !errors.Is(why, unix.EPERM) {
		return errors.New("userfaultfd is not refused")
	}
	return nil
}

// refusedArgs takes the argument of such a process away, and its right.
func refusedArgs() error {
	if len(os.Args) < 2 || os.Args[1] != refusedArg {
		return nil
	}
	os.Args = append(os.Args[:1], os.Args[2:]...)
	return refuseUserfaultfd()
}
