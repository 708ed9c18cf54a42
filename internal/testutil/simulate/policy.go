// SPDX-License-Identifier: BSD-3-Clause

// The types of package internal/wait. How long a thread looks before it sleeps is as the run says:
// the result of a simulated program must not depend on it.
package simulate

import "time"

// Patience is wait.Patience.
type Patience struct{}

// Init does nothing.
func (*Patience) Init(time.Duration) {}

// Now is any time.
func (*Patience) Now() time.Duration { return time.Duration(IntN(100_000)) }

// Least is as the run says.
func (*Patience) Least() bool { return Chance(2) }

// Paid does nothing.
func (*Patience) Paid() {}

// Slept does nothing.
func (*Patience) Slept(time.Duration) {}

// Looks is wait.Looks.
type Looks struct{}

// Begin begins to look.
func (*Patience) Begin(time.Duration) Looks { return Looks{} }

// Yield lets others run, and ends the looking once in some times.
func (*Looks) Yield(*Crowd) bool {
	giveWay()
	return !Chance(8)
}

// Renew does nothing.
func (*Looks) Renew(*Patience) {}

// Crowd is wait.Crowd.
type Crowd struct{}

// Yield is as Looks.Yield.
func (*Crowd) Yield() bool {
	giveWay()
	return !Chance(8)
}

// Crowded is as the run says.
func (*Crowd) Crowded(time.Time) bool { return Chance(8) }

// Window is wait.Window.
type Window struct{ Longest time.Duration }

// Patience is any time.
func (p *Window) Patience() time.Duration {
	if Chance(2) {
		return 0
	}
	return time.Duration(IntN(50_000))
}

// Event does nothing.
func (*Window) Event(int) {}

// InVain does nothing.
func (*Window) InVain() {}

// Slept does nothing.
func (*Window) Slept(time.Duration) {}

// Crowded does nothing.
func (*Window) Crowded() {}

// Migration is wait.Migration.
type Migration struct{ Crowd }

// Yield lets others run.
func (*Migration) Yield() (now time.Time, crowded bool) {
	giveWay()
	return clock(), Chance(8)
}

// AfterSleep does nothing.
func (*Migration) AfterSleep() {}

// ShortSlice does nothing.
func ShortSlice() bool { return false }

// Yield is wait.Yield.
func Yield() { giveWay() }
