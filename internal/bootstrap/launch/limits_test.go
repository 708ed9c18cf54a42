// SPDX-License-Identifier: BSD-3-Clause

// Limits that are too low are named with the value that suffices.

package launch

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A limit of files or threads that is too low is reported, with one that suffices.
func TestLimits(t *testing.T) {
	raise := regexp.MustCompile(`which is (\d+).* raise it to (\d+) \(ulimit -[nu]\)`)
	for _, ranks := range []int{1, 16, 100} {
		files := func(most uint64) error { return tooFewFiles(most, ranks) }
		threads := func(most uint64) error { return tooFewThreads(most, 7, ranks) }
		for _, check := range []func(uint64) error{files, threads} {
			err := check(5)
			if err == nil {
				t.Fatalf("5 for %d ranks", ranks)
			}
			m := raise.FindStringSubmatch(err.Error())
			if m == nil || m[1] != "5" {
				t.Fatal(err)
			}
			most, _ := strconv.ParseUint(m[2], 10, 64)
			if err := check(most); err != nil {
				t.Errorf("as advised: %v", err)
			}
		}
	}
	if n := threadsOf("/proc", os.Getuid()); n < 2 {
		t.Errorf("this process and others of its user have %d threads", n)
	}
}

// An error of the system because of a limit names the limit.
func TestExplain(t *testing.T) {
	for err, word := range map[error]string{unix.EMFILE: "(ulimit -n)",
		unix.EAGAIN: "(ulimit -u)"} {
		if got := explain(&os.PathError{Op: "fork/exec", Path: "x", Err: err},
			4); !strings.Contains(got.Error(), word) {
			t.Errorf("%v", got)
		}
	}
}
