// SPDX-License-Identifier: BSD-3-Clause

// The files of an arena: one for each rank's slice, at the same address everywhere, with the pages
// that are allocated and no others; and what a rank that cannot take or write them does to the job.
package shm

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"libarmci/internal/testutil/leaktest"
)

// mappedFiles lists "range offset inode" of the arena's files in this process.
func mappedFiles(r *rank) []string {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		r.Fatal(err)
	}
	var all []string
	for line := range strings.Lines(string(maps)) {
		if f := strings.Fields(line); len(f) > 5 &&
			strings.HasPrefix(f[5], "/memfd:armci") {
			all = append(all, strings.Join([]string{f[0], f[2], f[4]}, " "))
		}
	}
	return all
}

// openFiles counts the arena's files that this process has open.
func openFiles(r *rank) int {
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		r.Fatal(err)
	}
	n := 0
	for _, l := range links {
		if to, _ := os.Readlink(l); strings.Contains(to, "memfd:armci") {
			n++
		}
	}
	return n
}

// pagesHeld returns the bytes of pages that the file of this rank's slice has.
func pagesHeld(r *rank) int64 {
	var st unix.Stat_t
	if err := unix.Fstat(r.sliceFD, &st); err != nil {
		r.Fatal(err)
	}
	return st.Blocks * 512
}

// files: each rank maps the same files, one a slice, holds its own open, and has no pages at first.
func files(r *rank) {
	mapped := mappedFiles(r)
	inodes := map[string]bool{}
	for _, m := range mapped {
		inodes[strings.Fields(m)[2]] = true
	}
	if n := len(r.order.Listeners) + 1; len(mapped) != n || len(inodes) != n {
		r.Errorf("%d files at %d places, expected %d: %q", len(inodes), len(mapped), n,
			mapped)
	}
	bounds := r.alloc.bounds
	if own := fmt.Sprintf("%x-%x 00000000 ", bounds.lo, bounds.hi); !strings.Contains(
		strings.Join(mapped, "\n"), own) {
		r.Errorf("no file is just this rank's slice, %q: %q", own, mapped)
	}
	if n := openFiles(r); n != 1 {
		r.Errorf("%d files are still open, expected this rank's own", n)
	}
	h := fnv.New64()
	h.Write([]byte(strings.Join(mapped, "\n")))
	for from, sum := range share(r, h.Sum64()) {
		if sum != h.Sum64() {
			r.Errorf("local rank %d maps other files", from)
		}
	}
	holds(r, 0)
	keptPages(r)
}

func holds(r *rank, want int64) {
	r.Helper()
	if got := pagesHeld(r); got != want {
		r.Errorf("the slice has %d bytes of pages, expected %d", got, want)
	}
}

// keptPages allocates so that one range has pages behind it and the next has lost them.
func keptPages(r *rank) {
	const small, large = 3*page + 1, 20 << 20 // large is more than Keep, and than a short call
	a, err := r.AllocatePopulated(small)
	if err != nil {
		r.Fatal(err)
	}
	holds(r, 4*page)
	b, err := r.AllocatePopulated(large)
	if err != nil {
		r.Fatal(err)
	}
	holds(r, 4*page+large)
	r.Deallocate(b)
	holds(r, 4*page)
	r.Deallocate(a)
	holds(r, 4*page) // within Keep
}

func TestFiles(t *testing.T) {
	leaktest.Check(t)
	run(t, 3, "files")
}

// fileLimit: a program that forbids itself to write files can allocate as before.
func fileLimit(r *rank) {
	const n = 2 << 20
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE,
		&unix.Rlimit{Cur: page, Max: page}); err != nil {
		r.Fatal(err)
	}
	addr, err := r.AllocatePopulated(n)
	if err != nil {
		r.Fatal(err)
	}
	holds(r, n)
	for i, b := range at(addr, n) {
		if b != 0 {
			r.Fatalf("new memory has %#x at %d", b, i)
		}
	}
	r.Deallocate(addr)
}

func TestFileLimit(t *testing.T) {
	leaktest.Check(t)
	run(t, 2, "file limit")
}

// fewDescriptors: local rank 1 has no room for the files that the leader hands it.
func fewDescriptors(r *rank) {
	if r.order.Self == 1 {
		// the lowest that is free: the connection to the leader and some of the files fit
		next, err := unix.Dup(0)
		if err != nil {
			r.Fatal(err)
		}
		unix.Close(next)
		most := unix.Rlimit{Cur: uint64(next) + 4, Max: uint64(next) + 4}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &most); err != nil {
			r.Fatal(err)
		}
	}
	failToJoin(r)
}

// A member that cannot receive the files makes every rank fail with a reason.
func TestTooFewDescriptors(t *testing.T) {
	leaktest.Check(t)
	all := launch(t, 3, "few descriptors", nil)
	for i, want := range []string{"cannot map the 4 files of the arena (EOF)",
		"did not come; raise the limit of open files",
		"take the arena from rank"} {
		if got := all[i].readLine(t); !strings.Contains(got, want) {
			t.Errorf("local rank %d: %q, expected %q", i, got, want)
		}
	}
	for _, p := range all {
		p.awaitExit(t, false)
	}
}
