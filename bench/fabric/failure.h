// SPDX-License-Identifier: BSD-3-Clause
// failure.h - what the files of an endpoint say when something fails.
#ifndef FAILURE_H
#define FAILURE_H

// Says what went wrong, with libfabric's text of the status, and ends the process.
void endpoint_failed(const char *what, long status) __attribute__((noreturn));

#endif
