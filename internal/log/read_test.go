// SPDX-License-Identifier: BSD-3-Clause

// Tests of waiting until the printed lines have been read.

package log

import (
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestAwaitReader shows that awaitReader returns when the pipe is empty, or at its limit.
func TestAwaitReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	awaitReader(int(w.Fd()), time.Hour) // there is nothing to read
	w.WriteString("a line\n")
	unread := func() int {
		n, err := unix.IoctlGetInt(int(r.Fd()), unix.TIOCINQ)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	awaitReader(int(w.Fd()), 2*time.Millisecond)
	if unread() == 0 {
		t.Error("nobody has read it")
	}
	go func() {
		time.Sleep(20 * time.Millisecond)
		r.Read(make([]byte, 100))
	}()
	awaitReader(int(w.Fd()), time.Hour)
	if n := unread(); n != 0 {
		t.Errorf("%d bytes are still to be read", n)
	}
}

// A file needs no reader, nor does what is closed.
func TestNobodyReads(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("a line\n")
	f.Seek(0, 0)
	awaitReader(int(f.Fd()), time.Hour)
	f.Close()
	awaitReader(-1, time.Hour)
}
