// SPDX-License-Identifier: BSD-3-Clause

// How much memory there is for allocations, and who says so.

package main

import (
	"fmt"
	"io"
	"strconv"

	"libarmci/internal/config"
	"libarmci/internal/shm"
)

func showMemory(out io.Writer, cfg *config.Set) {
	left, who := shm.Available()
	margin := cfg.Size("ARMCI_SHM_MARGIN")
	fmt.Fprintf(out, "\nMemory\n  the ranks of this node may allocate %s more in all: what %s has left, less ARMCI_SHM_MARGIN\n",
		bytesText(max(left-margin, 0)), who)
	for _, l := range shm.Limits() {
		if l.Left < 0 {
			fmt.Fprintf(out, "  %s: %s\n", l.Who, bytesText(l.Total))
		} else {
			fmt.Fprintf(out, "  %s: %s, of which %s are left\n", l.Who, bytesText(l.Total), bytesText(l.Left))
		}
	}
	fmt.Fprintln(out)
}

// bytesText is a size in the largest unit in which it is at least 1, rounded down to three digits or so.
func bytesText(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	x, i := float64(n), 0
	for x >= 1024 && i < len(units)-1 {
		x, i = x/1024, i+1
	}
	if i == 0 || x >= 100 {
		return fmt.Sprintf("%d %s", int64(x), units[i])
	}
	return strconv.FormatFloat(float64(int64(x*10))/10, 'f', -1, 64) + " " + units[i]
}
