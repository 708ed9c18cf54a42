// SPDX-License-Identifier: BSD-3-Clause

// The connections that are asked to go when there are too many, and the counts of them.
package internode

import (
	"fmt"
	"testing"
	"time"

	"libarmci/internal/transport"
)

// limitTest is a connLimit whose connections are numbers, in virtual time.
type limitTest struct {
	*connLimit[int]
	used map[int]uint32
	time time.Time
}

func newLimitTest(most int) *limitTest {
	b := &limitTest{used: map[int]uint32{}, time: time.Unix(1, 0)}
	b.connLimit = newConnLimit(most, func(i int) uint32 { return b.used[i] })
	b.now = func() time.Time { return b.time }
	return b
}

// addConns adds connections, and expects those that are asked to go.
func (b *limitTest) addConns(t *testing.T, from, to int, want ...int) {
	t.Helper()
	var asked []int
	for i := from; i < to; i++ {
		asked = append(asked, b.addConn(i)...)
	}
	if fmt.Sprint(asked) != fmt.Sprint(want) {
		t.Errorf("asked %v, expected %v", asked, want)
	}
}

// TestLimitAsksIdlestFirst shows that the connections that were idle for longest are asked to go,
// an eighth at once.
func TestLimitAsksIdlestFirst(t *testing.T) {
	b := newLimitTest(16)
	b.addConns(t, 0, 16)
	for i := range 16 {
		b.used[i]++
	}
	b.used[3]--
	b.used[9]--
	// an eighth less than there may be: the silent ones, then the oldest
	b.addConns(t, 16, 17, 3, 9, 0)
	b.addConns(t, 17, 18, 1) // those that were asked have time to go
	for i := range 18 {
		b.used[i]++
	}
	for _, i := range []int{3, 9, 0, 1} {
		b.removeConn(i)
	}
	if b.exceededNow.Load() {
		t.Error("14 of 16 are too many")
	}
	b.addConns(t, 18, 20)
	b.addConns(t, 20, 21, 2, 4, 5) // of equally silent ones the oldest
	if now, peak, exceeded, asked := b.counts(); now != 17 || peak != 18 || exceeded != 3 ||
		asked != 7 {
		t.Errorf("%d, %d, %d, %d", now, peak, exceeded, asked)
	}
}

// TestLimitAsksAgain shows that those that stay are asked again at growing intervals, and others
// before them.
func TestLimitAsksAgain(t *testing.T) {
	b := newLimitTest(1)
	b.addConns(t, 0, 1)
	b.addConns(t, 1, 2, 0)
	if list := b.chooseAgain(); list != nil {
		t.Errorf("asked %v at once", list)
	}
	var pauses []time.Duration
	for last := b.time; len(pauses) < 7; b.time = b.time.Add(askAgain / 10) {
		if list := b.chooseAgain(); list != nil {
			pauses, last = append(pauses, b.time.Sub(last)), b.time
		}
	}
	if pauses[0] != askAgain || pauses[6] < askRarely/2 || pauses[6] > 2*askRarely {
		t.Errorf("asked after %v", pauses)
	}
	b.removeConn(0)
	if b.time = b.time.Add(time.Hour); b.exceededNow.Load() || b.chooseAgain() != nil {
		t.Error("asked though there is only one")
	}
	b.addConns(t, 2, 3, 1)
}

// TestNoLimit shows that without a limit no connection is asked to go.
func TestNoLimit(t *testing.T) {
	b := newLimitTest(0)
	b.addConns(t, 0, 1000)
	if b.removeConn(5); b.exceededNow.Load() {
		t.Error("too many")
	}
}

// TestMostOrigins shows how many processes may connect to a data server.
func TestMostOrigins(t *testing.T) {
	for _, c := range []struct {
		nodes [][]transport.Rank
		want  int
	}{
		{[][]transport.Rank{{0}}, 0},
		{[][]transport.Rank{{0}, {1}}, 1},
		{[][]transport.Rank{{0, 1, 2}, {3}, {4, 5, 6, 7}}, 7},
		{[][]transport.Rank{{0, 1, 2}, {4, 5, 6, 7}}, 4},
	} {
		if got := mostOrigins(c.nodes); got != c.want {
			t.Errorf("%v: %d, expected %d", c.nodes, got, c.want)
		}
	}
}

// TestServersOfNodes shows which ranks of a node have data servers, and which ranks each of them
// acts for.
func TestServersOfNodes(t *testing.T) {
	nodes := [][]transport.Rank{{0, 1, 2}, {3}, {4, 5, 6, 7}}
	for _, c := range []struct {
		setting int
		want    []transport.Rank // by rank: the rank that runs its server
	}{
		{0, []transport.Rank{0, 0, 0, 3, 4, 4, 4, 4}},
		{1, []transport.Rank{0, 0, 0, 3, 4, 4, 4, 4}},
		{3, []transport.Rank{0, 1, 2, 3, 4, 5, 6, 4}},
		{ServersFor(0), []transport.Rank{0, 1, 2, 3, 4, 5, 6, 7}},
		{ServersFor(32), []transport.Rank{0, 1, 2, 3, 4, 5, 6, 7}},
		{ServersFor(16), []transport.Rank{0, 1, 0, 3, 4, 5, 4, 5}},
		{ServersFor(7), []transport.Rank{0, 0, 0, 3, 4, 4, 4, 4}},
	} {
		for n, ranks := range nodes {
			for local, rank := range ranks {
				o := Options{Servers: c.setting,
					OpenInfo: transport.OpenInfo{Me: rank, MyNode: n,
						Nodes: nodes}}
				if got := o.serverOf(n, local); got != c.want[rank] {
					t.Errorf("%d servers: rank %d is served by rank %d, "+
						"expected %d", c.setting, rank, got, c.want[rank])
				}
				if got := o.serves(); got != (c.want[rank] == rank) {
					t.Errorf("%d servers: rank %d serves: %v", c.setting, rank,
						got)
				}
			}
		}
	}
}

// TestIdlePeriodAdapts shows that the idle period doubles after a release that was too early, and
// shrinks after one that was right.
func TestIdlePeriodAdapts(t *testing.T) {
	var q idlePeriod
	now := time.Unix(1, 0)
	for i := range 30 {
		q.releasedAt = now
		now = now.Add(time.Millisecond)
		q.recordReconnect(now)
		if want := min(minIdleTime<<(i+1), maxIdleTime); q.length() != want {
			t.Errorf("after %d times %v, expected %v", i+1, q.length(), want)
		}
	}
	for range 5 {
		q.releasedAt = now
		now = now.Add(time.Second)
		q.recordReconnect(now)
	}
	if q.length() != minIdleTime {
		t.Errorf("in the end %v", q.length())
	}
}
