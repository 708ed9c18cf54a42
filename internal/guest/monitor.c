// SPDX-License-Identifier: BSD-3-Clause
// Go's runtime has a monitor thread, which takes a processor of Go from a thread that has been in a
// system call, or in C, for 10 ms. Each time it then wakes up after 20 us, and the next 50 times
// again. A thread of the application that has called the library computes in C, so the monitor
// never comes to rest: 4,000 wake-ups a second, on the application's core, since the monitor
// inherits its mask. In a virtual machine each costs 20 us, most of it for setting the timer: 8 %
// of the core.
//
// Those sleeps may be longer here: nothing of the library waits for the monitor as long as there
// are more processors of Go (transport.Procs) than threads that hold one. So its timers may be late
// by MONITOR_SLACK. No other thread's are. With 4 ms, behind the kernel's next tick, a rank
// computes 2 % faster still, but its data server, which waits for a slice of the core now and then,
// gets one later: a wake-up of any thread of the core has the kernel choose anew.
#include "monitor.h"

#include <sys/prctl.h>

enum {
	MONITOR_NUMBER = 1,      // the first thread begins the runtime, and creates the monitor
	MONITOR_SLACK = 2000000, // ns; tests/c/monitor.c knows it, too
};

static unsigned long usual; // the slack of the others, which the first thread has inherited

static void set_slack(unsigned long ns) { prctl(PR_SET_TIMERSLACK, ns, 0UL, 0UL, 0UL); }

// A thread inherits the slack of the one that creates it, and the monitor creates threads, too.
void monitor_begin(int number)
{
	if (number < MONITOR_NUMBER)
		usual = (unsigned long)prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
	else if (number == MONITOR_NUMBER)
		set_slack(MONITOR_SLACK);
	else
		set_slack(usual);
}
