// SPDX-License-Identifier: BSD-3-Clause

// Test of what ranks on other hosts get of the environment.

package config

import (
	"slices"
	"strings"
	"testing"
)

// TestPassed shows which variables are passed to processes on other hosts.
func TestPassed(t *testing.T) {
	t.Setenv("ARMCI_VERBOSE", "y")
	t.Setenv("ARMCI_JOB_RANK", "3")
	t.Setenv("LD_LIBRARY_PATH", "/lib/of/mine")
	t.Setenv("MINE", "a=b")
	t.Setenv("OTHER", "x")
	got := Passed([]string{"MINE", "NOT_THERE", "SET=c=d", "EMPTY="})
	for _, want := range []string{"ARMCI_VERBOSE=y", "LD_LIBRARY_PATH=/lib/of/mine", "MINE=a=b",
		"SET=c=d", "EMPTY="} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in %q", want, got)
		}
	}
	for _, entry := range got {
		if strings.HasPrefix(entry, "ARMCI_JOB_") || strings.HasPrefix(entry, "OTHER") ||
			strings.HasPrefix(entry, "NOT_THERE") {
			t.Errorf("%s is passed on", entry)
		}
	}
}
