// SPDX-License-Identifier: BSD-3-Clause
// The functions of Go that C calls, as cgo declares them, once: a source may be compiled into an
// inner copy (inner.h).
#ifndef ARMCI_GO_H
#define ARMCI_GO_H
#include "_cgo_export.h"
#endif
