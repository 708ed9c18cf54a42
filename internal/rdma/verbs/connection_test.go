// SPDX-License-Identifier: BSD-3-Clause

// How long a device tries.
package verbs

import (
	"testing"
	"time"
)

// Retries end before a host is given up, though a device may take four times as long as it is told.
func TestRetryExponent(t *testing.T) {
	for limit, want := range map[time.Duration]uint8{time.Second: 12, 10 * time.Second: 16,
		time.Hour: 18} {
		if got := retryExponent(limit); got != want {
			t.Errorf("%v: %d, expected %d", limit, got, want)
		}
	}
}
