// SPDX-License-Identifier: BSD-3-Clause
// The part of desk.c that foreign.c calls. No other file includes it.
#ifndef ARMCI_SHM_DESK_H
#define ARMCI_SHM_DESK_H

int shm_desk_open(void); // starts this rank's thread: 0 or an errno

#endif
