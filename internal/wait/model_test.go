// SPDX-License-Identifier: BSD-3-Clause

// A model of a waiter's core in virtual time. It drives the policy, the same C code that waits use,
// through sequences of waits, and compares what they cost with the best choice that is the same for
// all waits of the sequence.
package wait

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const (
	modelWake  = 20 * time.Microsecond // what sleeping and being woken costs
	modelYield = 400 * time.Nanosecond // a yield that runs no other thread
	// what a yield to another thread costs beside its time
	modelSwitch   = time.Microsecond
	modelSlice    = 3 * time.Millisecond // a yield to a thread that computes
	modelQuick    = QuickTime
	modelOwnYield = 2 * modelYield // a longer one has run another thread
)

// situation is what one wait meets.
type situation struct {
	// when the condition is met, if nothing keeps the peer from it; beside: what the peer has
	// to do
	after  time.Duration
	beside bool          // the peer runs on the waiter's core
	hidden bool          // the waiter does not know that
	hog    bool          // another program computes on the waiter's core
	slice  time.Duration // a yield to it takes so long, if not modelSlice
}

// chooser says what to do in one wait.
type chooser interface {
	begin(s situation, now time.Duration)
	next() Action
	did(a Action, now time.Duration) // an action has ended
	done(now time.Duration)
}

// machine has a clock. wake is what a wake-up costs, if not modelWake. cost is time in which the
// waiter kept its core busy in vain, and time by which it went on late.
type machine struct{ now, cost, wake time.Duration }

// wait carries out one wait.
func (m *machine) wait(c chooser, s situation) {
	met := m.now + s.after // beside: what the peer has done so far moves it
	c.begin(s, m.now)
	for {
		a := c.next()
		switch begin := m.now; {
		case a == NextLook && s.beside: // the peer cannot run
			m.now += modelQuick
			m.cost += modelQuick
			met += modelQuick
		case a == NextLook:
			m.now = min(m.now+modelQuick, max(met, m.now))
			m.cost += m.now - begin
		case a == NextYield && s.hog:
			slice := cmp.Or(s.slice, modelSlice)
			m.now += slice
			m.cost += min(slice, max(m.now-met, 0))
			if s.beside { // it takes its turn, too
				met = begin
			}
		case a == NextYield && s.beside:
			m.now = met + modelSwitch
			m.cost += modelSwitch
		case a == NextYield:
			m.now += modelYield
			m.cost += modelYield
		default:
			wake := cmp.Or(m.wake, modelWake)
			m.now = max(met, m.now) + wake
			m.cost += wake
		}
		c.did(a, m.now)
		if m.now >= met {
			c.done(m.now)
			return
		}
	}
}

// learner is the policy.
type learner struct {
	Policy
	w     Wait
	quick bool // the looks before the first reading of the clock
	wake  time.Duration
}

func newLearner() *learner {
	l := &learner{}
	l.Open(modelWake, AnySpin)
	l.Tune(1, modelOwnYield)
	return l
}

func (l *learner) begin(s situation, now time.Duration) {
	place := Elsewhere
	if s.beside && !s.hidden {
		place = Beside
	}
	l.quick = place == Elsewhere
	l.w.Begin(place, now)
}

func (l *learner) next() Action {
	if l.quick {
		return NextLook
	}
	return l.w.Next(&l.Policy)
}

// did reports to the policy that an action has ended at the time now.
func (l *learner) did(a Action, now time.Duration) {
	switch {
	case a == NextLook:
		l.w.Looked(now)
	case a == NextYield:
		l.w.Yielded(&l.Policy, now)
	default:
		l.w.Slept(&l.Policy, now, now-cmp.Or(l.wake, modelWake))
	}
	if l.quick {
		l.quick = false
	}
}

func (l *learner) done(time.Duration) { l.w.Done(&l.Policy) }

// fixed looks for so long in every wait, yields so often, then sleeps.
type fixed struct {
	spin          time.Duration
	yields, count int
	began, now    time.Duration
}

func (f *fixed) begin(_ situation, now time.Duration) { f.began, f.now, f.count = now, now, 0 }
func (f *fixed) done(time.Duration)                   {}
func (f *fixed) did(a Action, now time.Duration) {
	f.now = now
	if a == NextYield {
		f.count++
	}
}

