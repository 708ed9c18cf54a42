// SPDX-License-Identifier: BSD-3-Clause

// Collecting neighbouring blocks into large writes, which go on while the next blocks are compared.
package checkpoint

import (
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	chunkBytes = 1 << 20  // of one write
	chunks     = 3        // one is filled, the others are written
	flushBytes = 16 << 20 // after which the kernel is told to begin writing to the disk
)

// chunk is neighbouring blocks on their way to the file.
type chunk struct {
	bytes []byte
	at    int64 // where they begin in the file
}

// blockWriter copies blocks to a chunk before their checksums are made, so that a file is right
// even if the program stores to the memory meanwhile. A goroutine writes full chunks.
type blockWriter struct {
	file    *os.File
	filling chunk
	written int64      // bytes given to the goroutine
	full    chan chunk // to be written
	empty   chan []byte
	ended   chan struct{}
	failure atomic.Pointer[error] // of the goroutine, its first
}

// newBlockWriter starts the goroutine. The caller calls close.
func newBlockWriter(file *os.File) *blockWriter {
	w := &blockWriter{file: file, full: make(chan chunk, chunks),
		empty: make(chan []byte, chunks), ended: make(chan struct{})}
	w.filling.bytes = make([]byte, 0, chunkBytes)
	for range chunks - 1 {
		w.empty <- make([]byte, 0, chunkBytes)
	}
	go w.writeChunks()
	return w
}

// writeChunks writes chunks until there are no more. After an error it only empties them.
func (w *blockWriter) writeChunks() {
	defer close(w.ended)
	begun := int64(0) // bytes since the kernel was told
	for c := range w.full {
		if w.failure.Load() == nil {
			if _, err := w.file.WriteAt(c.bytes, c.at); err != nil {
				w.failure.Store(&err)
			}
		}
		if begun += int64(len(c.bytes)); begun >= flushBytes {
			begun = 0
			// only earlier than otherwise: what fails here fails in the sync, too
			unix.SyncFileRange(int(w.file.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
		}
		w.empty <- c.bytes[:0]
	}
}

// close waits until all chunks are written, and returns the first error.
func (w *blockWriter) close() error {
	close(w.full)
	<-w.ended
	return w.failed()
}

// failed is the error of a chunk that could not be written, nil so far.
func (w *blockWriter) failed() error {
	if err := w.failure.Load(); err != nil {
		return *err
	}
	return nil
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
		from := len(w.filling.bytes)
		if from == 0 {
			w.filling.at = at + i*BlockBytes
		}
		w.filling.bytes = append(w.filling.bytes, b...)
		sums[i] = sumOf(w.filling.bytes[from:])
		same := old != nil && sums[i] == old[i]
		if same {
			w.filling.bytes = w.filling.bytes[:from]
		}
		if same || len(w.filling.bytes)+BlockBytes > chunkBytes {
			if err := w.flush(); err != nil {
				return nil, err
			}
		}
	}
	return sums, w.flush()
}

// flush gives the chunk to the goroutine.
func (w *blockWriter) flush() error {
	if len(w.filling.bytes) == 0 {
		return nil
	}
	w.written += int64(len(w.filling.bytes))
	w.full <- w.filling
	w.filling.bytes = <-w.empty
	return w.failed()
}
