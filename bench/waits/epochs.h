// SPDX-License-Identifier: BSD-3-Clause
// What waits measures of windows: epochs by post, start, complete and wait, and the exclusive lock.
// The window is made when the first of them is measured.
#ifndef WAITS_EPOCHS_H
#define WAITS_EPOCHS_H

double epochs(long n);  // of two ranks by turns, each with a put of 8 bytes
double origins(long n); // of rank 0, with a put of 8 bytes from each other rank
void window_lock(void); // of the window's memory at rank 0
void window_unlock(void);
void epochs_end(void);  // frees the window, if there is one

#endif
