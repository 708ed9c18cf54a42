// SPDX-License-Identifier: BSD-3-Clause

// How long a device retries.
package verbs

import (
	"testing"
	"time"
)

// TestRetryExponent: retries end before a host is given up, though a device may wait four times as
// long as its timeout.
func TestRetryExponent(t *testing.T) {
	for limit, want := range map[time.Duration]uint8{time.Second: 12, 10 * time.Second: 16,
		time.Hour: 18} {
		if got := retryExponent(limit); got != want {
			t.Errorf("%v: %d, expected %d", limit, got, want)
		}
	}
}
