// SPDX-License-Identifier: BSD-3-Clause
// What other files, and packages that call functions of the application, need of signals.c, which
// keeps the application's signals and Go's stacks apart.
#ifndef GUEST_SIGNALS_H
#define GUEST_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

// before a function of the application runs: true on a thread of the library,
bool signals_lend(sigset_t *mask);
void signals_take_back(const sigset_t *mask); // which is taken back after it

#endif
