// SPDX-License-Identifier: BSD-3-Clause

// How long a data server polls before it sleeps. On which core, Migration decides.
//
//	polling has paid        the next round is longer, up to the setting
//	polling was in vain     half as long, then not at all
//	a sleep was short       polling would have been better: it begins again
//	the core is crowded     it does not poll at all (wait.Crowd)
package wait

import "time"

const (
	shortPoll    = 20 * time.Microsecond
	bytesPerNano = 4 // how fast a peer moves data before its next request
)

// Window is the time for which a server polls after an event. Its loop records what happens.
type Window struct {
	Longest time.Duration
	window  time.Duration
	moved   int // by the last event
}

// Patience is how long to poll after an event.
func (p *Window) Patience() time.Duration {
	if p.window == 0 {
		return 0
	}
	return p.window + time.Duration(p.moved/bytesPerNano)
}

// Event records that so many bytes have come: while polling, or behind a sleep.
func (p *Window) Event(moved int) {
	if moved == 0 {
		return
	}
	p.moved = moved
	if p.window > 0 {
		p.window = min(4*p.window, p.Longest)
	}
}

// InVain records that nothing came while it was polled.
func (p *Window) InVain() {
	if p.window /= 2; p.window < min(shortPoll, p.Longest)/16 {
		p.window = 0
	}
}

// Slept records how long a sleep was.
func (p *Window) Slept(d time.Duration) {
	if d < p.Longest+socketWake {
		p.window = max(p.window, min(shortPoll, p.Longest))
	}
}

// Crowded records that a program computes on the server's core.
func (p *Window) Crowded() { p.window = 0 }
