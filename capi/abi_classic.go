// SPDX-License-Identifier: BSD-3-Clause

//go:build !armcimpi

package main

// abiAborts: what ARMCI_ERRORS=auto means. Classic ARMCI returns codes.
const abiAborts = false
