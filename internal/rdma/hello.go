// SPDX-License-Identifier: BSD-3-Clause

// How two processes connect: the client asks by a datagram, the server answers with one, and both prove with them that
// they know the job's secret. Datagrams may be lost or come twice: the client asks again, the server gives the same
// answer again. Fixed sizes; who cannot prove himself is not answered.
//
//	0 magic  8 version  12 kind  16 from  20 to  24 nonce  32 pair  36 psn  40 reads  41 mtu  42 room in KiB
//	44 endpoint (of a question)  76 HMAC over all that
package rdma

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"libarmci/internal/transport"
)

const (
	magic         = "ARMCIrdm"
	version       = 2
	endpointBytes = 32
	helloBody     = 44 + endpointBytes
	helloBytes    = helloBody + sha256.Size
)

const (
	question = iota + 1
	answer
)

// endpoint is where a process receives datagrams.
type endpoint struct {
	pair uint32
	lid  uint16
	gid  [16]byte // zero: by LID
	mtu  uint8
}

func (e *endpoint) encode() []byte {
	b := make([]byte, endpointBytes)
	binary.LittleEndian.PutUint32(b, e.pair)
	binary.LittleEndian.PutUint16(b[4:], e.lid)
	b[6] = e.mtu
	copy(b[8:], e.gid[:])
	return b
}

func (e *endpoint) decode(b []byte) error {
	if len(b) != endpointBytes {
		return fmt.Errorf("an address of %d bytes", len(b))
	}
	*e = endpoint{pair: binary.LittleEndian.Uint32(b), lid: binary.LittleEndian.Uint16(b[4:]), mtu: b[6],
		gid: [16]byte(b[8:24])}
	return nil
}

// hello is a question or an answer.
type hello struct {
	kind     uint32
	from, to transport.Rank
	nonce    uint64 // of the question
	pair     uint32 // queue pair to connect to
	psn      uint32 // of its first packet
	reads    uint8  // that it lets the other have outstanding
	mtu      uint8
	room     int      // bytes of a message to it
	back     endpoint // where the answer is to go
}

func (h *hello) encode(secret []byte) []byte {
	b := make([]byte, helloBody, helloBytes)
	copy(b, magic)
	for i, v := range []uint32{version, h.kind, uint32(h.from), uint32(h.to)} {
		binary.LittleEndian.PutUint32(b[8+4*i:], v)
	}
	binary.LittleEndian.PutUint64(b[24:], h.nonce)
	binary.LittleEndian.PutUint32(b[32:], h.pair)
	binary.LittleEndian.PutUint32(b[36:], h.psn)
	b[40], b[41] = h.reads, h.mtu
	binary.LittleEndian.PutUint16(b[42:], uint16(h.room>>10))
	copy(b[44:], h.back.encode())
	return append(b, sign(secret, b)...)
}

func sign(secret, b []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write(b)
	return mac.Sum(nil)
}

// decode checks a datagram and reads it.
func (h *hello) decode(b, secret []byte) error {
	switch {
	case len(b) != helloBytes || !bytes.Equal(b[:8], []byte(magic)):
		return errors.New("not of this library")
	case binary.LittleEndian.Uint32(b[8:]) != version:
		return errors.New("of another version of this library")
	case !hmac.Equal(b[helloBody:], sign(secret, b[:helloBody])):
		return errors.New("no proof of the job's secret")
	}
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
	*h = hello{kind: u32(12), from: transport.Rank(u32(16)), to: transport.Rank(u32(20)),
		nonce: binary.LittleEndian.Uint64(b[24:]), pair: u32(32), psn: u32(36), reads: b[40], mtu: b[41],
		room: int(binary.LittleEndian.Uint16(b[42:])) << 10}
	if h.room < leastBytes {
		return errors.New("no room for messages")
	}
	return h.back.decode(b[44:helloBody])
}
