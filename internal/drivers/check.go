// SPDX-License-Identifier: BSD-3-Clause

// Settings of transports are checked before any is opened.

package drivers

import (
	"errors"
	"fmt"
	"strings"

	"libarmci/internal/config"
	"libarmci/internal/internode"
)

// Check refuses settings whose text no transport can understand, on any number of nodes: a mistake
// must not wait for the first job on two. Whether there is such a device or interface is found out
// where it is used, since settings for a cluster are also read on its login node.
func Check(cfg *config.Set) error {
	var model error
	if err := internode.CheckModel(cfg.For("rdma").String("ARMCI_COST_MODEL")); err != nil {
		model = fmt.Errorf("ARMCI_COST_MODEL: %w", err)
	}
	sockets, devices := tcpOptions(cfg), rdmaOptions(cfg)
	var bad []string
	for _, err := range []error{sockets.Check(), devices.Check(), model} {
		if err != nil {
			bad = append(bad, err.Error())
		}
	}
	if bad == nil {
		return nil
	}
	return errors.New(strings.Join(bad, "; ")) // one line, as config's
}
