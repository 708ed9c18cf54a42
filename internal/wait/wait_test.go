// SPDX-License-Identifier: BSD-3-Clause

// What this machine's waits are believed to cost.
package wait

import (
	"testing"
	"time"
)

// TestCosts shows that the measured costs of waiting are plausible.
func TestCosts(t *testing.T) {
	begin := time.Now()
	wake := WakeCost()
	t.Logf("a wake-up costs %v (found in %v), %d looks half a microsecond, a yield up to %v "+
		"runs no other thread",
		wake, time.Since(begin), QuickLooks(), OwnYield())
	if wake < 10*time.Microsecond || wake > 100*time.Microsecond {
		t.Errorf("a wake-up is believed to cost %v", wake)
	}
	if looks := QuickLooks(); looks < 1 || looks > 500 {
		t.Errorf("%d looks are believed to take %v", looks, QuickTime)
	}
	if own := OwnYield(); own <= 0 || own > 2*time.Microsecond {
		t.Errorf("a yield of %v is believed to run no other thread", own)
	}
}
