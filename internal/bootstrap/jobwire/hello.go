// SPDX-License-Identifier: BSD-3-Clause

// The first frames of a connection: who is there, and the proof of it. The
// secret itself never travels.

package jobwire

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
)

const (
	secretBytes = 32
	nonceBytes  = 32
	helloBytes  = 8 + sha256.Size
)

// Secret is what a job's ranks and server share.
type Secret [secretBytes]byte

// NewSecret makes a random secret.
func NewSecret() (s Secret) {
	rand.Read(s[:]) // never fails
	return s
}

// ParseSecret reads what String writes.
func ParseSecret(text string) (s Secret, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != secretBytes {
		return s, fmt.Errorf("job secret: not %d hexadecimal digits", 2*secretBytes)
	}
	return Secret(b), nil
}

func (s Secret) String() string { return hex.EncodeToString(s[:]) }

// NewNonce makes the payload of a Challenge.
func NewNonce() []byte {
	nonce := make([]byte, nonceBytes)
	rand.Read(nonce) // never fails
	return nonce
}

// NewHello makes the payload that answers a Challenge.
func NewHello(s Secret, nonce []byte, rank, size int) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(rank))
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	return append(b, proof(s, nonce, b)...)
}

// CheckHello reads the payload of a Hello and checks the proof.
func CheckHello(s Secret, nonce, payload []byte) (rank, size int, err error) {
	if len(payload) != helloBytes {
		return 0, 0, errors.New("hello of wrong length")
	}
	who := payload[:8]
	if !hmac.Equal(payload[8:], proof(s, nonce, who)) {
		return 0, 0, errors.New("wrong secret")
	}
	rank = int(binary.LittleEndian.Uint32(who))
	size = int(binary.LittleEndian.Uint32(who[4:]))
	return rank, size, nil
}

func proof(s Secret, nonce, who []byte) []byte {
	mac := hmac.New(sha256.New, s[:])
	mac.Write(nonce)
	mac.Write(who)
	return mac.Sum(nil)
}
