// SPDX-License-Identifier: BSD-3-Clause

// Package core is ARMCI itself, one file per concept: life cycle, regions, groups, operations,
// handles, fences, read-modify-write, mutexes, notification, procedure calls, failure. It decides;
// bytes are moved by a transport.Transport and shared by a transport.Node. It knows no transport by
// name and no C.
package core
