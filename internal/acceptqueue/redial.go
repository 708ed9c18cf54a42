// SPDX-License-Identifier: BSD-3-Clause

// The other end of a queue: a process of the job connects again if its connection was dropped
// before it had proved itself.

package acceptqueue

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"libarmci/internal/sys"
)

const (
	// of the first attempt, for the first message of the listener; each time half as much more
	firstPatience = 250 * time.Millisecond
	firstPause    = time.Millisecond // after the first attempt; doubled each time
	longestPause  = 50 * time.Millisecond
)

// Redial calls attempt until it succeeds, fails for good, or limit has passed. An attempt connects
// and proves itself. Until patience it may wait for the connection and for the first message of the
// listener. It must not wait longer: a SYN that finds the listener's backlog full is lost, and the
// kernel repeats it only after a second. stop ends the attempts early; it may be nil. The error is
// that of the last attempt which had at least the time of the first one.
func Redial(limit time.Duration, stop func() bool, attempt func(patience time.Time) error) error {
	begin := time.Now()
	pause, wait := firstPause, firstPatience
	var before error
	for n := 1; ; n++ {
		left := limit - time.Since(begin)
		err := attempt(time.Now().Add(min(wait, left)))
		if before != nil && left < firstPatience && isTimeout(err) {
			err = before // says more than an expired deadline
		}
		before = err
		took := time.Since(begin)
		switch {
		case err == nil || !MayBeDropped(err) || stop != nil && stop():
			return err
		case took+pause >= limit && n == 1:
			return err
		case took+pause >= limit:
			return fmt.Errorf("%w (the last of %d attempts in %v)", err, n,
				took.Round(time.Millisecond))
		}
		// processes that were dropped together do not all come together
		time.Sleep(pause/2 + rand.N(pause))
		wait, pause = min(wait+wait/2, limit), min(2*pause, longestPause)
	}
}

// MayBeDropped tells whether a connection that has not proved itself may have ended with this error
// because the listener had no room for it. Other errors, such as a refusal or a port where nothing
// listens, are final.
func MayBeDropped(err error) bool {
	for _, possible := range []error{os.ErrDeadlineExceeded,
		unix.EAGAIN, unix.ETIMEDOUT} { // EAGAIN: the backlog of a unix socket is full
		if errors.Is(err, possible) {
			return true
		}
	}
	return sys.ClosedByPeer(err) || isTimeout(err)
}

func isTimeout(err error) bool {
	timeout := net.Error(nil)
	return errors.As(err, &timeout) && timeout.Timeout()
}
