// SPDX-License-Identifier: BSD-3-Clause

// Tests of the limit of repeated messages, with a clock of their own.

package log

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// clock makes the limiter begin anew with a clock that stands still; the returned function moves
// it.
func clock(t *testing.T) (pass func(time.Duration)) {
	var mu sync.Mutex
	now := time.Unix(1000, 0)
	repeated.mu.Lock()
	former := repeated.now
	repeated.kinds = map[string]*tally{}
	repeated.now = func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}
	repeated.mu.Unlock()
	t.Cleanup(func() { repeated.now, repeated.kinds = former, map[string]*tally{} })
	return func(d time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(d)
	}
}

// TestRepeatedMessages shows that a message that repeats is counted after some times instead of
// printed.
func TestRepeatedMessages(t *testing.T) {
	lines, pass := capture(t), clock(t)
	SetIdentity(3, "h")
	var want []string
	for i := range 100 {
		Errorf("put: %d", i)
		if i < firstOfKind {
			want = append(want, fmt.Sprintf("[3@h] put: %d\n", i))
		}
	}
	expect(t, lines, want...)
	pass(repeatTime - 1)
	Errorf("put: %d", 100)
	expect(t, lines, want...)
	pass(1)
	Errorf("put: %d", 101)
	Errorf("put: %d", 102)
	want = append(want, "[3@h] put: 101 (and 91 more like it)\n")
	expect(t, lines, want...)
	Flush()
	Flush()
	want = append(want, "[3@h] left out: 1 more like \"put: 101\"\n")
	expect(t, lines, want...)
}

// A message that is rare has no limit, however many there are.
func TestRareMessages(t *testing.T) {
	lines, pass := capture(t), clock(t)
	for i := range 3 * firstOfKind {
		Warnf("rare %d", i)
		pass(repeatTime)
	}
	Flush()
	if len(*lines) != 3*firstOfKind || strings.Contains(strings.Join(*lines, ""), "more") {
		t.Errorf("%q", *lines)
	}
}

// Each kind has a limit of its own, an error and a warning of the same text as well; what ends the
// job has none.
func TestKindsAreApart(t *testing.T) {
	lines := capture(t)
	clock(t)
	for range 2 * firstOfKind {
		Errorf("a: %d", 1)
		Warnf("a: %d", 1)
		Errorf("b: %d", 1)
		Infof("a: %d", 1) // is not wanted
	}
	expectCount(t, *lines, 3*firstOfKind)
	for range 2 * firstOfKind {
		Lastf("the end")
	}
	// three kinds are told of by the first
	expectCount(t, *lines, 3*firstOfKind+3+2*firstOfKind)
}

func expectCount(t *testing.T, lines []string, want int) {
	t.Helper()
	if len(lines) != want {
		t.Errorf("%d lines, want %d: %q", len(lines), want, lines)
	}
}

// TestManyThreadsRepeat shows that the limit holds for several threads together.
func TestManyThreadsRepeat(t *testing.T) {
	lines := capture(t)
	clock(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 1000 {
				Errorf("together")
			}
		})
	}
	all.Wait()
	Flush()
	expectCount(t, *lines, firstOfKind+1)
	if last := (*lines)[firstOfKind]; !strings.Contains(last,
		fmt.Sprint(8000-firstOfKind, " more")) {
		t.Errorf("the last line is %q", last)
	}
}

func BenchmarkOmitted(b *testing.B) {
	defer SetSink(func([]byte) {})()
	for b.Loop() {
		Errorf("again: %d", 1)
	}
}
