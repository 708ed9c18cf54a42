// SPDX-License-Identifier: BSD-3-Clause

// What titles of pictures say of a network that is a program.
package main

import (
	"libarmci/internal/config"
	"libarmci/internal/figure"
)

// rdmaName is how titles name RDMA: tests/softverbs/with.sh sets the directory of its device.
func rdmaName() string {
	if config.Given("SOFTVERBS_DIR") {
		return "RDMA, a device in software"
	}
	return "RDMA"
}

// plots are all, with titles that say what the network is.
func (o *options) plots() []figure.Plot {
	all := plots()
	for i := range all {
		if o.rdma && rdmaName() != "RDMA" {
			all[i].Title += " (" + rdmaName() + ")"
		}
	}
	return all
}
