// SPDX-License-Identifier: BSD-3-Clause

// Tests of reading what ucx_perftest prints.
package main

import "testing"

// TestPerftestTook reads a time from the output of ucx_perftest, and refuses output without one.
func TestPerftestTook(t *testing.T) {
	const names = "iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw," +
		"overall_bw,avg_mr,overall_mr\n"
	ns, err := perftestTook(names + "100000,0.763,1.366,1.466,5.59,5.59,732205,732205\n")
	if err != nil || ns != 1466 {
		t.Errorf("%g ns, %v", ns, err)
	}
	for _, bad := range []string{"", "1\n2\n", names, names + "100000\n",
		names + "1,2,3,x\n", names + "1,2,3,0\n"} {
		if ns, err := perftestTook(bad); err == nil {
			t.Errorf("%q is %g ns", bad, ns)
		}
	}
}
