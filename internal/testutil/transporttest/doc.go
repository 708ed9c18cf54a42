// SPDX-License-Identifier: BSD-3-Clause

// Package transporttest is what tests use in place of machines and wires: Cluster (the ranks of one
// node as goroutines of this process), Fake (a transport with delayed completions), Flaky (a
// transport that fails on request), and the conformance suite that every transport passes. Only
// tests may import it.
package transporttest
