// SPDX-License-Identifier: BSD-3-Clause

// The two conformance suites over a provider: ARMCI_OFI_PROVIDER, or tcp. Without libfabric these tests are skipped.
package ofi

import (
	"cmp"
	"os"
	"testing"

	"libarmci/internal/transport/transporttest"
)

// here are the settings of tests.
func here() Options {
	return Options{Provider: cmp.Or(os.Getenv("ARMCI_OFI_PROVIDER"), "tcp;ofi_rxm"), Domain: os.Getenv("ARMCI_OFI_DOMAIN"), Named: true}
}

func TestFabric(t *testing.T) { transporttest.RunFabric(t, Driver(here())) }
