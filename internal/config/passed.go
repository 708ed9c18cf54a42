// SPDX-License-Identifier: BSD-3-Clause

// Which variables a launcher passes on to ranks on other hosts.

package config

import (
	"os"
	"strings"
)

// Passed returns, as NAME=value, the settings of ARMCI in the environment, where
// libraries are found, and what the names ask for: NAME, or NAME=value. What
// another launcher has told us about its job is not for the ranks of ours.
func Passed(names []string) []string {
	var entries []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if name == "LD_LIBRARY_PATH" || strings.HasPrefix(name, "ARMCI_") &&
			!strings.HasPrefix(name, "ARMCI_JOB_") {
			entries = append(entries, entry)
		}
	}
	for _, name := range names {
		if strings.Contains(name, "=") {
			entries = append(entries, name)
		} else if value, found := os.LookupEnv(name); found {
			entries = append(entries, name+"="+value)
		}
	}
	return entries
}

// Given tells whether a setting is in this process's environment, and not empty.
func Given(name string) bool { return os.Getenv(name) != "" }
