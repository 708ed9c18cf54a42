// SPDX-License-Identifier: BSD-3-Clause

// How much memory there is for allocations, and which limit says so.

package main

import (
	"fmt"
	"io"

	"libarmci/internal/config"
	"libarmci/internal/shm"
)

// showMemory prints how much the ranks may still allocate, and the limits of memory that were
// found.
func showMemory(out io.Writer, cfg *config.Set) {
	left, who := shm.Available()
	margin := shm.Margin(cfg.Size("ARMCI_SHM_MARGIN"), cfg.IsSet("ARMCI_SHM_MARGIN"))
	fmt.Fprintf(out, "\nMemory\n  the ranks of this node may allocate %s more in all: what "+
		"%s has left, less %s (ARMCI_SHM_MARGIN)\n",
		config.SizeText(max(left-margin, 0)), who, config.SizeText(margin))
	for _, l := range shm.Limits() {
		if l.Left < 0 {
			fmt.Fprintf(out, "  %s: %s\n", l.Name, config.SizeText(l.Total))
		} else {
			fmt.Fprintf(out, "  %s: %s, of which %s are left\n", l.Name,
				config.SizeText(l.Total), config.SizeText(l.Left))
		}
	}
	fmt.Fprintln(out)
}
