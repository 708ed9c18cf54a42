// SPDX-License-Identifier: BSD-3-Clause

// A test of a job that does not end by itself.

package figure

import (
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
