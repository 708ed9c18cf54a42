// SPDX-License-Identifier: BSD-3-Clause

// A goal for the number of connections, of a data server's origins and of an origin's targets. When
// there are more, those that have been idle for longest are asked to go, an eighth at once, so that
// not each new connection costs an old one. No connection is refused: while all are busy there are
// more than the goal. Others count how often a connection is used. The counts are read only when
// the number comes near the goal, which jobs of usual size never reach.
package internode

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// askAgain is how long an origin that was asked has time to go. Then others are asked, or, if there
// are none, the same again, at growing intervals as long as none goes.
const (
	askAgain  = 100 * time.Millisecond
	askRarely = 2 * time.Second
)

// connLimit is a goal for the number of connections of one kind. M is the other end.
type connLimit[M comparable] struct {
	limit       int              // 0: any number
	uses        func(M) uint32   // changes when the connection is used; any thread may call it
	now         func() time.Time // time.Now, except in tests
	exceededNow atomic.Bool      // there are more connections than limit

	mu         sync.Mutex    // guards the rest
	members    []*member[M]  // in the order in which they connected
	patience   time.Duration // until members are asked again that have not gone
	chosenAt   time.Time     // when chooseIdle last ran
	peak       int           // most members at once
	exceeded   int           // members that connected when there were limit or more
	askedTotal int           // requests to go
}

// member is a connection that counts towards a connLimit, which guards it by its mu.
type member[M comparable] struct {
	conn        M
	seenUses    uint32    // uses when it was last looked at
	silentLooks int       // consecutive looks that found it unused
	askedAt     time.Time // when it was asked to go; zero: it was not
}

// newConnLimit returns a connLimit without members.
func newConnLimit[M comparable](most int, uses func(M) uint32) *connLimit[M] {
	return &connLimit[M]{limit: most, uses: uses, now: time.Now, patience: askAgain}
}

// lowMark returns how many connections are left when some have gone.
func (b *connLimit[M]) lowMark() int { return b.limit - b.limit/8 }

// addConn adds a connection. The caller asks those that it returns to go. It locks mu.
func (b *connLimit[M]) addConn(m M) (ask []M) {
	if b.limit == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	others := b.members
	b.members = append(b.members, &member[M]{conn: m})
	b.peak = max(b.peak, len(b.members))
	if len(b.members) <= b.lowMark() {
		return nil
	}
	if len(b.members) > b.limit {
		b.exceeded++
	}
	return b.chooseIdle(others)
}

// removeConn removes a connection. It locks mu.
func (b *connLimit[M]) removeConn(m M) {
	if b.limit == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.members = slices.DeleteFunc(b.members, func(x *member[M]) bool { return x.conn == m })
	b.exceededNow.Store(len(b.members) > b.limit)
	b.patience = askAgain
}

// chooseAgain returns further members that should go, because those that were asked before have not
// gone in time. It locks mu.
func (b *connLimit[M]) chooseAgain() []M {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now().Sub(b.chosenAt) < b.patience {
		return nil
	}
	ask := b.chooseIdle(b.members)
	b.patience = min(2*b.patience, askRarely)
	return ask
}

// chooseIdle looks at some members and returns those that should go. The caller holds mu.
func (b *connLimit[M]) chooseIdle(among []*member[M]) (ask []M) {
	now, going := b.now(), 0
	b.chosenAt = now
	var may []*member[M]
	for _, x := range among {
		if uses := b.uses(x.conn); uses == x.seenUses {
			x.silentLooks++
		} else {
			x.seenUses, x.silentLooks = uses, 0
		}
		if !x.askedAt.IsZero() && now.Sub(x.askedAt) < b.patience {
			going++
		} else {
			may = append(may, x)
		}
	}
	b.exceededNow.Store(len(b.members) > b.limit)
	if !b.exceededNow.Load() {
		return nil
	}
	slices.SortStableFunc(may,
		func(x, y *member[M]) int { return cmp.Compare(y.silentLooks, x.silentLooks) })
	for _, x := range may[:min(max(len(b.members)-b.lowMark()-going, 0), len(may))] {
		x.askedAt = now
		b.askedTotal++
		ask = append(ask, x.conn)
	}
	return ask
}

// counts returns how many connections there are, there were at most, came beyond the goal, and were
// asked to go.
func (b *connLimit[M]) counts() (now, peak, exceeded, asked int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.members), b.peak, b.exceeded, b.askedTotal
}
