// SPDX-License-Identifier: BSD-3-Clause

// Go's side of the policy: one call of C each. No rule is here.
package wait

// #include "wait.h"
// static inline uint64_t patience_of(struct wait_policy *p)
// {
// 	return atomic_load_explicit(&p->patience, memory_order_relaxed);
// }
// static inline void set_patience(struct wait_policy *p, uint64_t patience)
// {
// 	atomic_store_explicit(&p->patience, patience, memory_order_relaxed);
// }
// static inline void met(struct wait_policy *p) { wait_met(p); }
//
// #cgo nocallback wait_policy_open
// #cgo noescape wait_policy_open
// #cgo nocallback wait_policy_tune
// #cgo noescape wait_policy_tune
// #cgo nocallback patience_of
// #cgo noescape patience_of
// #cgo nocallback set_patience
// #cgo noescape set_patience
// #cgo nocallback met
// #cgo noescape met
// #cgo nocallback wait_crowd_yielded
// #cgo noescape wait_crowd_yielded
// #cgo nocallback wait_begin
// #cgo noescape wait_begin
// #cgo nocallback wait_next
// #cgo noescape wait_next
// #cgo nocallback wait_looked
// #cgo noescape wait_looked
// #cgo nocallback wait_yielded
// #cgo noescape wait_yielded
// #cgo nocallback wait_slept
// #cgo noescape wait_slept
// #cgo nocallback wait_done
// #cgo noescape wait_done
import "C"

import "time"

// Policy is what waits of one kind have learned. Open makes it usable; threads may share it.
type Policy struct{ c C.struct_wait_policy }

// Open sets what a wake-up costs, and how long a waiter looks at most before it yields.
func (p *Policy) Open(wake, spin time.Duration) {
	C.wait_policy_open(&p.c, C.uint64_t(wake), C.uint64_t(spin))
}

// Tune sets how many looks precede the first reading of the clock, and of what length a yield has
// run another thread.
func (p *Policy) Tune(quick int, ownYield time.Duration) {
	C.wait_policy_tune(&p.c, C.uint32_t(quick), C.uint64_t(ownYield))
}

// Patience is how long the next wait looks before it sleeps.
func (p *Policy) Patience() time.Duration { return time.Duration(C.patience_of(&p.c)) }

// Met ends a wait that needed no reading of the clock.
func (p *Policy) Met() { C.met(&p.c) }

// setPatience has the policy believe that the last waits were short or long. For tests.
func (p *Policy) setPatience(d time.Duration) { C.set_patience(&p.c, C.uint64_t(d)) }

// recordLostSlice has the policy believe that a yield which ended now has cost a time slice. For
// tests.
func (p *Policy) recordLostSlice(now time.Duration) {
	C.wait_crowd_yielded(&p.c.crowd, C.WAIT_LOST_SLICE, C.uint64_t(now))
}

// Place is where the awaited rank was last seen.
type Place = C.enum_wait_place

// Elsewhere, Beside and Faraway: see wait.h.
const (
	Elsewhere Place = C.WAIT_ELSEWHERE
	Beside    Place = C.WAIT_BESIDE
	Faraway   Place = C.WAIT_FARAWAY
)

// Action is what a waiter does next.
type Action = C.enum_wait_next

// NextLook, NextYield and NextSleep: see wait.h.
const (
	NextLook  Action = C.WAIT_LOOK
	NextYield Action = C.WAIT_YIELD
	NextSleep Action = C.WAIT_SLEEP
)

// Wait is one wait. Times are those of any clock that only goes forward.
type Wait struct{ c C.struct_wait }

// Begin starts a wait.
func (w *Wait) Begin(place Place, now time.Duration) { C.wait_begin(&w.c, place, C.uint64_t(now)) }

// Next says what to do until the condition is met.
func (w *Wait) Next(p *Policy) Action { return C.wait_next(&p.c, &w.c) }

// Looked records that the waiter has looked until now.
func (w *Wait) Looked(now time.Duration) { C.wait_looked(&w.c, C.uint64_t(now)) }

// Yielded records that a yield has ended.
func (w *Wait) Yielded(p *Policy, now time.Duration) { C.wait_yielded(&p.c, &w.c, C.uint64_t(now)) }

// Slept records that the waiter has been woken, by a thread that began to at rung; 0: not known.
func (w *Wait) Slept(p *Policy, now, rung time.Duration) {
	C.wait_slept(&p.c, &w.c, C.uint64_t(now), C.uint64_t(rung))
}

// yields is how often the waiter has yielded. For tests.
func (w *Wait) yields() int { return int(w.c.yields) }

// Done adapts the policy when the condition is met.
func (w *Wait) Done(p *Policy) { C.wait_done(&p.c, &w.c) }
