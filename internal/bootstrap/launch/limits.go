// SPDX-License-Identifier: BSD-3-Clause

// Limits of this process that are too low for the launcher and its ranks: said before Go, or a
// rank, fails by them. Only what cannot work is refused.

package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// What the launcher uses: descriptors and threads of its own, and at least for each rank. A rank
// needs rankThreads threads.
const (
	ownFiles     = 8
	rankFiles    = 2
	ownThreads   = 10
	rankThreads  = 16
	leastThreads = 6 // of a rank that has started
)

// checkLimits refuses ranks of this machine for which the limits of open files and of processes are
// too low.
func (o *Options) checkLimits() error {
	if len(o.Remote.Hosts) > 0 {
		return nil
	}
	if err := tooFewFiles(softLimit(unix.RLIMIT_NOFILE), o.Ranks); err != nil {
		return err
	}
	if os.Geteuid() == 0 {
		return nil // root has no limit of processes
	}
	most := softLimit(unix.RLIMIT_NPROC)
	if most == unix.RLIM_INFINITY {
		return nil
	}
	return tooFewThreads(most, threadsOf("/proc", os.Getuid()), o.Ranks)
}

func softLimit(what int) uint64 {
	var r unix.Rlimit
	if unix.Getrlimit(what, &r) != nil {
		return unix.RLIM_INFINITY
	}
	return r.Cur
}

func tooFewFiles(most uint64, ranks int) error {
	if most >= uint64(ownFiles+rankFiles*ranks) {
		return nil
	}
	return fmt.Errorf("%d ranks need more open files than the limit allows, which is %d: %s",
		ranks, most, moreFiles(ranks))
}

// moreFiles advises a limit that suffices for the launcher and for each rank.
func moreFiles(ranks int) string {
	return fmt.Sprintf("raise it to %d (ulimit -n)", 64+4*ranks)
}

// tooFewThreads is the error of a limit on the threads of a user, of which used exist, those of
// this process included.
func tooFewThreads(most uint64, used, ranks int) error {
	if most >= uint64(used+leastThreads*ranks+ownThreads) {
		return nil
	}
	enough := used + 2*ownThreads + rankThreads*ranks
	return fmt.Errorf("%d ranks need more processes and threads than the limit of this user "+
		"allows, which is %d, "+
		"of which %d are used: raise it to %d (ulimit -u)", ranks, most, used, enough)
}

// threadsOf counts the threads of a user.
func threadsOf(proc string, uid int) (n int) {
	files, _ := filepath.Glob(filepath.Join(proc, "[0-9]*", "status"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		owner, threads := -1, 0
		for line := range strings.Lines(string(text)) {
			switch f := strings.Fields(line); {
			case len(f) < 2:
			case f[0] == "Uid:":
				owner, _ = strconv.Atoi(f[1])
			case f[0] == "Threads:":
				threads, _ = strconv.Atoi(f[1])
			}
		}
		if owner == uid {
			n += threads
		}
	}
	return n
}

// explain adds to an error of starting a rank which limit it is about.
func explain(err error, ranks int) error {
	switch {
	case errors.Is(err, unix.EMFILE):
		return fmt.Errorf("%w: the limit of open files is %d: %s", err,
			softLimit(unix.RLIMIT_NOFILE),
			moreFiles(ranks))
	case errors.Is(err, unix.EAGAIN):
		used := threadsOf("/proc", os.Getuid())
		return fmt.Errorf("%w: the limit of processes and threads of this user is %d, of "+
			"which %d are used "+
			"(ulimit -u); each rank needs %d", err, softLimit(unix.RLIMIT_NPROC), used,
			rankThreads)
	}
	return err
}