func (f *fixed) next() Action {
	switch {
	case f.count == 0 && f.now-f.began < f.spin:
		return NextLook
	case f.count < f.yields:
		return NextYield
	}
	return NextSleep
}

// best is the least that a fixed choice costs for a sequence.
func best(sequence []situation) (cost time.Duration, choice fixed) {
	for _, spin := range []time.Duration{0, 1, 2, 5, 10, 20, 40, 1000} {
		for _, yields := range []int{0, 1, 4, 100} {
			f, m := fixed{spin: spin * time.Microsecond, yields: yields}, machine{}
			for _, s := range sequence {
				m.wait(&f, s)
			}
			if cost == 0 || m.cost < cost {
				cost, choice = m.cost, fixed{spin: f.spin, yields: yields}
			}
		}
	}
	return cost, choice
}

// scenarios are the situations that a wait may be in for a long time.
var scenarios = map[string]func(g *rand.Rand) situation{
	"another core": func(g *rand.Rand) situation {
		return situation{after: between(g, 80,
			200)}
	},
	"far cores": func(g *rand.Rand) situation {
		return situation{after: between(g, 250,
			800)}
	},
	"some work": func(g *rand.Rand) situation {
		return situation{after: between(g, 1000,
			15000)}
	},
	"as long as a wake": func(g *rand.Rand) situation {
		return situation{after: between(g,
			15000, 25000)}
	},
	"computing": func(g *rand.Rand) situation {
		return situation{after: between(g,
			200e3, 5e6)}
	},
	"stopped": func(
		g *rand.Rand) situation {
		return situation{after: 50 * time.Millisecond}
	},
	"same core": func(g *rand.Rand) situation {
		return situation{after: between(g, 100, 2000), beside: true}
	},
	"same core, unknown": func(g *rand.Rand) situation {
		return situation{after: between(g, 100, 2000), beside: true, hidden: true}
	},
	"busy neighbours": func(g *rand.Rand) situation {
		if g.IntN(10) == 0 {
			return situation{after: between(g, 100, 1e6)}
		}
		return situation{after: between(g, 100, 3000)}
	},
	"a program here": func(g *rand.Rand) situation {
		return situation{after: between(g,
			100, 5000), hog: true}
	},
	"a program, long wait": func(g *rand.Rand) situation {
		return situation{after: between(g,
			1e5, 5e5), hog: true}
	},
	"short and long": func(g *rand.Rand) situation {
		if g.IntN(2) == 0 {
			return situation{after: between(g, 50, 500)}
		}
		return situation{after: between(g, 30e3, 300e3)}
	},
	"long, now and then short": func(g *rand.Rand) situation {
		if g.IntN(5) == 0 {
			return situation{after: between(g, 100, 10e3)}
		}
		return situation{after: between(g, 30e3, 60e3)}
	},
}

func names() []string { return slices.Sorted(maps.Keys(scenarios)) }

func between(g *rand.Rand, from, to float64) time.Duration {
	return time.Duration(from + g.Float64()*(to-from))
}

const modelBound = 2.2

// Each scenario for a long time: what is learned at the start does not count much, and neither does
// it here.
func TestNearTheBest(t *testing.T) {
	for _, name := range names() {
		g, draw := rand.New(rand.NewPCG(1, 2)), scenarios[name]
		sequence := make([]situation, 2000)
		for i := range sequence {
			sequence[i] = draw(g)
		}
		checkNearBest(t, name, sequence)
	}
}

// checkNearBest compares what a sequence costs with the best choice in hindsight that is the same
// for all.
func checkNearBest(t *testing.T, name string, sequence []situation) {
	t.Helper()
	l, m := newLearner(), machine{}
	for _, s := range sequence {
		m.wait(l, s)
	}
	least, choice := best(sequence)
	ratio := float64(m.cost) / float64(least)
	t.Logf("%-24s %5.2f of the best: look for %v, yield %d times", name, ratio, choice.spin,
		choice.yields)
	if ratio > modelBound {
		t.Errorf("%s: waits cost %.2f times as much as with the best fixed choice (look "+
			"for %v, yield %d times)",
			name, ratio, choice.spin, choice.yields)
	}
}
