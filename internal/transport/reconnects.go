// SPDX-License-Identifier: BSD-3-Clause

// The lines that say that connections were lost and made again.
package transport

import (
	"fmt"
	"sync"
	"time"

	"libarmci/internal/log"
)

// Reconnects is how often a fabric's connections to each rank were made again. Its methods are safe
// for concurrent use.
type Reconnects struct {
	mu sync.Mutex // guards of
	of map[Rank]reconnectCount
}

// reconnectCount is that of one rank.
type reconnectCount struct {
	count  int
	saidAt time.Time // when a line has last said so
}

// reconnectPeriod is the time in which one line for each rank says that its connection was made
// again.
const reconnectPeriod = 10 * time.Second

// Note counts a connection that was lost by a cause and made again after some time, and says so.
func (r *Reconnects) Note(to Rank, host string, cause error, took time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.of[to]
	n.count++
	if n.count == 1 || time.Since(n.saidAt) > reconnectPeriod {
		so := ""
		if n.count > 1 {
			so = fmt.Sprintf(" (%d times so far)", n.count)
		}
		log.Warnf("connection to rank %d (host %s) was lost (%v) and made again after "+
			"%v%s", to, host, cause, took.Round(100*time.Microsecond), so)
		n.saidAt = time.Now()
	}
	if r.of == nil {
		r.of = map[Rank]reconnectCount{}
	}
	r.of[to] = n
}
