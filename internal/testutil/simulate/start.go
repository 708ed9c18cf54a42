// SPDX-License-Identifier: BSD-3-Clause

// Go statements, channels, and what simulated packages use of packages runtime and math/rand/v2.
package simulate

import (
	"math/rand/v2"
	"runtime"
	"time"
)

// Go is a go statement.
func Go(name string, f func()) {
	world.newThread(name, f)
	point(stepStart)
}

// LockOSThread does nothing.
func LockOSThread() {}

// UnlockOSThread does nothing.
func UnlockOSThread() {}

// KeepAlive is runtime.KeepAlive.
func KeepAlive(v any) { runtime.KeepAlive(v) }

// Gosched is runtime.Gosched.
func Gosched() { giveWay() }

// Rand is rand.Rand.
type Rand = rand.Rand

// New is rand.New.
func New(src rand.Source) *rand.Rand { return rand.New(src) }

// NewPCG is rand.NewPCG.
func NewPCG(a, b uint64) *rand.PCG { return rand.NewPCG(a, b) }

// IntN is rand.IntN, of the run.
func IntN(n int) int { return world.rnd.IntN(n) }

// Chance is true once in n times, as the run says.
func Chance(n int) bool { return IntN(n) == 0 }

// waitersOf are the threads that wait at a channel.
func waitersOf(c any) *queue {
	q := world.waiters[c]
	if q == nil {
		q = new(queue)
		world.waiters[c] = q
	}
	return q
}

// Recv is <-c.
func Recv[T any](c chan T) (v T) {
	point(stepChannel)
	for {
		select {
		case v = <-c:
			waitersOf(c).wakeAll()
			return v
		default:
			waitersOf(c).wait("to receive")
		}
	}
}

// RecvWithin is Recv that waits for d at most; negative: any time.
func RecvWithin[T any](c chan T, d time.Duration) (v T, ok bool) {
	if d < 0 {
		return Recv(c), true
	}
	point(stepChannel)
	w, q := world, waitersOf(c)
	over := false
	t := w.at(w.now+d+w.lateness(), func() {
		over = true
		q.wakeAll()
	})
	defer (&Timer{t}).Stop()
	for {
		select {
		case v = <-c:
			q.wakeAll()
			return v, true
		default:
			if over {
				return v, false
			}
			q.wait("to receive for some time")
		}
	}
}

// Send is c <- v. The channel has a buffer.
func Send[T any](c chan T, v T) {
	if cap(c) == 0 {
		panic("a channel without a buffer")
	}
	point(stepChannel)
	for !TrySend(c, v) {
		waitersOf(c).wait("to send")
	}
}

// TrySend is Send unless that would block.
func TrySend[T any](c chan T, v T) bool {
	select {
	case c <- v:
		waitersOf(c).wakeAll()
		return true
	default:
		return false
	}
}

// Close is close.
func Close[T any](c chan T) {
	point(stepChannel)
	close(c)
	waitersOf(c).wakeAll()
}
