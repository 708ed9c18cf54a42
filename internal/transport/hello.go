// SPDX-License-Identifier: BSD-3-Clause

// The handshake of a new connection: both ends prove that they know the job's secret, and exchange
// their ranks and limits. All lengths are fixed, so no allocation depends on the peer. The fabric
// carries the bytes.
package transport

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
)

// Sizes of a hello.
const (
	NonceBytes  = 16
	helloBytes  = 8 + 4 + 4 + 4 + 4 + NonceBytes
	helloMagic  = "ARMCInet"
	WireVersion = 9 // of hellos and of all frames
)

// Hello is the handshake message of one end.
type Hello struct {
	From, To Rank
	Frame    uint32           // most bytes of a frame that it can receive; 0: any number
	Nonce    [NonceBytes]byte // fresh for every connection
	Extra    []byte           // of the fabric, always of the same length
}

// HelloBytes is the length of a sealed hello with `extra` bytes of Extra.
func HelloBytes(extra int) int { return helloBytes + extra + sha256.Size }

// NewNonce returns a random nonce, for one connection.
func NewNonce() (n [NonceBytes]byte) {
	rand.Read(n[:]) // never fails
	return n
}

// Seal encodes a hello and signs it with the job's secret. role says what the hello is for, as
// "origin" or "refusal": one that is sealed for one role is not accepted in another. challenge is
// what the other end has sent first for this connection, its nonce or its whole hello, so that a
// recorded hello cannot be replayed; nil if it has sent nothing.
func (h *Hello) Seal(secret []byte, role string, challenge []byte) []byte {
	le := binary.LittleEndian
	b := append(make([]byte, 0, HelloBytes(len(h.Extra))), helloMagic...)
	b = le.AppendUint32(b, WireVersion)
	b = le.AppendUint32(b, uint32(h.From))
	b = le.AppendUint32(b, uint32(h.To))
	b = le.AppendUint32(b, h.Frame)
	b = append(b, h.Nonce[:]...)
	b = append(b, h.Extra...)
	return append(b, signHello(secret, role, challenge, b)...)
}

// signHello returns the HMAC of the encoded hello b. The role and the challenge are part of it, but
// are not sent.
func signHello(secret []byte, role string, challenge, b []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(role))
	mac.Write(challenge)
	mac.Write(b)
	return mac.Sum(nil)
}

// Unseal checks and decodes the result of Seal. role is what b is expected to be for; challenge is
// what this end has sent first. After an error h is unchanged, and the caller refuses or ignores b.
// Else the caller checks From, To and the length of Extra.
func (h *Hello) Unseal(b, secret []byte, role string, challenge []byte) error {
	if len(b) < HelloBytes(0) || string(b[:8]) != helloMagic {
		return errors.New("not an ARMCI process")
	}
	le, signed := binary.LittleEndian, len(b)-sha256.Size
	if v := le.Uint32(b[8:]); v != WireVersion {
		return fmt.Errorf("the other side speaks version %d of the wire format, this one "+
			"%d", v, WireVersion)
	}
	if !hmac.Equal(b[signed:], signHello(secret, role, challenge, b[:signed])) {
		return errors.New("no proof of the job's secret")
	}
	h.From, h.To, h.Frame = Rank(le.Uint32(b[12:])), Rank(le.Uint32(b[16:])), le.Uint32(b[20:])
	copy(h.Nonce[:], b[24:])
	h.Extra = append([]byte(nil), b[helloBytes:signed]...)
	return nil
}
