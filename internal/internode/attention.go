// SPDX-License-Identifier: BSD-3-Clause

// Answers and messages that no caller waits for: the progress thread polls for them. While a caller
// polls anyway, since it waits for something else, the thread leaves it to the caller, and looks
// again after a pause. A thread that looked at each tick would take a tenth of a core, and more
// from a data server that shares it.
package internode

import "time"

// attention is whether the progress thread polls a source.
type attention uint8

const (
	attentionNone   attention = iota // it does not
	attentionDue                     // it will: the poller is in progressThread.attention
	attentionPaused                  // a caller has polled: it is in progressThread.paused
)

// longestPause is the longest time for which a poller is left to a caller that has just polled,
// where deferred frames end the thread's sleep. Else a pause lasts a tick.
const longestPause = time.Millisecond

// requestAttention has the thread poll a source: answers are due that no caller waits for. It locks
// mu.
func (h *progressThread) requestAttention(p *poller) { h.addAttention(p, attentionNone) }

// requestAttentionNow is requestAttention by a caller that polls no more. It locks mu.
func (h *progressThread) requestAttentionNow(p *poller) {
	p.callerActive.Store(false)
	h.addAttention(p, attentionPaused)
}

// addAttention has the thread poll a source that has no attention yet, or the given one.
func (h *progressThread) addAttention(p *poller, from attention) {
	h.mu.Lock()
	due := p.attention == attentionNone || p.attention == from
	if due {
		p.attention = attentionDue
		h.attention = append(h.attention, p)
	}
	h.mu.Unlock()
	if due {
		h.wakeIfAsleep()
	}
}

// takeAttention empties the list of what to poll. The caller holds mu.
func (h *progressThread) takeAttention() (pollers []*poller) {
	pollers, h.attention = h.attention, nil
	for _, p := range pollers {
		p.attention = attentionNone
	}
	return pollers
}

// leaveToCaller leaves a poller to a caller that has just polled, until the pause is over. The
// pauses become longer while a caller is found to have polled.
func (h *progressThread) leaveToCaller(p *poller) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.attention != attentionNone {
		return
	}
	p.attention = attentionPaused
	if h.paused = append(h.paused, p); len(h.paused) == 1 {
		h.pauseEnd = time.Now().Add(h.pause)
	}
	h.pause = min(2*h.pause, h.longestPause)
}

// untilPauseEnd returns how long the thread leaves pollers to callers; negative: there are none. Of
// the thread alone.
func (h *progressThread) untilPauseEnd() time.Duration {
	if len(h.paused) == 0 {
		return -1
	}
	return max(time.Until(h.pauseEnd), 0)
}

// endPause has those polled that were left to a caller, once the pause is over. It locks mu.
func (h *progressThread) endPause() {
	if h.untilPauseEnd() != 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.paused {
		if p.attention == attentionPaused {
			p.attention = attentionDue
			h.attention = append(h.attention, p)
		}
	}
	clear(h.paused)
	h.paused = h.paused[:0]
}

// pollForAttention polls a source, unless a caller does, and arms the fabric's wake-up for further
// frames.
func (h *progressThread) pollForAttention(p *poller) {
	switch {
	case p.hasUnattended() && p.callerActive.Swap(false): // a caller is likely to poll soon
		h.leaveToCaller(p)
		return
	case !p.tryAcquire():
		return
	}
	h.pause = h.t.info.Tick
	more := p.pollUntilEmpty()
	if p.hasUnattended() && !more {
		h.t.fabric.Attend(p.src)
		more = p.pollUntilEmpty() // Attend tells nothing of earlier frames
	}
	p.handOver()
	if more {
		h.requestAttention(p)
	}
}

// pollUntilEmpty polls until no frame comes. It returns true if more may come, after maxPolls. The
// caller owns the poller.
func (p *poller) pollUntilEmpty() (more bool) {
	for range maxPolls {
		if p.poll(1) == 0 {
			return false
		}
	}
	return true
}
