// SPDX-License-Identifier: BSD-3-Clause
// What app.c sets and asks of contest.c.
#ifndef CONTEST_H
#define CONTEST_H

#include <stdbool.h>

extern const char *app_chosen; // versions by name, with commas; NULL: all
bool app_wrong(void);          // some verification failed

#endif
