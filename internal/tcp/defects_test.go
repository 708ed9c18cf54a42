// SPDX-License-Identifier: BSD-3-Clause

// Defects of connections that go on over another socket: each is made in a copy of the code. The
// simulation has to find those of streams, the tests with cut sockets the others.
package tcp

import (
	"bytes"
	"errors"
	"flag"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"libarmci/internal/testutil/simulate/rewrite"
)

var defectsFlag = flag.Bool("defects", false, "TestDefectsOfReconnection looks for all")

// streamDefect is a change of a file of this package.
type streamDefect struct {
	name, file, old, new string
	isSimulated          bool // the simulation finds it
}

// defects are what must be found. docs/debugging.md has a table of them.
var defects = []streamDefect{
	{"bytes that the other side has received are sent again", "stream.go",
		"s.inSocket = received\n",
		"s.inSocket = received - min(56, uint64(len(s.unacked))-(s.end-received))\n", true},
	{"bytes that the other side lacks are not sent again", "stream.go",
		"s.inSocket = received\n", "s.inSocket = min(received+56, s.end)\n", true},
	{"bytes are freed that were not acknowledged", "kept.go",
		"old := max(min(left-n, len(s.unacked)), 0)",
		"old := max(min(left-n, len(s.unacked)), 0) / 2", true},
	{"new bytes overtake those that are sent again", "stream.go",
		"if err = s.sendAgain(); err != nil {",
		"if s.state != streamOpen {\n\t\treturn 0, unix.EAGAIN\n\t}\n\tif err != nil {",
		true},
	{"bytes are freed that are not in the socket yet", "kept.go",
		"left == 0 && s.inSocket == s.end {", "left == 0 {", true},
	{"bytes of several pieces are kept from a wrong place", "stream.go",
		"n, skip = n-size, max(skip-size, 0)", "n, skip = n-size, skip", true},
	{"bytes stay that were acknowledged", "kept.go",
		"old := max(min(left-n, len(s.unacked)), 0)", "old := len(s.unacked)", true},
	{"a server loses what has arrived", "parked.go", "\tc.rx.saveArrived()\n", "", true},
	{"a hello of an earlier outage is handled", "parked.go",
		"return at.received < last || at.received == last",
		"return at.received == last", true},
	{"a hello of the same outage is handled, after bytes were freed that it asks for",
		"parked.go", " || at.received == last && at.received < c.out.firstKept()", "",
		true},
	{"the other side is told of fewer bytes than have come", "reconnect.go",
		"received: e.rx.streamed,", "received: e.rx.streamed - min(e.rx.streamed, 8),",
		false},
	{"a cut connection is taken for one that was closed", "reconnect.go",
		"if !e.out.resumes || e.breakErr() != nil || e.rx.handler.Finished() {",
		"if !e.out.resumes || e.breakErr() != nil || cause == io.EOF {", false},
}

// TestDefectsOfReconnection checks that each defect is found within two minutes. Without -defects
// it looks for the first one alone.
func TestDefectsOfReconnection(t *testing.T) {
	for i, d := range defects {
		if i > 0 && !*defectsFlag {
			t.Log("all others only with -defects")
			break
		}
		t.Run(d.name, d.mustBeFound)
	}
}

// mustBeFound checks that a test fails with the defect.
func (d streamDefect) mustBeFound(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	list, err := rewrite.Patched(root, dir, rewrite.Patch{
		File: "internal/tcp/" + d.file, Old: d.old, New: d.new})
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "tcp.test")
	if err = rewrite.Compile(root, list, "internal/tcp", binary); err != nil {
		t.Fatal(err)
	}
	args := []string{"-test.run", "OverCutSockets", "-test.count", "40", "-test.failfast",
		"-test.timeout", "2m"}
	if d.isSimulated {
		args = []string{"-test.run", "TestSimulate$", "-first", "1", "-for", "2m",
			"-test.timeout", "3m"}
	}
	begin := time.Now()
	out, err := exec.Command(binary, args...).CombinedOutput()
	took := time.Since(begin).Round(100 * time.Millisecond)
	var failed *exec.ExitError
	if !errors.As(err, &failed) || bytes.Contains(out, timedOut) {
		t.Fatalf("it is not found: %v\n%s", err, out)
	}
	reason, seeds := firstLine.Find(out), seedsNeeded.FindSubmatch(out)
	switch {
	case reason == nil || d.isSimulated && seeds == nil:
		t.Fatalf("%v\n%s", err, out)
	case d.isSimulated:
		t.Logf("found after %s seeds, %v: %s", seeds[1], took, reason)
	default:
		t.Logf("found after %v: %s", took, reason)
	}
}

// seedsNeeded is in the report of a simulation that fails.
var seedsNeeded = regexp.MustCompile(`after (\d+) seeds`)

var timedOut = []byte("timed out after")

// firstLine is what a failed test says first.
var firstLine = regexp.MustCompile(
	`(?m)^.*(_test\.go:\d+: .*|panic: .*|fatal error: .*|SIG[A-Z]+: .*|Fatal.*)$`)
