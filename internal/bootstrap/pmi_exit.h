// SPDX-License-Identifier: BSD-3-Clause
// What a rank without MPI does when its process ends. Go cannot be called then.
#ifndef LIBARMCI_PMI_EXIT_H
#define LIBARMCI_PMI_EXIT_H

// At exit with status 0, bye is written to fd; then wait is read until its end, unless it is -1. Both descriptors are owned.
void boot_pmi_leave(int fd, const void *bye, int bytes, int wait);
void boot_pmi_left(void); // nothing of that any more
int boot_pmi_duplicate(int fd);

#endif
