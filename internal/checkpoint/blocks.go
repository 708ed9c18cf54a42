// SPDX-License-Identifier: BSD-3-Clause

// Collecting neighbouring blocks into large writes, which go on while the next blocks are compared.
package checkpoint

import (
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	chunkBytes = 256 << 10 // of one write; it stays in a cache
	chunks     = 3         // one is filled, the others are written
	flushBytes = 16 << 20  // after which the kernel is told to begin writing to the disk
)

// chunk is neighbouring blocks on their way to the file.
type chunk struct {
	bytes []byte
	at    int64 // where they begin in the file
}

// blockWriter copies blocks to a chunk before their checksums are made, so that a file is right
// even if the program stores to the memory meanwhile. A goroutine writes full chunks, another one
// has the disk begin.
type blockWriter struct {
	file    *os.File
	filling chunk
	written int64      // bytes given to the goroutine
	full    chan chunk // to be written
	empty   chan []byte
	begin   chan struct{} // asks for what is written to be begun on the disk
	threads sync.WaitGroup
	failure atomic.Pointer[error] // of a chunk, the first
}

// newBlockWriter starts the goroutines. The caller calls close.
func newBlockWriter(file *os.File) *blockWriter {
	w := &blockWriter{file: file, full: make(chan chunk, chunks),
		empty: make(chan []byte, chunks), begin: make(chan struct{}, 1)}
	w.filling.bytes = make([]byte, 0, chunkBytes)
	for range chunks - 1 {
		w.empty <- make([]byte, 0, chunkBytes)
	}
	w.threads.Go(w.writeChunks)
	w.threads.Go(w.beginWriteback)
	return w
}

// writeChunks writes chunks until there are no more. After an error it only empties them.
func (w *blockWriter) writeChunks() {
	defer close(w.begin)
	bytes := 0 // since the disk was asked to begin
	for c := range w.full {
		if w.failure.Load() == nil {
			if _, err := w.file.WriteAt(c.bytes, c.at); err != nil {
				w.failure.Store(&err)
			}
		}
		if bytes += len(c.bytes); bytes >= flushBytes {
			select {
			case w.begin <- struct{}{}:
				bytes = 0
			default: // it is still busy
			}
		}
		w.empty <- c.bytes[:0]
	}
}

// beginWriteback has the kernel begin to write to the disk earlier than it would. What fails here
// fails in the sync, too.
func (w *blockWriter) beginWriteback() {
	for range w.begin {
		unix.SyncFileRange(int(w.file.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE)
	}
}

// close waits until all chunks are written, and returns the first error.
func (w *blockWriter) close() error {
	close(w.full)
	w.threads.Wait()
	return w.failed()
}

// failed is the error of a chunk that could not be written, nil so far.
func (w *blockWriter) failed() error {
	if err := w.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// writeRange writes n blocks to a place in the file, except those with the old checksums.
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
