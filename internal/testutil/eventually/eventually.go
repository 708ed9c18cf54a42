// SPDX-License-Identifier: BSD-3-Clause

// Package eventually waits, in tests, for what nothing announces: a counter, a state. Where there
// is a channel, a condition or a source, a test waits for that.
package eventually

import (
	"testing"
	"time"
)

// limit is long enough for a machine that does much else.
const limit = 20 * time.Second

// True waits until cond is true. If that takes too long, the test ends with the message.
func True(t testing.TB, cond func() bool, format string, args ...any) {
	t.Helper()
	for end := time.Now().Add(limit); !cond(); time.Sleep(50 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf(format, args...)
		}
	}
}
