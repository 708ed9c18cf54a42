// SPDX-License-Identifier: BSD-3-Clause

// Tests of prefix, levels, once-only warnings, and that a message is one write.

package log

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// capture collects what is written until the test ends, one entry per write.
func capture(t *testing.T) *[]string {
	var mu sync.Mutex
	var lines []string
	t.Cleanup(SetSink(func(line []byte) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, string(line))
	}))
	former := prefix.Load()
	t.Cleanup(func() { prefix.Store(former); SetLevel(LevelWarn) })
	return &lines
}

func expect(t *testing.T, got *[]string, want ...string) {
	t.Helper()
	if !slices.Equal(*got, want) {
		t.Errorf("got %q, want %q", *got, want)
	}
}

// TestPrefix shows the prefix of lines before and after SetIdentity.
func TestPrefix(t *testing.T) {
	lines := capture(t)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	Errorf("too early: %d", 7)
	SetIdentity(3, "alpha")
	Errorf("put to rank %d failed", 5)
	Warnf("careful")
	expect(t, lines, "[?@"+host+"] too early: 7\n", "[3@alpha] put to rank 5 failed\n",
		"[3@alpha] warning: careful\n")
}

func TestLinesOfOneMessageStayTogether(t *testing.T) {
	lines := capture(t)
	SetIdentity(0, "h")
	Errorf("one\n\ntwo\n")
	expect(t, lines, "[0@h] one\n[0@h] \n[0@h] two\n")
}

// TestLevels shows which messages each level prints.
func TestLevels(t *testing.T) {
	lines := capture(t)
	SetIdentity(0, "h")
	Infof("unwanted")
	SetLevel(LevelInfo)
	Infof("wanted")
	SetLevel(LevelError)
	Warnf("unwanted")
	Errorf("always")
	expect(t, lines, "[0@h] wanted\n", "[0@h] always\n")
}

// TestWarnOnce shows that each key is printed once, whatever the number of threads.
func TestWarnOnce(t *testing.T) {
	lines := capture(t)
	SetIdentity(0, "h")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { WarnOnce(t.Name(), "a %d", i*0) })
	}
	wg.Wait()
	WarnOnce(t.Name()+"2", "b")
	expect(t, lines, "[0@h] warning: a 0\n", "[0@h] warning: b\n")
}

// TestOneWritePerMessage sends standard error into a socket that keeps the
// bounds of writes.
func TestOneWritePerMessage(t *testing.T) {
	SetIdentity(1, "h")
	defer prefix.Store(nil)
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	saved, err := unix.Dup(2)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Dup3(fds[1], 2, 0); err != nil {
		t.Fatal(err)
	}
	unix.Close(fds[1])
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() { Errorf("message %d %s", i, strings.Repeat("x", 500)) })
	}
	wg.Wait()
	if err := unix.Dup3(saved, 2, 0); err != nil {
		t.Fatal(err)
	}
	unix.Close(saved)
	seen := map[string]bool{}
	buf := make([]byte, 4096)
	for {
		n, err := unix.Read(fds[0], buf)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
		seen[string(buf[:n])] = true
	}
	for i := range 10 {
		if line := fmt.Sprintf("[1@h] message %d %s\n", i,
			strings.Repeat("x", 500)); !seen[line] {
			t.Errorf("message %d was not one write", i)
		}
	}
	if len(seen) != 10 {
		t.Errorf("%d writes, want 10", len(seen))
	}
}

func TestWriteToAClosedDescriptorReturns(t *testing.T) {
	writeAll(-1, []byte("lost"))
}
