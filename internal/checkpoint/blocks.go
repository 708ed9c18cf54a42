// SPDX-License-Identifier: BSD-3-Clause

// Collecting neighbouring blocks into large writes.
package checkpoint

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	chunkBytes = 1 << 20  // of one write
	flushBytes = 16 << 20 // after which the kernel is told to begin writing to the disk
)

// blockWriter copies blocks to its buffer before their checksums are made, so that a file is right
// even if the program stores to the memory meanwhile.
type blockWriter struct {
	file    *os.File
	buffer  []byte
	at      int64 // where the buffer begins in the file
	written int64
	flushed int64 // of written, that the kernel was told to write
}

// writeRange writes n blocks to a place in the file, except those whose checksums are the old ones.
// old is nil if all are to be written. It returns the checksums.
func (w *blockWriter) writeRange(source blockSource, n, at int64, old []uint64) ([]uint64, error) {
	sums := make([]uint64, n)
	for i := range n {
		b, err := source.block(i)
		if err != nil {
			return nil, err
		}
		from := len(w.buffer)
		if from == 0 {
			w.at = at + i*BlockBytes
		}
		w.buffer = append(w.buffer, b...)
		sums[i] = sumOf(w.buffer[from:])
		if old != nil && sums[i] == old[i] {
			w.buffer = w.buffer[:from]
			if err := w.flush(); err != nil {
				return nil, err
			}
			continue
		}
		if len(w.buffer)+BlockBytes > chunkBytes {
			if err := w.flush(); err != nil {
				return nil, err
			}
		}
	}
	return sums, w.flush()
}

// flush writes the buffer.
func (w *blockWriter) flush() error {
	if len(w.buffer) == 0 {
		return nil
	}
	_, err := w.file.WriteAt(w.buffer, w.at)
	if err != nil {
		return err
	}
	w.written += int64(len(w.buffer))
	w.buffer = w.buffer[:0]
	if w.written-w.flushed >= flushBytes {
		w.flushed = w.written
		// only earlier than otherwise: what fails here fails in the sync, too
		unix.SyncFileRange(int(w.file.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
	}
	return nil
}
