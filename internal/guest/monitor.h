// SPDX-License-Identifier: BSD-3-Clause
// What the creation of Go's threads needs of monitor.c, which explains why Go's monitor is slowed.
#ifndef GUEST_MONITOR_H
#define GUEST_MONITOR_H

// Called in a thread that Go has created, before it runs: number is its place in the order of their
// creation, from 0.
void monitor_begin(int number);

#endif
