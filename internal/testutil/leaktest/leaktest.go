// SPDX-License-Identifier: BSD-3-Clause

// Package leaktest checks that a test leaves no goroutine of the project and no
// open descriptor behind. Only tests may import it.
package leaktest

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

const patience = 3 * time.Second

// Check notes what is open now and compares when the test is over.
func Check(t testing.TB) {
	t.Helper()
	runtime.GC() // files without owner are closed by finalizers
	files, routines := openFiles(t), ours()
	t.Cleanup(func() {
		end := time.Now().Add(patience)
		for time.Now().Before(end) &&
			(openFiles(t) > files || len(ours()) > len(routines)) {
			time.Sleep(5 * time.Millisecond)
		}
		if now := openFiles(t); now > files {
			t.Errorf("%d descriptors were open before, now %d", files, now)
		}
		if now := ours(); len(now) > len(routines) {
			t.Errorf("%d goroutines before, now:\n%s", len(routines),
				strings.Join(now, "\n\n"))
		}
	})
}

// openFiles counts descriptors but those of the runtime's poller, which come
// with first use and stay.
func openFiles(t testing.TB) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		target, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && !strings.Contains(target, "[eventpoll]") &&
			!strings.Contains(target, "[eventfd]") {
			n++
		}
	}
	return n
}

// ours returns the stacks of goroutines that run code of the project and are
// not running a test themselves.
func ours() []string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	var found []string
	for _, stack := range strings.Split(string(buf), "\n\n") {
		if strings.Contains(stack, "libarmci/") &&
			!strings.Contains(stack, "testing.tRunner") {
			found = append(found, stack)
		}
	}
	return found
}
