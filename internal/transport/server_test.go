// SPDX-License-Identifier: BSD-3-Clause

// When transfers go by messages to a server that may sleep, in virtual time.
package transport

import (
	"testing"
	"time"
)

// sleeper is a server that looks for a message for some time after each, and the time that an
// origin spends on transfers.
type sleeper struct {
	s            Server
	now, awake   time.Duration
	spent        time.Duration
	asked, woken int
}

const (
	byDevice  = 12 * time.Microsecond
	byMessage = 5 * time.Microsecond
	waking    = 40 * time.Microsecond
	looking   = 15 * time.Microsecond
)

// newSleeper begins when whatever is known of the server is out of date.
func newSleeper(number int) *sleeper {
	z := &sleeper{s: ServerOf(number)}
	z.s.Heard()
	z.now = time.Duration(z.s.c.awake) + time.Second
	return z
}

// transfer makes one after a pause.
func (z *sleeper) transfer(pause time.Duration) {
	z.now += pause
	took := byDevice
	if z.s.asksAt(z.now, float64(byDevice), float64(byMessage), float64(waking)) {
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
		z.s.heardAt(z.now)
	}
}

// TestServerSleeps: a server is woken where transfers follow each other closely, once; never where
// each would find it asleep; and no number of transfers takes much more than twice as long as by
// the better way.
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

// TestServerAsked: what is faster by the device is the device's whatever the server does, and what
// is faster even if the server has to be woken is not.
func TestServerAsked(t *testing.T) {
	z := newSleeper(4)
	if z.s.asksAt(z.now, 10, 20, 1000) {
		t.Error("a message is sent that takes longer")
	}
	if !z.s.asksAt(z.now, 2000, 20, 1000) {
		t.Error("the device is used where waking the server takes less")
	}
	z.s.Heard()
	if !z.s.Asks(100, 20, 1000) {
		t.Error("the device is used although the server is awake")
	}
}
