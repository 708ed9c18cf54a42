// SPDX-License-Identifier: BSD-3-Clause

// How long a data server polls before it sleeps. On which core, package cores decides.
//
//	polling has paid        the next round is longer, up to the setting
//	polling was in vain     half as long, then not at all
//	a sleep was short       polling would have been better: it begins again
//	somebody computes here  it does not poll at all (cores.Crowd)
package internode

import "time"

const (
	shortPoll    = 20 * time.Microsecond
	bytesPerNano = 4 // how fast a peer moves data before its next request
)

// pollPolicy decides; the loop tells what happens.
type pollPolicy struct {
	longest time.Duration
	window  time.Duration
	moved   int // by the last event
}

// patience is how long to poll after an event.
func (p *pollPolicy) patience() time.Duration {
	if p.window == 0 {
		return 0
	}
	return p.window + time.Duration(p.moved/bytesPerNano)
}

// event is told that something has come: while polling, or behind a sleep.
func (p *pollPolicy) event(moved int) {
	if moved == 0 {
		return
	}
	p.moved = moved
	if p.window > 0 {
		p.window = min(4*p.window, p.longest)
	}
}

// inVain is told that nothing came while it was polled.
func (p *pollPolicy) inVain() {
	if p.window /= 2; p.window < min(shortPoll, p.longest)/16 {
		p.window = 0
	}
}

// slept is told how long a sleep was.
func (p *pollPolicy) slept(d time.Duration) {
	if d < p.longest+wakeTime {
		p.window = max(p.window, min(shortPoll, p.longest))
	}
}

// crowded is told that somebody computes on the server's core.
func (p *pollPolicy) crowded() { p.window = 0 }
