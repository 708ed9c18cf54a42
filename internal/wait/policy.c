// SPDX-License-Identifier: BSD-3-Clause
// The policy: how long a wait looks, whether it yields, when it sleeps, and what it learns for the
// next one. It reads no clock and calls nothing, so that a test can drive it in virtual time.
//
// A wait looks for as long as sleeping and being woken costs, and a fifth more: then it never costs
// more than 2.2 times as much as the better of the two. That time is halved by a wait that took
// longer, since sleeping at once would have been right, and is whole again as soon as one ends
// within it. So no history of waits keeps the policy from its best for more than one wait.
#include "wait.h"

static uint64_t get(const _Atomic uint64_t *w)
{
	return atomic_load_explicit(w, memory_order_relaxed);
}
static void set(_Atomic uint64_t *w, uint64_t v)
{
	atomic_store_explicit(w, v, memory_order_relaxed);
}

bool wait_crowd_yielded(struct wait_crowd *c, uint64_t took, uint64_t now)
{
	if (took < WAIT_LOST_SLICE)
		return false;
	uint64_t end = get(&c->end), next = 2 * get(&c->length);
	if (next == 0 || now > end + next)
		next = WAIT_FIRST_SPELL;
	next = next < WAIT_LONGEST_SPELL ? next : WAIT_LONGEST_SPELL;
	set(&c->length, next);
	set(&c->end, now + next);
	set(&c->calm, now);
	atomic_store_explicit(&c->waits, 0, memory_order_relaxed);
	return true;
}

// Two ranks of one core that wait for each other, and a third thread that computes there, take
// turns: it has had a slice within WAIT_CALM, and one of them has waited that long. If none has,
// the thread is gone.
void wait_crowd_waited(struct wait_crowd *c, uint64_t took, uint64_t now)
{
	if (!wait_crowded(c, now))
		return;
	if (took >= WAIT_LOST_SLICE) {
		set(&c->calm, now);
		atomic_store_explicit(&c->waits, 0, memory_order_relaxed);
		return;
	}
	uint32_t waits = atomic_fetch_add_explicit(&c->waits, 1, memory_order_relaxed) + 1;
	if (waits >= WAIT_CALM_WAITS && now - get(&c->calm) >= WAIT_CALM)
		set(&c->end, now);
}

void wait_policy_open(struct wait_policy *p, uint64_t wake, uint64_t spin)
{
	*p = (struct wait_policy){.spin = spin, .quick = 1, .own_yield = WAIT_MOST_OWN_YIELD};
	set(&p->wake, wake);
	set(&p->patience, wait_full(p));
}

void wait_policy_tune(struct wait_policy *p, uint32_t quick, uint64_t own_yield)
{
	p->quick = quick;
	p->quick_time = WAIT_QUICK;
	p->own_yield = own_yield;
}

void wait_begin(struct wait *w, enum wait_place place, uint64_t now)
{
	*w = (struct wait){.place = place, .begin = now, .now = now};
}

// The time in which no other thread has run here: what looking has cost.
static uint64_t looked(const struct wait *w) { return w->now - w->begin - w->shared; }

// A yield that runs no other thread is a look that takes longer, and counts as one. One that does
// run another costs the waiter nothing that it could use. Where the thread that is waited for may
// need this core, a waiter that yields gives it up as soon as that thread wants it.
static bool yields_on(const struct wait_policy *p, const struct wait *w, uint64_t patience)
{
	if (w->yields < WAIT_LEAST_YIELDS)
		return true;
	if (w->place == WAIT_FARAWAY)
		return looked(w) < WAIT_SHARED_CORE;
	if (p->spin == WAIT_CROWDED_SPIN && patience < WAIT_SHARED_CORE)
		patience = WAIT_SHARED_CORE;
	return w->ran_other || looked(w) < patience;
}

enum wait_next wait_next(const struct wait_policy *p, const struct wait *w)
{
	uint64_t patience = get(&p->patience);
	if (w->slept)
		return WAIT_SLEEP;
	if (w->place != WAIT_BESIDE && looked(w) < (patience < p->spin ? patience : p->spin))
		return WAIT_LOOK;
	if (wait_crowded(&p->crowd, w->now) || w->shared >= WAIT_SHARED ||
		!yields_on(p, w, patience))
		return WAIT_SLEEP;
	return WAIT_YIELD;
}

void wait_looked(struct wait *w, uint64_t now) { w->now = now; }

void wait_yielded(struct wait_policy *p, struct wait *w, uint64_t now)
{
	uint64_t took = now - w->now;
	w->now = now;
	w->yields++;
	w->ran_other = took >= p->own_yield;
	if (w->ran_other)
		w->shared += took;
	else if (w->place == WAIT_BESIDE) // the rank is not ready to run: it sleeps, or has moved
		w->place = WAIT_ELSEWHERE;
	wait_crowd_yielded(&p->crowd, took, now);
}

// What a wake-up costs depends on how deeply the core has slept, and on what else runs.
static void correct(struct wait_policy *p, uint64_t cost)
{
	uint64_t wake = get(&p->wake);
	if (cost < WAIT_LEAST_WAKE)
		cost = WAIT_LEAST_WAKE;
	else if (cost > WAIT_MOST_WAKE)
		cost = WAIT_MOST_WAKE;
	set(&p->wake, cost > wake ? wake + (cost - wake) / 4 : wake - (wake - cost) / 4);
}

void wait_slept(struct wait_policy *p, struct wait *w, uint64_t now, uint64_t rung)
{
	if (rung >= w->now && rung < now && p->quick_time > 0)
		correct(p, now - rung);
	w->now = now;
	w->slept = true;
}

// Would looking for as long as a wake-up costs have met the condition? A wait that slept was woken
// late by that cost. Where the condition was met by a thread that ran on this core meanwhile,
// looking was in vain, unless it was known to be there.
void wait_done(struct wait_policy *p, const struct wait *w)
{
	uint64_t took = w->now - w->begin, patience = get(&p->patience), full = wait_full(p);
	if (w->place == WAIT_BESIDE)
		wait_crowd_waited(&p->crowd, took, w->now);
	uint64_t least = WAIT_LEAST_PATIENCE;
	if (w->place == WAIT_FARAWAY) { // yields meet what a server brings as soon
		patience = w->yields == 0 && !w->slept ? full : patience / 2;
		least = WAIT_LEAST_FAR;
	} else if (w->shared > 0 && !w->slept) {
		if (w->place == WAIT_ELSEWHERE && p->spin == WAIT_ANY_SPIN)
			patience /= 2;
	} else if (took - w->shared <= full + get(&p->wake)) {
		patience = full;
	} else {
		patience /= 2;
	}
	if (patience < least)
		patience = full < least ? full : least;
	if (patience != get(&p->patience))
		set(&p->patience, patience);
}
