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
	attentionDue                     // it will: the poller is in pollQueue.due
	attentionPaused                  // a caller has polled: it is in pollQueue.paused
)

// longestPause is the longest time for which a poller is left to a caller that has just polled,
// where deferred frames end the thread's sleep. Else a pause lasts a tick.
const longestPause = time.Millisecond

// pollQueue is what the progress thread polls for callers that do not wait.
type pollQueue struct {
	due    []*poller     // guarded by progressThread.mu
	paused pausedPollers // of the thread alone
}

// pausedPollers are the pollers that the progress thread leaves to callers until a pause is over.
type pausedPollers struct {
	pollers []*poller
	end     time.Time     // of the pause
	next    time.Duration // how long the next pause lasts
	tick    time.Duration // how long the shortest one lasts
	longest time.Duration
}

func (p *pausedPollers) init(tick time.Duration, alarm bool) {
	p.next, p.tick, p.longest = tick, tick, tick
	if alarm {
		p.longest = max(tick, longestPause)
	}
}

// maySleep reports whether there are any, and the thread may sleep until the pause is over.
func (p *pausedPollers) maySleep() bool { return len(p.pollers) > 0 && p.longest > p.tick }

// untilEnd returns how long the pause lasts; negative: there are no pollers.
func (p *pausedPollers) untilEnd() time.Duration {
	if len(p.pollers) == 0 {
		return -1
	}
	return max(time.Until(p.end), 0)
}

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
		h.polls.due = append(h.polls.due, p)
	}
	h.mu.Unlock()
	if due {
		h.wakeIfAsleep()
	}
}

// takeAttention empties the list of what to poll. The caller holds mu.
func (h *progressThread) takeAttention() (pollers []*poller) {
	pollers, h.polls.due = h.polls.due, nil
	for _, p := range pollers {
		p.attention = attentionNone
	}
	return pollers
}

// leaveToCaller leaves a poller to a caller that has just polled, until the pause is over. It locks
// mu.
func (h *progressThread) leaveToCaller(p *poller) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p.attention != attentionNone {
		return
	}
	p.attention = attentionPaused
	h.polls.paused.addPoller(p)
}

// addPoller begins a pause with the first poller. The pauses become longer while callers are found
// to have polled.
func (p *pausedPollers) addPoller(q *poller) {
	if p.pollers = append(p.pollers, q); len(p.pollers) == 1 {
		p.end = time.Now().Add(p.next)
		p.next = min(2*p.next, p.longest)
	}
}

// endPause has those polled that were left to a caller, once the pause is over. It locks mu.
func (h *progressThread) endPause() {
	if h.polls.paused.untilEnd() != 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.polls.paused.pollers {
		if p.attention == attentionPaused {
			p.attention = attentionDue
			h.polls.due = append(h.polls.due, p)
		}
	}
	clear(h.polls.paused.pollers)
	h.polls.paused.pollers = h.polls.paused.pollers[:0]
}

// pollForAttention polls a source, unless a caller does, and arms the fabric's wake-up for further
// frames.
func (h *progressThread) pollForAttention(p *poller) {
	switch {
	case p.hasUnattended() && p.callerActive.Swap(false): // a caller is likely to poll soon
		if p.sleepers.Load() > 0 { // but a thread waits for what the caller may leave
			h.requestAttention(p)
		} else {
			h.leaveToCaller(p)
		}
		return
	case !p.tryAcquire():
		return
	}
	h.polls.paused.next = h.polls.paused.tick
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
