// SPDX-License-Identifier: BSD-3-Clause

//go:build armcimpi

package main

// abiAborts: what ARMCI_ERRORS=auto means. ARMCI-MPI ends the job on a mistake.
const abiAborts = true
