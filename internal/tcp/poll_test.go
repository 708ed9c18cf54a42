// SPDX-License-Identifier: BSD-3-Clause

// How long a server polls.
package tcp

import (
	"testing"
	"time"
)

// After much data the server is patient, for its client takes time over them.
func TestPatience(t *testing.T) {
	p := poller{longest: 20 * time.Microsecond}
	p.paid(true)
	if got := p.patience(); got != p.longest {
		t.Errorf("polls for %v, not %v", got, p.longest)
	}
	p.moved = 1 << 20
	if got := p.patience(); got < 2*p.longest || got > time.Millisecond {
		t.Errorf("polls for %v after 1 MiB", got)
	}
}
