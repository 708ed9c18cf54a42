// SPDX-License-Identifier: BSD-3-Clause

// The first frames of a connection, by which both ends prove that they know the
// job's secret. The secret itself never travels.

package jobwire

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"time"
)

const (
	secretBytes = 32
	nonceBytes  = 32
	proofBytes  = sha256.Size
	helloBytes  = 8 + nonceBytes + proofBytes
)

// greetTime is how long a hello may take. All ranks of a node greet their leader at the same time,
// perhaps on few cores.
func (k Kind) greetTime() time.Duration {
	if k == Link {
		return time.Minute
	}
	return 10 * time.Second
}

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

// NewHello makes the payload of a Hello, Attach or Link, the answer to a Challenge:
// number of the rank or host, and how many there are.
func NewHello(s Secret, kind Kind, challenge []byte, number, of int) []byte {
	b := PackNumbers(number, of)
	b = append(b, NewNonce()...)
	return append(b, proof(s, kind, challenge, b)...)
}

// CheckHello reads the payload of a Hello, Attach or Link and checks the proof.
func CheckHello(s Secret, kind Kind, challenge, payload []byte) (number, of int, err error) {
	if len(payload) != helloBytes {
		return 0, 0, errors.New("hello of wrong length")
	}
	told := payload[:helloBytes-proofBytes]
	if !hmac.Equal(payload[len(told):], proof(s, kind, challenge, told)) {
		return 0, 0, errors.New("wrong secret")
	}
	n := UnpackNumbers(told[:8])
	return n[0], n[1], nil
}

// NewWelcome makes the server's proof that it knows the secret, too.
func NewWelcome(s Secret, hello []byte) []byte { return proof(s, Welcome, nil, hello) }

// CheckWelcome tells whether a Welcome answers this hello.
func CheckWelcome(s Secret, hello, payload []byte) error {
	if !hmac.Equal(payload, NewWelcome(s, hello)) {
		return errors.New("what answers is not the job server")
	}
	return nil
}

// Greet is the hello of a process on a new connection to a job server: both prove
// that they belong to the job.
func Greet(conn net.Conn, s Secret, kind Kind, number, of int) error {
	return greetUntil(conn, time.Time{}, s, kind, number, of)
}

// greetUntil is Greet that waits for the Challenge until patience, unless that is the zero time.
func greetUntil(conn net.Conn, patience time.Time, s Secret, kind Kind, number, of int) error {
	last := time.Now().Add(kind.greetTime())
	if patience.IsZero() {
		patience = last
	}
	conn.SetDeadline(patience)
	defer conn.SetDeadline(time.Time{})
	challenge, err := Read(conn, Challenge)
	if err != nil {
		return err
	}
	conn.SetDeadline(last)
	hello := NewHello(s, kind, challenge.Payload, number, of)
	if err := Write(conn, kind, hello); err != nil {
		return err
	}
	answer, err := Read(conn, Welcome, Refused)
	if err != nil {
		return err
	}
	if answer.Kind == Refused {
		return fmt.Errorf("refused: %s", answer.Payload)
	}
	return CheckWelcome(s, hello, answer.Payload)
}

// AcceptHello is the other end of Greet within a node, where no reason is given for a refusal. It
// returns what the hello says. proved is called when the hello is right, before it is answered; if
// it returns false, AcceptHello fails.
func AcceptHello(conn net.Conn, s Secret, kind Kind, proved func() bool) (
	number, of int, err error) {
	if err := Trust(conn); err != nil {
		return 0, 0, err
	}
	conn.SetDeadline(time.Now().Add(kind.greetTime()))
	defer conn.SetDeadline(time.Time{})
	nonce := NewNonce()
	if err := Write(conn, Challenge, nonce); err != nil {
		return 0, 0, err
	}
	hello, err := Read(conn, kind)
	if err != nil {
		return 0, 0, err
	}
	if number, of, err = CheckHello(s, kind, nonce, hello.Payload); err != nil {
		return 0, 0, err
	}
	if !proved() {
		return 0, 0, net.ErrClosed
	}
	return number, of, Write(conn, Welcome, NewWelcome(s, hello.Payload))
}

func proof(s Secret, kind Kind, challenge, told []byte) []byte {
	mac := hmac.New(sha256.New, s[:])
	mac.Write([]byte{byte(kind)})
	mac.Write(challenge)
	mac.Write(told)
	return mac.Sum(nil)
}

// PackNumbers makes a payload of uint32 numbers, UnpackNumbers reads one.
func PackNumbers(numbers ...int) []byte {
	b := make([]byte, 0, 4*len(numbers))
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return b
}

// UnpackNumbers ignores an incomplete last number.
func UnpackNumbers(payload []byte) []int {
	numbers := make([]int, len(payload)/4)
	for i := range numbers {
		numbers[i] = int(binary.LittleEndian.Uint32(payload[4*i:]))
	}
	return numbers
}
