// SPDX-License-Identifier: BSD-3-Clause

// Looking at processes that a test started, or that its ranks started.

package leaktest

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// State returns the letter that /proc shows for a process (R, S, T, Z, ...), ""
// if there is none.
func State(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	afterName := text[bytes.LastIndexByte(text, ')')+1:]
	return strings.Fields(string(afterName))[0]
}

// AllEnd fails the test unless every process ends within a short time, and ends
// what is left. Zombies count as ended: where process 1 is no init, orphans stay so.
func AllEnd(t testing.TB, pids []int) {
	t.Helper()
	end := time.Now().Add(patience)
	for _, pid := range pids {
		for s := State(pid); s != "" && s != "Z"; s = State(pid) {
			if time.Now().After(end) {
				t.Errorf("process %d is still there, in state %s", pid, s)
				syscall.Kill(pid, syscall.SIGKILL)
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}
