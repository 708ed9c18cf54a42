// SPDX-License-Identifier: BSD-3-Clause

// Payloads: lists of byte strings, what is said about nodes, and the status of Abort. Packing and
// checked unpacking.

package jobwire

import (
	"encoding/binary"
	"errors"
)

// ErrTooLarge: the strings of an exchange together are longer than MaxCollected.
var ErrTooLarge = errors.New("exchange too large")

// PackList makes a payload of byte strings.
func PackList(parts [][]byte) ([]byte, error) {
	total := binary.MaxVarintLen32 * (1 + len(parts))
	for _, part := range parts {
		total += len(part)
	}
	if total > MaxCollected {
		return nil, ErrTooLarge
	}
	b := binary.AppendUvarint(make([]byte, 0, total), uint64(len(parts)))
	for _, part := range parts {
		b = binary.AppendUvarint(b, uint64(len(part)))
	}
	for _, part := range parts {
		b = append(b, part...)
	}
	return b, nil
}

// UnpackList returns the byte strings of a payload, whose memory they share.
func UnpackList(payload []byte) ([][]byte, error) {
	bad := errors.New("malformed answer to an exchange")
	count, n := binary.Uvarint(payload)
	if n <= 0 || count > uint64(len(payload)-n) { // each has a length of a byte at least
		return nil, bad
	}
	lengths := payload[n:]
	rest := lengths
	for range count { // the strings are behind all lengths
		_, n := binary.Uvarint(rest)
		if n <= 0 {
			return nil, bad
		}
		rest = rest[n:]
	}
	parts := make([][]byte, count)
	for i := range parts {
		length, n := binary.Uvarint(lengths)
		if length > uint64(len(rest)) {
			return nil, bad
		}
		parts[i], rest, lengths = rest[:length:length], rest[length:], lengths[n:]
	}
	if len(rest) != 0 {
		return nil, bad
	}
	return parts, nil
}

// PackSplit makes the payload of Split: what identifies a rank's node, and where it listens for the
// others there.
func PackSplit(key, link string) ([]byte, error) {
	return PackList([][]byte{[]byte(key), []byte(link)})
}

// UnpackSplit reads what PackSplit has made.
func UnpackSplit(payload []byte) (key, link string, err error) {
	parts, err := UnpackList(payload)
	if err != nil || len(parts) != 2 {
		return "", "", errors.New("malformed question for a node")
	}
	return string(parts[0]), string(parts[1]), nil
}

// PackPlaced makes the payload of Placed: a rank's local number, the ranks of its node, and where
// their leader listens.
func PackPlaced(local, size int, link string) []byte {
	return append(PackNumbers(local, size), link...)
}

// UnpackPlaced reads what PackPlaced has made.
func UnpackPlaced(payload []byte) (local, size int, link string, err error) {
	if len(payload) < 8 {
		return 0, 0, "", errors.New("malformed answer about the node")
	}
	n := UnpackNumbers(payload[:8])
	return n[0], n[1], string(payload[8:]), nil
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
