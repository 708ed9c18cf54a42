// stores_test.go: aligned blocks of 1, 2, 4 and 8 bytes are one load and one store, in C by
// single-stepping (testdata/stores.c) and in Go's Copy with a second thread that takes what is
// stored.
//
// SPDX-License-Identifier: BSD-3-Clause

package kernel

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// TestStoresOnce shows, instruction by instruction, that each aligned element is written by one
// store.
func TestStoresOnce(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("single-stepping is written for x86-64 only")
	}
	program := filepath.Join(t.TempDir(), "stores")
	for _, level := range []string{"-O3", "-O0"} {
		args := append(strings.Fields("-std=c11 -Wall -Wextra -Werror -I. "+
			"testdata/stores.c -o "+program+" "+level),
			"blocks.c", "cursor.c", "strided.c", "vector.c", "walk.c", "wait.c",
			"update.c", "update_int.c", "update_pairs.c",
			"update_real.c", "update_swap.c")
		if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
			t.Fatalf("cc: %v\n%s", err, out)
		}
		if out, err := exec.Command(program).CombinedOutput(); err != nil ||
			!strings.HasSuffix(string(out), "ok stores\n") {
			t.Errorf("%s: %v\n%s", level, err, out)
		}
	}
}

// One thread copies a flag again and again, the other takes it: it never comes twice, nor in
// pieces. (A byte counts too soon to the same value again: only its C way is tested.)
func TestCopyOnce(t *testing.T) {
	mem, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		// not of Go's heap: there the race detector would see plain stores beside atomic
		// ones
		t.Fatal(err)
	}
	defer syscall.Munmap(mem)
	flag, src := (*uint64)(unsafe.Pointer(&mem[0])), (*uint64)(unsafe.Pointer(&mem[2048]))
	for n := 2; n <= 8; n *= 2 {
		*flag = 0 // the last one of the smaller size, which nothing received, looks torn
		var stop atomic.Bool
		taken := make(chan [2]int)
		go func() { taken <- take(flag, n, &stop) }()
		half := uint64(1)<<(4*n) - 1
		for i, end := uint64(1), time.Now().Add(200*time.Millisecond); i%1000 > 0 ||
			time.Now().Before(end); i++ {
			v := 1 + i%half
			*src = v | v<<(4*n)
			Copy(unsafe.Pointer(flag), unsafe.Pointer(src), n)
		}
		stop.Store(true)
		if bad := <-taken; bad[1] > 0 || bad[0] > 0 && n > 2 {
			t.Errorf("%d bytes came twice %d times and torn %d times", n, bad[0],
				bad[1])
		}
	}
}

// take takes flags of n bytes, whose halves are equal, until told to stop: how many came twice and
// torn.
func take(flag *uint64, n int, stop *atomic.Bool) (bad [2]int) {
	half := uint64(1)<<(4*n) - 1
	for last := uint64(0); !stop.Load(); {
		switch v := atomic.SwapUint64(flag, 0); {
		case v == 0:
		case v&half != v>>(4*n):
			bad[1]++
		case v == last:
			bad[0]++
		default:
			last = v
		}
	}
	return bad
}
