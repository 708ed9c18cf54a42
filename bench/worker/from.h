// SPDX-License-Identifier: BSD-3-Clause
// From which build a library is that a program has loaded.
#ifndef BENCH_FROM_H
#define BENCH_FROM_H

// Ends the program unless the library that has a function is below the directory of a build. A
// comparison of two builds would compare one with itself if the library came from elsewhere.
void bench_must_be_from(void *function, const char *directory);

#endif
