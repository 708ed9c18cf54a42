// SPDX-License-Identifier: BSD-3-Clause

// What the machine and its control groups have left, read from files made here; and where arenas
// are tried.
package shm

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"libarmci/internal/transport"
)

// write makes files below root, with their directories.
func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func least(groups []memoryGroup) int64 {
	best := unlimited
	for _, g := range groups {
		best = min(best, g.bytesLeft())
	}
	return best
}

// The group with the least memory left decides, of either version, up to the root.
func TestControlGroups(t *testing.T) {
	root := t.TempDir()
	write(t, root, map[string]string{
		"memory.max":                       "max\n",
		"jobs/memory.max":                  "1000000\n",
		"jobs/memory.current":              "400000\n",
		"jobs/memory.stat":                 "anon 1\ninactive_file 50000\nfile 9\n",
		"jobs/one/memory.max":              "900000\n",
		"jobs/one/memory.current":          "100000\n",
		"full/memory.max":                  "1000\n",
		"full/memory.current":              "5000\n",
		"memory/memory.limit_in_bytes":     "9223372036854771712\n",
		"memory/old/memory.usage_in_bytes": "70000\n",
		"memory/old/memory.limit_in_bytes": "100000\n",
		"memory/old/memory.stat":           "inactive_file 1\ntotal_inactive_file 2000\n",
		"odd/memory.max":                   "many\n",
	})
	for text, want := range map[string]int64{
		"":                                     unlimited,
		"0::/\n":                               unlimited,
		"0::/jobs\n":                           650000,
		"0::/jobs/one\n":                       650000, // the one above has less
		"0::/jobs/one/deeper\n":                650000,
		"0::/full\n":                           0,
		"0::/odd\n":                            unlimited,
		"0::/../../jobs\n":                     650000,
		"12:cpu:/x\n4:memory:/old\n1:name=s:/": 32000,
		"4:memory:/old\n0::/full":              0,
		"nonsense\n:::\n0:\n":                  unlimited,
	} {
		if got := least(parseGroups(text, root)); got != want {
			t.Errorf("%q: %d left, want %d", text, got, want)
		}
	}
}

func TestNumberAfter(t *testing.T) {
	const text = "MemTotal:       16 kB\nMemAvailable:    12345 kB\nbroken: x kB\nlast 7"
	for word, want := range map[string]int64{"MemTotal:": 16, "MemAvailable:": 12345, "last": 7,
		"broken:": -1, "Mem": -1} {
		if got, ok := numberAfter(text, word); ok != (want >= 0) || ok && got != want {
			t.Errorf("%s: %d %v", word, got, ok)
		}
	}
}

// A reservation is refused if it exceeds the available memory, or the margin does.
func TestReservationLimits(t *testing.T) {
	left, who := availableMemory()
	if left <= 0 || who == "" {
		t.Fatalf("%d bytes left by %q", left, who)
	}
	if err := checkReservation(1, 0); err != nil {
		t.Error(err)
	}
	err := checkReservation(math.MaxInt64/2, 0)
	if !errors.Is(err, transport.ErrNoMemory) || !strings.Contains(err.Error(), "iB left") {
		t.Errorf("%v", err)
	}
	if err := checkReservation(1, left+1<<40); !errors.Is(err, transport.ErrNoMemory) {
		t.Errorf("within the margin: %v", err)
	}
}

// Places get smaller, stay aligned, and end with those for small address spaces.
func TestArenaPlaces(t *testing.T) {
	all := arenaPlaces(1<<40, testBase)
	if len(all) < 8 || all[0] != (arenaPlace{1 << 40, testBase}) {
		t.Fatalf("%+v", all)
	}
	if low := all[len(all)-len(lowPlaces):]; !slices.Equal(low, lowPlaces) ||
		low[1].base+uintptr(low[1].bytes) > 1<<38 ||
		low[2].base+uintptr(low[2].bytes) > 1<<37 {
		t.Errorf("where addresses have 42, 39 and 38 bits: %+v", low)
	}
	last := int64(math.MaxInt64)
	for _, p := range all[:len(all)-len(lowPlaces)] {
		if p.bytes > last || p.bytes < smallestArena || p.bytes%(2<<20) != 0 ||
			p.base < testBase || p.base%page != 0 {
			t.Errorf("%+v", p)
		}
		last = p.bytes
	}
	if got := arenaPlaces(smallestArena-1, testBase); len(got) != 0 {
		t.Errorf("too small an arena: %+v", got)
	}
	if got := arenaPlaces(300<<20+12345, testBase); len(got) == 0 || got[0].bytes != 300<<20 {
		t.Errorf("not whole huge pages: %+v", got)
	}
}

// The default margin is a share of a small machine; what was set is kept.
func TestMargin(t *testing.T) {
	if got := Margin(1<<60, true); got != 1<<60 {
		t.Errorf("a margin that was set became %d", got)
	}
	if got := Margin(1, false); got != 1 {
		t.Errorf("a small margin became %d", got)
	}
	if got := Margin(1<<60, false); got <= 0 || got > machineTotal()/8 {
		t.Errorf("the margin is %d of %d", got, machineTotal())
	}
}
