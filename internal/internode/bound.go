// SPDX-License-Identifier: BSD-3-Clause

// A goal for the number of connections, of a data server's origins and of an origin's targets: when
// there are more, those that have been silent for longest are asked to go, an eighth at once, so
// that not every new connection costs an old one. No origin is refused: while all are busy there
// are more. How often a connection is used is counted by others; here it is looked at only when the
// number comes near the goal, which jobs of usual size never do.
package internode

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// askAgain is how long an origin that was asked has time to go. Then others are asked, or, if there
// are none, the same again: more and more rarely, as long as none goes.
const (
	askAgain  = 100 * time.Millisecond
	askRarely = 2 * time.Second
)

// bound is the connections of a kind.
type bound[M comparable] struct {
	most int              // 0: any number
	uses func(M) uint32   // changes when it is used; any thread
	now  func() time.Time // time.Now, but in tests

	mu       sync.Mutex
	all      []*member[M]  // in the order in which they came
	patience time.Duration // until those are asked again that have not gone
	last     time.Time     // when it was seen to that there are not too many
	peak     int
	exceeded int         // how many came when there were as many as there should be
	asked    int         // so many were asked to go
	over     atomic.Bool // there are too many
}

type member[M comparable] struct {
	of     M
	seen   uint32    // uses, when it was last looked at
	silent int       // so often in turn it had not been used
	asked  time.Time // to go
}

func newBound[M comparable](most int, uses func(M) uint32) *bound[M] {
	return &bound[M]{most: most, uses: uses, now: time.Now, patience: askAgain}
}

// low is how many connections are left when some have gone.
func (b *bound[M]) low() int { return b.most - b.most/8 }

// join adds a connection, and returns those that should go for it.
func (b *bound[M]) join(m M) (ask []M) {
	if b.most == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	others := b.all
	b.all = append(b.all, &member[M]{of: m})
	b.peak = max(b.peak, len(b.all))
	if len(b.all) <= b.low() {
		return nil
	}
	if len(b.all) > b.most {
		b.exceeded++
	}
	return b.choose(others)
}

// leave removes one.
func (b *bound[M]) leave(m M) {
	if b.most == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = slices.DeleteFunc(b.all, func(x *member[M]) bool { return x.of == m })
	b.over.Store(len(b.all) > b.most)
	b.patience = askAgain
}

// again returns those that should go because those that were asked before have not, if it is time.
func (b *bound[M]) again() []M {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now().Sub(b.last) < b.patience {
		return nil
	}
	ask := b.choose(b.all)
	b.patience = min(2*b.patience, askRarely)
	return ask
}

// choose looks at some of the connections and returns those that should go. The caller has the
// lock.
func (b *bound[M]) choose(among []*member[M]) (ask []M) {
	now, going := b.now(), 0
	b.last = now
	var may []*member[M]
	for _, x := range among {
		if uses := b.uses(x.of); uses == x.seen {
			x.silent++
		} else {
			x.seen, x.silent = uses, 0
		}
		if !x.asked.IsZero() && now.Sub(x.asked) < b.patience {
			going++
		} else {
			may = append(may, x)
		}
	}
	b.over.Store(len(b.all) > b.most)
	if !b.over.Load() {
		return nil
	}
	slices.SortStableFunc(may,
		func(x, y *member[M]) int { return cmp.Compare(y.silent, x.silent) })
	for _, x := range may[:min(max(len(b.all)-b.low()-going, 0), len(may))] {
		x.asked = now
		b.asked++
		ask = append(ask, x.of)
	}
	return ask
}

// counts tells how many connections there are, there were at most, came beyond the goal, and were
// asked to go.
func (b *bound[M]) counts() (now, peak, exceeded, asked int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.all), b.peak, b.exceeded, b.asked
}
