// SPDX-License-Identifier: BSD-3-Clause

// The job of a process without a launcher: one rank.

package bootstrap

import (
	"bytes"
	"os"
)

// singleJob is the Job of one rank.
type singleJob struct{}

func newSingleJob() Job { return singleJob{} }

func (singleJob) Kind() string { return "single" }
func (singleJob) Rank() int    { return 0 }
func (singleJob) Size() int    { return 1 }

func (singleJob) Split(string) (local, size int, err error) { return 0, 1, nil }
func (singleJob) GatherNode(mine []byte) ([][]byte, error) {
	return [][]byte{bytes.Clone(mine)}, nil
}
func (singleJob) ExchangeLeaders(mine []byte) ([][]byte, error) {
	return [][]byte{bytes.Clone(mine)}, nil
}
func (singleJob) EndExchange()                          {}
func (singleJob) WorldComm() uintptr                    { return 0 }
func (singleJob) GroupComm([]int, int) (uintptr, error) { return 0, nil }
func (singleJob) FreeComm(uintptr)                      {}
func (singleJob) Abort(code int)                        { os.Exit(exitStatus(code)) }
func (singleJob) Die(code int)                          { os.Exit(exitStatus(code)) }
func (singleJob) Close() error                          { return nil }
