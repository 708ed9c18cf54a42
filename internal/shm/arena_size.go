// SPDX-License-Identifier: BSD-3-Clause

// The size of the arena under the limits of the processes that map it (RLIMIT_AS, RLIMIT_FSIZE),
// and advice which limit to raise if that is too little. memory.go reads how much memory there is;
// join.go reserves addresses.
package shm

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"libarmci/internal/config"
)

// Address space that a process will need after it has joined its node: for threads that start
// later, and for Go's heap.
const (
	laterThreads = 12
	laterHeap    = int64(128 << 20)
	usualStack   = int64(2 << 20) // of a thread if the limit of stacks is infinite
)

// spaceLeft is the least address space, in bytes, that a rank of the node has left for the arena.
type spaceLeft struct {
	bytes int64 // unlimited if no rank has a limit
	local int   // the rank's local number
}

func rlimit(what int) int64 {
	var lim unix.Rlimit
	if unix.Getrlimit(what, &lim) != nil || lim.Cur > uint64(unlimited) {
		return unlimited
	}
	return int64(lim.Cur)
}

// ownSpaceLeft returns the bytes of address space that this process can give to the arena; negative
// if its own later needs exceed the limit.
func ownSpaceLeft() int64 {
	limit := rlimit(unix.RLIMIT_AS)
	if limit == unlimited {
		return unlimited
	}
	return limit - spaceUsed(limit) - laterHeap - laterThreads*stackBytes()
}

func stackBytes() int64 {
	if s := rlimit(unix.RLIMIT_STACK); s != unlimited {
		return s
	}
	return usualStack
}

// spaceUsed returns the bytes of this process's address space; half of the limit without /proc.
func spaceUsed(limit int64) int64 {
	text, _ := os.ReadFile("/proc/self/statm")
	pages, _, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseInt(pages, 10, 64)
	if err != nil {
		return limit / 2
	}
	return n * int64(os.Getpagesize())
}

// arenaBytes returns the size of the arena. Where the address space is limited, the ranks' shared
// memory and the private memory of one rank get equal shares of what is left, so an arena of n
// ranks gets n of n+1 shares.
func arenaBytes(o *Options, left spaceLeft) (int64, error) {
	n := int64(len(o.Ranks))
	least, err := leastArena(len(o.Ranks), o.World)
	if err != nil {
		return 0, err
	}
	bytes := o.Arena
	if bytes > left.bytes {
		bytes = max(left.bytes/(n+1)*n, min(least, left.bytes))
	}
	switch {
	case o.Arena < least:
		return 0, fmt.Errorf("an arena of %s is too small for %d ranks, which need %s; "+
			"set ARMCI_SHM_ARENA to more", config.SizeText(o.Arena), n,
			config.SizeText(least))
	case bytes < least:
		return 0, noAddressSpace(o, left, least)
	}
	return underFileLimit(o, bytes, least)
}

// leastArena returns the size of the smallest arena for so many ranks.
func leastArena(ranks, world int) (int64, error) {
	var err error
	for bytes := smallestArena; bytes < 1<<46; bytes += bytes / 4 &^ (2<<20 - 1) {
		if _, err = planOf(bytes, ranks, world); err == nil {
			return bytes, nil
		}
	}
	return 0, err
}

// noAddressSpace returns the error of a limit that leaves less than the smallest arena, with
// advice.
func noAddressSpace(o *Options, left spaceLeft, least int64) error {
	why := fmt.Sprintf("the limit of address space of rank %d leaves %s for the memory that "+
		"the ranks of "+
		"its node share, which needs %s at least", o.Ranks[left.local],
		config.SizeText(max(left.bytes, 0)), config.SizeText(least))
	missing := least - left.bytes + laterHeap // what is left varies from one start to the next
	limit := rlimit(unix.RLIMIT_AS)
	if limit == unlimited { // the leader knows its own limit only
		return fmt.Errorf("%s; raise it by %s (ulimit -v)", why,
			config.SizeText(roundUp(missing)))
	}
	return fmt.Errorf("%s; %s", why, raiseSpace(limit, missing))
}

// raiseSpace advises to raise the limit of address space.
func raiseSpace(limit, missing int64) string {
	to := roundUp(limit + missing)
	return fmt.Sprintf("raise the limit of address space, which is %s, to %s (ulimit -v %d)",
		config.SizeText(limit), config.SizeText(to), to>>10)
}

// raiseFile advises to raise the limit of file size. Shells count it in different units.
func raiseFile(limit, to int64) string {
	return fmt.Sprintf("raise the limit of file size, which is %s (ulimit -f), to %s",
		config.SizeText(limit), config.SizeText(roundUp(to)))
}

// roundUp rounds up to a size that SizeText shows exactly.
func roundUp(bytes int64) int64 {
	step := int64(1 << 20)
	if bytes >= 1<<30-step {
		step = 1 << 29
	}
	return (bytes + step - 1) / step * step
}

// underFileLimit makes the arena smaller until its largest file has an allowed size: the kernel
// ends a process that makes a larger one.
func underFileLimit(o *Options, bytes, least int64) (int64, error) {
	limit := rlimit(unix.RLIMIT_FSIZE)
	for ; ; bytes = max(bytes/2, least) &^ (2<<20 - 1) {
		largest := int64(0)
		sizes, err := fileSizes(bytes, len(o.Ranks), o.World)
		for _, size := range sizes {
			largest = max(largest, size)
		}
		switch {
		case err != nil || largest <= limit:
			return bytes, err
		case bytes <= least:
			return 0, fmt.Errorf(
				"the memory that the ranks of a node share is files of memory, "+
					"of which the largest has %s at least; %s",
				config.SizeText(largest), raiseFile(limit, largest))
		}
	}
}

// moreSpace advises which limit or setting to raise if the slices of an arena, of slice bytes each,
// are too small by missing bytes.
func moreSpace(slice, missing int64, ranks int) string {
	space, file := rlimit(unix.RLIMIT_AS), rlimit(unix.RLIMIT_FSIZE)
	switch {
	case file != unlimited && (space == unlimited || slice > file/4):
		return raiseFile(file, slice+missing)
	case space != unlimited:
		return raiseSpace(space, missing*int64(ranks+1))
	}
	return "set ARMCI_SHM_ARENA to more"
}

// raiseFiles advises to raise the limit of open files if err says that the limit was reached; else
// it is empty. more is the number of files that were to be opened.
func raiseFiles(err error, more int) string {
	if !errors.Is(err, unix.EMFILE) {
		return ""
	}
	const others = 32 // standard streams, connections, what Go and the program have open
	return fmt.Sprintf("; raise the limit of open files, which is %d, to %d (ulimit -n)",
		rlimit(unix.RLIMIT_NOFILE), 2*more+others)
}
