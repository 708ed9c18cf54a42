// SPDX-License-Identifier: BSD-3-Clause

// Rank 0 of a PMI job that exits without ARMCI_Finalize stays until the others have left, since the
// job server is in it.

package bootstrap

import (
	"syscall"

	"libarmci/internal/log"
)

// sayByeAtExit is what leaveAtExit is for a job whose server may be in this process.
func (j *pmiJob) sayByeAtExit() {
	wait := [2]int{-1, -1}
	if h := j.host; h != nil && syscall.Pipe2(wait[:], syscall.O_CLOEXEC) == nil {
		go func() {
			defer log.Guard()
			<-h.server.Empty()
			syscall.Close(wait[1])
		}()
	}
	j.leaveAtExit(wait[0])
}
