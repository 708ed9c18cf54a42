// SPDX-License-Identifier: BSD-3-Clause

// The choice between the device and a message to a server that may sleep, in virtual time.
package transport

import (
	"testing"
	"time"
)

// sleeper simulates a server that polls for some time after each message and then sleeps, and one
// origin that makes transfers.
type sleeper struct {
	s            Server
	now, awake   time.Duration // the virtual time; until when the server polls
	spent        time.Duration // by the origin, on transfers
	asked, woken int           // transfers sent as messages; those that found the server asleep
}

const (
	byDevice  = 12 * time.Microsecond
	byMessage = 5 * time.Microsecond
	waking    = 40 * time.Microsecond
	looking   = 15 * time.Microsecond
)

// newSleeper starts the virtual time one second after the server's record says that it is asleep.
func newSleeper(number int) *sleeper {
	z := &sleeper{s: ServerOf(number)}
	z.s.MarkAwake()
	z.now = time.Duration(z.s.c.awake) + time.Second
	return z
}

// transfer makes one transfer after a pause, as Server.prefersMessageAt decides.
func (z *sleeper) transfer(pause time.Duration) {
	z.now += pause
	took := byDevice
	if z.s.prefersMessageAt(z.now, float64(byDevice), float64(byMessage), float64(waking)) {
		z.asked++
		if took = byMessage; z.now >= z.awake {
			took += waking
			z.woken++
		}
		z.awake = z.now + took + looking
	}
	z.now += took
	z.spent += took
	if z.awake > z.now { // its answer says so
		z.s.markAwakeAt(z.now)
	}
}

// TestServerSleeps shows that a burst of transfers wakes the server once, that transfers far apart
// never wake it, and that no burst takes much more than twice the time of the better choice.
func TestServerSleeps(t *testing.T) {
	z := newSleeper(1)
	for range 1000 {
		z.transfer(0)
	}
	if z.woken != 1 || z.asked < 990 {
		t.Errorf("of 1000 transfers in a row %d go by message, and wake the server %d "+
			"times",
			z.asked, z.woken)
	}
	z = newSleeper(2)
	for range 1000 {
		z.transfer(100 * time.Microsecond)
	}
	if z.asked != 0 {
		t.Errorf("of 1000 transfers far from each other %d go by message", z.asked)
	}
	for n := 1; n < 100; n++ {
		z := newSleeper(3)
		for range n {
			z.transfer(time.Microsecond)
		}
		best := min(time.Duration(n)*byDevice, waking+time.Duration(n)*byMessage)
		if z.spent > best*5/2 {
			t.Errorf("%d transfers take %v, could take %v", n, z.spent, best)
		}
	}
}

// TestServerAsked shows the two clear cases: the device is used where it is faster than a message
// to an awake server, and a message where that is faster even with the wake-up.
func TestServerAsked(t *testing.T) {
	z := newSleeper(4)
	if z.s.prefersMessageAt(z.now, 10, 20, 1000) {
		t.Error("a message is sent that takes longer")
	}
	if !z.s.prefersMessageAt(z.now, 2000, 20, 1000) {
		t.Error("the device is used where waking the server takes less")
	}
	z.s.MarkAwake()
	if !z.s.PrefersMessage(100, 20, 1000) {
		t.Error("the device is used although the server is awake")
	}
}
