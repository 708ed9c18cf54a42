// SPDX-License-Identifier: BSD-3-Clause
// The part of request.c that foreign.c calls. No other file includes it.
#ifndef ARMCI_SHM_REQUEST_H
#define ARMCI_SHM_REQUEST_H

int shm_request_thread_start(void); // starts this rank's thread: 0 or an errno

#endif
