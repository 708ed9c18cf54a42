// SPDX-License-Identifier: BSD-3-Clause

// Package libfabric is libfabric as Go sees it: loaded when the program runs, and only where it is
// wanted, since loading it takes 0.2 s with some builds. It offers what package ofi uses and
// decides nothing.
package libfabric
