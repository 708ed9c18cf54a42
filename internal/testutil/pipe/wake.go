// SPDX-License-Identifier: BSD-3-Clause

//go:build !simulation

// Channels that wake a thread: see wake_simulated.go for those of a simulation.
package pipe

import "time"

// signal ends awaitSignal of the channel, or the next one. The channel has room for one signal.
func signal(wakeUp chan struct{}) {
	select {
	case wakeUp <- struct{}{}:
	default:
	}
}

// awaitSignal blocks until a signal, for at most limit (negative: no limit), and until the time
// until, unless that is zero.
func awaitSignal(wakeUp chan struct{}, limit time.Duration, until time.Time) {
	if !until.IsZero() {
		if left := max(time.Until(until), 0); limit < 0 || left < limit {
			limit = left
		}
	}
	if limit < 0 {
		<-wakeUp
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-wakeUp:
	case <-timer.C:
	}
}
