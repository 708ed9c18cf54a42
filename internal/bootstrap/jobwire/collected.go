// SPDX-License-Identifier: BSD-3-Clause

// The payload of Collected, and of Abort: packing and checked unpacking.

package jobwire

import (
	"encoding/binary"
	"errors"
)

// ErrTooLarge: the strings of an exchange together are longer than MaxCollected.
var ErrTooLarge = errors.New("exchange too large")

// PackCollected makes the payload of a Collected frame.
func PackCollected(parts [][]byte) ([]byte, error) {
	total := 4 + 4*len(parts)
	for _, part := range parts {
		total += len(part)
	}
	if total > MaxCollected {
		return nil, ErrTooLarge
	}
	b := make([]byte, 0, total)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(parts)))
	for _, part := range parts {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(part)))
	}
	for _, part := range parts {
		b = append(b, part...)
	}
	return b, nil
}

// UnpackCollected returns the strings of `count` ranks; they share the payload's memory.
func UnpackCollected(payload []byte, count int) ([][]byte, error) {
	bad := errors.New("malformed answer to an exchange")
	if len(payload) < 4 || int64(binary.LittleEndian.Uint32(payload)) != int64(count) ||
		int64(len(payload)) < 4+4*int64(count) {
		return nil, bad
	}
	lengths, rest := payload[4:4+4*count], payload[4+4*count:]
	parts := make([][]byte, count)
	for i := range parts {
		n := binary.LittleEndian.Uint32(lengths[4*i:])
		if int64(n) > int64(len(rest)) {
			return nil, bad
		}
		parts[i], rest = rest[:n:n], rest[n:]
	}
	if len(rest) != 0 {
		return nil, bad
	}
	return parts, nil
}

// PackStatus and UnpackStatus are the payload of an Abort frame.
func PackStatus(status int) []byte {
	return PackNumbers(status)
}

// UnpackStatus returns an exit status of 1..255, whatever was sent.
func UnpackStatus(payload []byte) int {
	if len(payload) == 4 && payload[0] != 0 {
		return int(payload[0])
	}
	return 1
}
