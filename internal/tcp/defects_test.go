// SPDX-License-Identifier: BSD-3-Clause

// Defects that the tests with cut sockets have to find: each is made in a copy of the code.
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

// defects are what must be found. docs/debugging.md has a table of them.
var defects = []struct{ name, file, old, new string }{
	{"bytes that the other side has received are sent again", "stream.go",
		"s.inSocket = received\n",
		"s.inSocket = received - min(56, uint64(len(s.unacked))-(s.end-received))\n"},
	{"bytes that the other side lacks are not sent again", "stream.go",
		"s.inSocket = received\n", "s.inSocket = min(received+56, s.end)\n"},
	{"bytes are freed that were not acknowledged", "kept.go",
		"old := max(min(left-n, len(s.unacked)), 0)",
		"old := max(min(left-n, len(s.unacked)), 0) / 2"},
	{"new bytes overtake those that are sent again", "stream.go",
		"if err = s.sendAgain(); err != nil {", "if s.state != streamOpen {"},
	{"the other side is told of fewer bytes than have come", "reconnect.go",
		"received: e.rx.streamed,", "received: e.rx.streamed - min(e.rx.streamed, 8),"},
	{"a cut connection is taken for one that was closed", "reconnect.go",
		"if !e.out.resumes || e.breakErr() != nil || e.rx.handler.Finished() {",
		"if !e.out.resumes || e.breakErr() != nil || cause == io.EOF {"},
}

// TestDefectsOfReconnection checks that each defect is found within two minutes. Without -defects
// it looks for the first one alone.
func TestDefectsOfReconnection(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range defects {
		if i > 0 && !*defectsFlag {
			t.Log("all others only with -defects")
			break
		}
		t.Run(d.name, func(t *testing.T) {
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
			begin := time.Now()
			out, err := exec.Command(binary, "-test.run", "OverCutSockets",
				"-test.count", "40", "-test.failfast", "-test.timeout",
				"2m").CombinedOutput()
			var failed *exec.ExitError
			if !errors.As(err, &failed) || bytes.Contains(out, timedOut) {
				t.Fatalf("it is not found: %v\n%s", err, out)
			}
			t.Logf("found after %v: %s", time.Since(begin).Round(100*time.Millisecond),
				firstLine.Find(out))
		})
	}
}

var timedOut = []byte("timed out after")

// firstLine is what a failed test says first.
var firstLine = regexp.MustCompile(`(?m)^.*(_test\.go:\d+: .*|panic: .*|Fatal.*)$`)
