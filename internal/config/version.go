// SPDX-License-Identifier: BSD-3-Clause

// The version of the library, and nothing else of the build.

package config

// Version is the library's, as armci.h's ARMCI_VERSION_* say; the build may set another with
// -ldflags -X.
var Version = "0.1.0"
