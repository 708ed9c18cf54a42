// SPDX-License-Identifier: BSD-3-Clause

// A process that is killed at each named point of writing.
package checkpoint

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

const killMembers = 2

// killRanges is what the members save as a generation.
func killRanges(generation int) (all [][]Range) {
	for m := range killMembers {
		b := bytes.Repeat([]byte{byte(16*generation + m)}, 3*BlockBytes)
		all = append(all, []Range{{Mem: b[:2*BlockBytes]}, {Mem: b}})
	}
	return all
}

// A process that is killed at any point of writing leaves a generation that all members have: the
// new one if all have committed, else the one before.
func TestKilled(t *testing.T) {
	if at := os.Getenv("CHECKPOINT_KILL_AT"); at != "" {
		g := openGroup(t, os.Getenv("CHECKPOINT_PREFIX"), killMembers)
		for i := 1; i <= 4; i++ {
			if i == 4 {
				Point = func(point string, member int) {
					if fmt.Sprint(point, member) == at {
						syscall.Kill(os.Getpid(), syscall.SIGKILL)
					}
				}
			}
			g.write(t, killRanges(i))
		}
		t.Fatal("no such point")
	}
	for _, at := range []string{"begun0", "data0", "written0", "begun1", "data1", "written1",
		"committed0", "committed1"} {
		prefix := newPrefix(t)
		child := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		child.Env = append(os.Environ(), "CHECKPOINT_KILL_AT="+at,
			"CHECKPOINT_PREFIX="+prefix)
		out, err := child.CombinedOutput()
		if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); !ok ||
			status.Signal() != syscall.SIGKILL {
			t.Fatalf("%s: %v\n%s", at, err, out)
		}
		want := 3
		if at == "committed1" {
			want = 4
		}
		g := openGroup(t, prefix, killMembers)
		g.last = newestCommon(g)
		if g.last.Generation != uint64(want) {
			t.Errorf("killed at %s: generation %d is the newest of all, expected %d",
				at, g.last.Generation, want)
			continue
		}
		for m, ranges := range killRanges(want) {
			for i, r := range ranges {
				expect(t, g, m, i, r.Mem)
			}
		}
	}
}

// newestCommon is the newest generation that all members have.
func newestCommon(g *group) (newest Stamp) {
	for _, s := range g.pairs[0].Stamps() {
		other := g.pairs[1].Stamps()
		if s.Generation > newest.Generation && (s.Same(other[0]) || s.Same(other[1])) {
			newest = s
		}
	}
	return newest
}
