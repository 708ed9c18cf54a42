// SPDX-License-Identifier: BSD-3-Clause

//go:build simulation

// Channels that wake a thread, in a simulation (package simulate): signal and awaitSignal are as in
// wake.go.
package pipe

import (
	"time"

	"libarmci/internal/testutil/simulate"
)

func signal(wakeUp chan struct{}) { simulate.TrySend(wakeUp, struct{}{}) }

func awaitSignal(wakeUp chan struct{}, limit time.Duration, until time.Time) {
	if !until.IsZero() {
		if left := max(simulate.Until(until), 0); limit < 0 || left < limit {
			limit = left
		}
	}
	simulate.RecvWithin(wakeUp, limit)
}
