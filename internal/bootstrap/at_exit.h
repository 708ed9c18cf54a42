// SPDX-License-Identifier: BSD-3-Clause
// What a rank of a job server does when its process ends. Go cannot be called then.
#ifndef LIBARMCI_AT_EXIT_H
#define LIBARMCI_AT_EXIT_H

// At exit with status 0, bye is written to fd; then wait is read until its end, unless it is -1.
// wait is owned; fd stays open until boot_has_left.
void boot_leave_at_exit(int fd, const void *bye, int bytes, int wait);
void boot_has_left(void); // nothing of that any more

#endif
