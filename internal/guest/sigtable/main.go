// SPDX-License-Identifier: BSD-3-Clause

// Command sigtable changes the table of signals of the Go runtime in a shared library that has just
// been linked. In a thread that enters Go for the first time the runtime unblocks SIGCHLD and
// SIGPROF, and in every process it installs a handler of SIGURG. There is no setting against
// either. Without their flags in the table the runtime leaves the three signals to the program.
//
//	sigtable FILE
//
// It must not be needed for correct memory: a library with an unchanged table works, but a program
// that waits for SIGCHLD by sigwait may lose one.
package main

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
)

// Flags of an entry, as in the runtime's signal_unix.go ("type sigTabT struct").
const (
	flagNotify  = 1 << 0
	flagUnblock = 1 << 7
	flagIgnore  = 1 << 8 // ignored by default
)

// An entry is an int32 and a string; the runtime has one for each signal from 0 on.
const (
	entryBytes = 24
	entries    = 65
)

// wanted are the flags that entries must have before they are set to 0, by number of the signal.
var wanted = map[int]uint32{
	17: flagNotify | flagUnblock | flagIgnore, // SIGCHLD
	23: flagNotify | flagIgnore,               // SIGURG
	27: flagNotify | flagUnblock,              // SIGPROF
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sigtable FILE")
		os.Exit(2)
	}
	if err := change(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "sigtable: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

// change clears the flags of the wanted entries; all of them or, with an error, none.
func change(file string) error {
	offset, order, err := find(file)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	var flags [4]byte
	for sig, want := range wanted {
		if _, err := f.ReadAt(flags[:], offset+int64(sig*entryBytes)); err != nil {
			return err
		}
		if got := order.Uint32(flags[:]); got != want {
			return fmt.Errorf(
				"runtime.sigtable has flags %#x for signal %d, expected %#x: "+
					"does this version of Go have another table?", got, sig,
				want)
		}
	}
	for sig := range wanted {
		if _, err := f.WriteAt(make([]byte, 4), offset+int64(sig*entryBytes)); err != nil {
			return err
		}
	}
	return f.Close()
}

// find returns where the table begins in the file.
func find(file string) (int64, binary.ByteOrder, error) {
	f, err := elf.Open(file)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return 0, nil, err
	}
	for _, s := range symbols {
		if s.Name != "runtime.sigtable" || int(s.Section) >= len(f.Sections) {
			continue
		}
		section := f.Sections[s.Section]
		if s.Size != entries*entryBytes || section.Type == elf.SHT_NOBITS {
			return 0, nil, fmt.Errorf("runtime.sigtable has %d bytes, expected %d: "+
				"does this version of Go have another table?", s.Size,
				entries*entryBytes)
		}
		return int64(s.Value - section.Addr + section.Offset), f.ByteOrder, nil
	}
	return 0, nil, fmt.Errorf("no symbol runtime.sigtable: was it linked without symbols (-s)?")
}
