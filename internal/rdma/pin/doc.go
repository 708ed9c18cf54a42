// SPDX-License-Identifier: BSD-3-Clause

// Package pin keeps memory of the application registered between transfers, within a budget, and forgets it when the
// application gives it back to the system. It knows a device as something that registers memory; it must not know
// transfers, or which memory is worth registering.
package pin
