// SPDX-License-Identifier: BSD-3-Clause

// Starting a job of one rank in this process, what is printed about it, and what is printed if it
// is refused.
package startup

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"libarmci/internal/core"
	"libarmci/internal/drivers"
	"libarmci/internal/log"
	"libarmci/internal/transport"
)

var library = Library{Name: "libexample", Access: "Read and Write"}

// capture returns a function that returns what has been printed.
func capture(t *testing.T) func() string {
	var mu sync.Mutex
	var text strings.Builder
	t.Cleanup(log.SetSink(func(line []byte) {
		mu.Lock()
		defer mu.Unlock()
		text.Write(line)
	}))
	t.Cleanup(func() { log.SetLevel(log.LevelWarn) })
	return func() string {
		mu.Lock()
		defer mu.Unlock()
		return text.String()
	}
}

func setenv(t *testing.T, variables ...string) {
	for _, v := range append(variables, "ARMCI_BACKTRACE=n", "ARMCI_SHM_ARENA=1g") {
		name, value, _ := strings.Cut(v, "=")
		t.Setenv(name, value)
	}
}

var attempts int // with go test -count; a warning is printed once per process

// Twice in one process, one after the other.
func TestStart(t *testing.T) {
	attempts++
	unknown := fmt.Sprintf("ARMCI_VERBOSE%d", attempts)
	setenv(t, unknown+"=1", "ARMCI_VERBOSE=y")
	printed := capture(t)
	for range 2 {
		s := Load(library)
		rt, err := s.Start("Init", nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Announce(rt, true)
		if rt.N != 1 || rt.Me != 0 || s.Cfg != rt.Cfg {
			t.Errorf("rank %d of %d", rt.Me, rt.N)
		}
		if err := rt.Finalize(); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]int{
		unknown + " is no setting of this library; did you mean ARMCI_VERBOSE?": 1,
		"] libexample ": 2,
		"fast path on":  2,
	} {
		if got := strings.Count(printed(), line); got != want {
			t.Errorf("%q is printed %d times, not %d:\n%s", line, got, want, printed())
		}
	}
}

// TestRefused shows that a wrong setting is an error, with one line that names it.
func TestRefused(t *testing.T) {
	setenv(t, "ARMCI_ERRORS=perhaps")
	printed := capture(t)
	rt, err := Load(library).Start("Init", nil)
	if err == nil {
		rt.Finalize()
		t.Fatal("it has started")
	}
	if text := printed(); strings.Count(text, "\n") != 1 ||
		!strings.Contains(text, "] Init: ") || !strings.Contains(text, "ARMCI_ERRORS") {
		t.Errorf("printed: %q", text)
	}
}

func TestNoCommunicator(t *testing.T) {
	setenv(t)
	printed := capture(t)
	comm := uintptr(1)
	if _, err := Load(library).Start("Init", &comm); err == nil ||
		!strings.Contains(printed(), "] Init: a communicator was given") {
		t.Errorf("error %v, printed: %q", err, printed())
	}
}

// TestForeign compares what is said of address ranges that belong to other nodes.
func TestForeign(t *testing.T) {
	topo := &core.Topology{Nodes: [][]transport.Rank{{0, 1}, {2, 3, 4}, {5}},
		Hosts: []string{"a", "b", "c"}}
	const only = ": only its ranks can dereference it, others use Read and Write"
	for _, c := range []struct {
		count, mine int
		want        []string
	}{
		{1, 0, nil},
		{3, 0, []string{"", "ranks 2 and 2 others of its node (host b)" + only,
			"rank 5 (host c)" + only}},
		// the first and the third node have one range
		{2, 1, []string{"another node" + only, ""}},
	} {
		got := foreign(topo, drivers.ArenaRanges{Count: c.count, Mine: c.mine},
			library.Access)
		if !slices.Equal(got, c.want) {
			t.Errorf("%d ranges: got %q, want %q", c.count, got, c.want)
		}
	}
}
