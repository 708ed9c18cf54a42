// SPDX-License-Identifier: BSD-3-Clause

// Package jobwire is the protocol between armcirun's job server, the ranks and
// the proxies on other hosts, and between the ranks of a node: frames over a
// stream socket (unix on one machine, TCP between hosts), and the proof that
// each end belongs to the job. It knows neither jobs nor processes.
//
// A frame is a header and a payload; numbers are little endian.
//
//	offset bytes  field
//	0      4      magic "ARMJ"
//	4      1      version, 3
//	5      1      kind
//	6      2      zero
//	8      4      payload bytes, at most what the kind allows
//
//	kind        from    payload (at most)
//	Challenge   server  nonce (32)
//	Hello       rank    rank uint32, ranks in the job uint32, nonce (32), proof (32)
//	Attach      proxy   host uint32, hosts of the job uint32, nonce (32), proof (32)
//	Link        rank    to its parent (tree.go): local number uint32, ranks of the node uint32,
//	                    nonce (32), proof (32)
//	Welcome     server  proof (32): answers Hello, Attach and Link
//	Split       rank    list: key of its node, its address for other ranks of the node (4 KiB)
//	Placed      server  local number uint32, ranks of the node uint32, address of the parent,
//	                    text (4 KiB): answers Split
//	Contribute  leader  the string of its node (1 MiB)
//	Collected   server  list: the strings of all nodes (64 MiB); between ranks: the same, or the
//	                    strings of ranks of the node
//	Missing     rank    none; a connection within its node has ended: asks which rank has left
//	Abort       rank    exit status uint32 (4); ends the job
//	Bye         rank    none; the rank is done with the job
//	Done        server  none; answers Abort and Bye
//	Refused     server  the reason, text (1 KiB); answers Hello, Split, Contribute and Missing;
//	                    between ranks: instead of Collected
//	Started     proxy   process id of each of its ranks, uint32 each (1 MiB)
//	StartFailed proxy   kind uint32, reason, text: the ranks could not be started (1 KiB)
//	Ended       proxy   rank uint32, wait status uint32 (8)
//	Signal      server  signal number uint32, for all ranks of the proxy (4)
//	Finish      server  uint32, not 0 if the job has failed: end the remaining ranks, exit (4);
//	                    to ranks, of a server in rank 0: exit with that status, the reason
//	                    has been printed
//
// A list is a count, as many lengths, and as many byte strings; count and
// lengths are varints of package encoding/binary.
//
// A proof is an HMAC with the job's secret over both nonces: that of the
// connecting process covers the Challenge and its own Hello, Attach or Link,
// that of the server covers what it has received.
//
// The server speaks first; within a node the parent is the server. A rank has one
// Split, Contribute, Missing, Abort or Bye unanswered at most, but may send Abort
// while another is under way.
package jobwire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"syscall"

	"libarmci/internal/sys"
)

// Kind says what a frame is.
type Kind uint8

// The kinds of frames; see the table above.
const (
	Challenge Kind = iota + 1
	Hello
	Welcome
	Contribute
	Collected
	Abort
	Bye
	Done
	Refused
	Attach
	Started
	StartFailed
	Ended
	Signal
	Finish
	Split
	Placed
	Link
	Missing
)

const (
	version     = 3
	headerBytes = 12

	// MaxContribution bounds one string of an exchange, MaxCollected all of them
	// together with their lengths.
	MaxContribution = 1 << 20
	MaxCollected    = 64 << 20
	maxReason       = 1 << 10
	maxPlace        = 4 << 10 // of Split and Placed
)

var magic = [4]byte{'A', 'R', 'M', 'J'}

// Frame is one message.
type Frame struct {
	Kind    Kind
	Payload []byte
}

// limit is the longest payload of a kind, negative for kinds that do not exist.
func (k Kind) limit() int {
	switch k {
	case Challenge:
		return nonceBytes
	case Hello, Attach, Link:
		return helloBytes
	case Contribute, Started:
		return MaxContribution
	case Collected:
		return MaxCollected
	case Abort, Signal, Finish:
		return 4
	case Ended:
		return 8
	case Welcome:
		return proofBytes
	case Split, Placed:
		return maxPlace
	case Bye, Done, Missing:
		return 0
	case Refused, StartFailed:
		return maxReason
	}
	return -1
}

// Write sends a frame in one write; on a socket without SIGPIPE, even if the peer is gone.
func Write(w io.Writer, kind Kind, payload []byte) error {
	b, err := Encode(kind, payload)
	if err != nil {
		return err
	}
	return WriteEncoded(w, b)
}

// Encode makes the bytes of a frame, for WriteEncoded: several receivers of one frame share them.
func Encode(kind Kind, payload []byte) ([]byte, error) {
	if len(payload) > kind.limit() {
		return nil, fmt.Errorf("job frame %d with %d bytes: too long", kind, len(payload))
	}
	b := make([]byte, headerBytes, headerBytes+len(payload))
	copy(b, magic[:])
	b[4], b[5] = version, byte(kind)
	binary.LittleEndian.PutUint32(b[8:], uint32(len(payload)))
	return append(b, payload...), nil
}

// WriteEncoded sends a frame.
func WriteEncoded(w io.Writer, frame []byte) error {
	if c, ok := w.(syscall.Conn); ok {
		return sys.Send(c, frame, nil)
	}
	_, err := w.Write(frame)
	return err
}

// Read receives a frame, which must be of one of the given kinds; it allocates nothing for others.
func Read(r io.Reader, kinds ...Kind) (Frame, error) {
	var h [headerBytes]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return Frame{}, err
	}
	if [4]byte(h[:4]) != magic || h[6] != 0 || h[7] != 0 {
		return Frame{}, errors.New("not a job frame")
	}
	if h[4] != version {
		return Frame{}, fmt.Errorf("job frame of version %d, this is version %d: library "+
			"and armcirun do not match", h[4], version)
	}
	f := Frame{Kind: Kind(h[5])}
	for _, kind := range kinds {
		if kind == f.Kind {
			return f, f.readPayload(r, binary.LittleEndian.Uint32(h[8:]))
		}
	}
	return Frame{}, fmt.Errorf("unexpected job frame of kind %d", f.Kind)
}

// readPayload reads n bytes of payload, if the kind allows so many.
func (f *Frame) readPayload(r io.Reader, n uint32) error {
	if int64(n) > int64(f.Kind.limit()) {
		return fmt.Errorf("job frame %d announces %d bytes: too long", f.Kind, n)
	}
	f.Payload = make([]byte, n)
	_, err := io.ReadFull(r, f.Payload)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
