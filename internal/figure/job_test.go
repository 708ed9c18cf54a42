// SPDX-License-Identifier: BSD-3-Clause

// Tests of a job that does not end by itself, and of one with long lines.

package figure

import (
	"bufio"
	"errors"
	"testing"
	"time"
)

// TestLeftBehind has a launcher end by its limit although a process that it leaves behind has the
// other end of the pipe.
func TestLeftBehind(t *testing.T) {
	defer func(was time.Duration) { endTime = was }(endTime)
	endTime = 100 * time.Millisecond
	begun := time.Now()
	j := Job{Argv: []string{"sh", "-c", "trap '' INT; sleep 20 2>/dev/null & wait"},
		Limit: 200 * time.Millisecond}
	if _, err := j.Run(func(Row) {}); err == nil {
		t.Error("a job that was ended has no error")
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

// TestLongLines reads a figure behind a line of 100,000 bytes; a line that is too long is an error.
func TestLongLines(t *testing.T) {
	for bytes, want := range map[string]error{"100000": nil, "5000000": bufio.ErrTooLong} {
		figures, others := 0, 0
		j := Job{Argv: []string{"sh", "-c", "head -c " + bytes +
			" /dev/zero | tr '\\0' x; " +
			`printf '\nPERF\tget\t-\t8\t2\tns\t100\t50\n'`},
			Other: func(word, rest string) { others += len(word) }}
		_, err := j.Run(func(Row) { figures++ })
		if !errors.Is(err, want) || want == nil && (figures != 1 || others != 100000) {
			t.Errorf("%s bytes: %d figures, %d bytes, %v", bytes, figures, others, err)
		}
	}
}
