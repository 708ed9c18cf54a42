// SPDX-License-Identifier: BSD-3-Clause

// Package config is the one place that knows the settings: every ARMCI_*
// environment variable is a row of one table, with its kind, default, unit and
// meaning. No other package may read the environment, and this one may not
// import another package of the project.
package config
