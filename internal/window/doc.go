// SPDX-License-Identifier: BSD-3-Clause

// Package window is one-sided communication on windows: memory that each member of a set of ranks
// has made accessible. It turns shapes (flattened datatypes) into sections and vectors, and moves,
// updates and synchronises by core. It does not know MPI: package mpirma calls it with ranks of the
// job, addresses and shapes, and keeps the epochs.
package window
