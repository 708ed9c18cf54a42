// SPDX-License-Identifier: BSD-3-Clause

// A trace is written by each rank to a file of its own, and put together into one, which Perfetto
// opens. Files of ranks that were killed have no end, which is made up for here.
package profile

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Part is the file of a rank.
func Part(file string, rank int) string { return file + "." + strconv.Itoa(rank) }

// Merge puts the files of ranks 0 to ranks-1 together and removes them. If some are not here, it
// does nothing but say how many.
func Merge(file string, ranks int) (missing int, err error) {
	parts := make([]string, ranks)
	for i := range parts {
		parts[i] = Part(file, i)
		if _, err := os.Lstat(parts[i]); err != nil {
			missing++
		}
	}
	if missing > 0 {
		return missing, nil
	}
	return 0, MergeFiles(file, parts)
}

// Parts finds the files of a trace's ranks.
func Parts(file string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	var ranks []int
	for _, e := range entries {
		if text, ok := strings.CutPrefix(e.Name(), filepath.Base(file)+"."); ok {
			if n, err := strconv.Atoi(text); err == nil && n >= 0 &&
				strconv.Itoa(n) == text {
				ranks = append(ranks, n)
			}
		}
	}
	if len(ranks) == 0 {
		return nil, fmt.Errorf("there is no %s.RANK: %w", file, fs.ErrNotExist)
	}
	slices.Sort(ranks)
	var parts []string
	for _, n := range ranks {
		parts = append(parts, Part(file, n))
	}
	return parts, nil
}

// MergeFiles writes the events of all parts into one array, and removes the parts.
func MergeFiles(file string, parts []string) (err error) {
	fd, err := CreateFile(file)
	if err != nil {
		return err
	}
	out := os.NewFile(uintptr(fd), file)
	defer func() { err = errors.Join(err, out.Close()) }()
	w := bufio.NewWriterSize(out, 1<<20)
	events := 0
	for _, part := range parts {
		if events, err = addEvents(w, part, events); err != nil {
			return err
		}
	}
	if events == 0 {
		w.WriteByte('[')
	}
	w.WriteString("\n]\n")
	if err := w.Flush(); err != nil {
		return err
	}
	for _, part := range parts {
		err = errors.Join(err, os.Remove(part))
	}
	return err
}

// addEvents copies the whole lines of a file that are events. Spaces and zeros are what a killed
// process had not yet written.
func addEvents(w *bufio.Writer, part string, events int) (int, error) {
	in, err := open(part)
	if err != nil {
		return events, err
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		text := strings.Trim(lines.Text(), " \x00,")
		if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
			continue
		}
		if events++; events == 1 {
			w.WriteString("[\n")
		} else {
			w.WriteString(",\n")
		}
		if _, err := w.WriteString(text); err != nil {
			return events, err
		}
	}
	return events, lines.Err()
}
