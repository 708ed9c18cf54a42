// SPDX-License-Identifier: BSD-3-Clause

// The size of the arena under limits of address space and file size, and what to raise: the advice
// must suffice.
package shm

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"libarmci/internal/transport"
)

func ranksOf(n int) *Options {
	o := &Options{World: n, MemoryOptions: MemoryOptions{Arena: 16 << 40}}
	for i := range n {
		o.Ranks = append(o.Ranks, transport.Rank(i))
	}
	return o
}

// The ranks' limits leave little: the arena follows, and its files still hold memory for every
// rank.
func TestArenaUnderSpaceLimit(t *testing.T) {
	for _, n := range []int{1, 4, 16, 64} {
		o := ranksOf(n)
		least, err := leastArena(n, n)
		if err != nil {
			t.Fatal(err)
		}
		for _, left := range []int64{least, 2 * least, 1 << 34, 1 << 40} {
			if left < least {
				continue
			}
			bytes, err := arenaBytes(o, spaceLeft{bytes: left})
			if err != nil || bytes > left || bytes < min(least, left/2) {
				t.Errorf("%d ranks, %d bytes left: an arena of %d, %v", n, left,
					bytes, err)
			}
			if _, err := planOf(bytes, n, n); err != nil {
				t.Errorf("%d ranks, %d bytes left: %v", n, left, err)
			}
		}
		if bytes, err := arenaBytes(o, spaceLeft{bytes: unlimited}); err != nil ||
			bytes != o.Arena {
			t.Errorf("without a limit: %d, %v", bytes, err)
		}
	}
	if least, _ := leastArena(16, 16); least > 400<<20 {
		t.Errorf("16 ranks need %d MiB", least>>20)
	}
}

// An arena that was set is taken as it is where it fits.
func TestConfiguredArenaIsKept(t *testing.T) {
	o := ranksOf(4)
	o.Arena = 1 << 30
	if bytes, err := arenaBytes(o, spaceLeft{bytes: 1<<30 + 1<<20}); err != nil ||
		bytes != 1<<30 {
		t.Errorf("%d, %v", bytes, err)
	}
}

func limitTo(t *testing.T, what int, limit uint64) {
	var old unix.Rlimit
	if err := unix.Getrlimit(what, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(what, &unix.Rlimit{Cur: limit, Max: old.Max}); err != nil {
		t.Skipf("the limit cannot be set here: %v", err)
	}
	t.Cleanup(func() { unix.Setrlimit(what, &old) })
}

// The limit to which the advice raises is enough for the arena.
func TestAdvisedSpace(t *testing.T) {
	used := spaceUsed(0)
	if used == 0 {
		t.Skip("no /proc")
	}
	const limit = 1 << 36 // high enough for this process
	limitTo(t, unix.RLIMIT_AS, limit)
	own := ownSpaceLeft()
	if own <= 0 || own >= limit-used {
		t.Fatalf("%d of %d bytes are left beside %d", own, int64(limit), used)
	}
	o := ranksOf(16)
	_, err := arenaBytes(o, spaceLeft{100 << 20, 3})
	if err == nil || !strings.Contains(err.Error(),
		"the limit of address space of rank 3 leaves 100 MiB") {
		t.Fatal(err)
	}
	to := regexp.MustCompile(`which is 64 GiB, to .* \(ulimit -v (\d+)\)`).FindStringSubmatch(
		err.Error())
	if to == nil {
		t.Fatal(err)
	}
	kib, _ := strconv.ParseInt(to[1], 10, 64)
	if bytes, err := arenaBytes(o, spaceLeft{100<<20 + kib<<10 - limit, 3}); err != nil {
		t.Errorf("as advised: %d, %v", bytes, err)
	}
}

// Files of the arena stay below the limit of file size, or the advice names that limit.
func TestArenaUnderFileLimit(t *testing.T) {
	o := ranksOf(4)
	least, _ := leastArena(4, 4)
	limitTo(t, unix.RLIMIT_FSIZE, 1<<30)
	bytes, err := arenaBytes(o, spaceLeft{bytes: unlimited})
	if err != nil || bytes < 2<<30 {
		t.Fatalf("%d, %v", bytes, err)
	}
	sizes, _ := fileSizes(bytes, 4, 4)
	for _, size := range sizes {
		if size > 1<<30 {
			t.Errorf("files of %d bytes", sizes)
		}
	}
	for _, limit := range []uint64{0, 1 << 20} {
		limitTo(t, unix.RLIMIT_FSIZE, limit)
		_, err := arenaBytes(o, spaceLeft{bytes: unlimited})
		if err == nil || !strings.Contains(err.Error(), "raise the limit of file size") ||
			strings.Contains(err.Error(), "TiB") {
			t.Fatalf("limit %d: %v", limit, err)
		}
		to := regexp.MustCompile(`\(ulimit -f\), to (\d+) MiB$`).FindStringSubmatch(
			err.Error())
		if to == nil {
			t.Fatal(err)
		}
		mib, _ := strconv.ParseUint(to[1], 10, 64)
		limitTo(t, unix.RLIMIT_FSIZE, mib<<20)
		if bytes, err := arenaBytes(o, spaceLeft{bytes: unlimited}); err != nil ||
			bytes < least {
			t.Errorf("as advised: %d, %v", bytes, err)
		}
	}
}

func TestRoundUp(t *testing.T) {
	for _, c := range [][2]int64{{1, 1 << 20}, {100 << 20, 100 << 20}, {1 << 30, 1 << 30},
		{1<<30 + 1, 3 << 29}} {
		if got := roundUp(c[0]); got != c[1] {
			t.Errorf("%d becomes %d, not %d", c[0], got, c[1])
		}
	}
}
