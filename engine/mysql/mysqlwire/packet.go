package mysqlwire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"rumbench/engine/wire"
)

// packets are the packets of the protocol's command phase. See
// https://mariadb.com/kb/en/0-packet/.
type packets struct {
	wire *wire.Conn
	seq  byte   // of the next packet of this command
	out  []byte // the command: room for its header, and its content
	long []byte // an answer received in several packets
}

// longest is the maximum length of a packet's content; longer content continues in the
// next packet.
const longest = 1<<24 - 1

const headerSize = 4

// command begins a command. Its content is appended to out.
func (p *packets) command(code byte) { p.out = append(p.out[:0], 0, 0, 0, 0, code) }

// send queues the command, which is sent when its answer is waited for.
func (p *packets) send() {
	p.seq = 0
	p.write()
}

// sendNow sends a command that has no answer.
func (p *packets) sendNow() error {
	binary.LittleEndian.PutUint32(p.out, uint32(len(p.out)-headerSize))
	return p.wire.Send(p.out)
}

// write queues out for sending, which may take several packets. The server may refuse it before
// it has received all of it, and close the connection: its answer is read all the same.
func (p *packets) write() {
	for position := 0; ; {
		n := min(len(p.out)-position-headerSize, longest)
		binary.LittleEndian.PutUint32(p.out[position:], uint32(n)|uint32(p.seq)<<24)
		p.seq++
		if n < longest {
			break
		}
		position += headerSize + n
		p.out = slices.Insert(p.out, position, 0, 0, 0, 0) // the next header
	}
	p.wire.Ask(p.out)
}

// read reads an answer. It is valid until the next.
func (p *packets) read() ([]byte, error) {
	b, last, err := p.packet()
	if err != nil || last {
		return b, err
	}
	p.long = append(p.long[:0], b...)
	for !last {
		if b, last, err = p.packet(); err != nil {
			return nil, err
		}
		p.long = append(p.long, b...)
	}
	return p.long, nil
}

// packet reads one packet, and reports whether it is the last of the answer.
func (p *packets) packet() (b []byte, last bool, err error) {
	h, err := p.wire.Peek(headerSize)
	if err != nil {
		return nil, false, err
	}
	n, seq := int(h[0])|int(h[1])<<8|int(h[2])<<16, h[3]
	if b, err = p.wire.Peek(headerSize + n); err != nil {
		return nil, false, err
	}
	p.wire.Skip(headerSize + n)
	b = b[headerSize:]
	// A server that ends the connection sends its error with any sequence number.
	if seq != p.seq && (n == 0 || b[0] != isError) {
		return nil, false, fmt.Errorf("packet %d came from the server where %d should have", seq, p.seq)
	}
	p.seq = seq + 1
	return b, n < longest, nil
}

// The first bytes of answers.
const (
	isOK    = 0x00
	isNull  = 0xfb // in a row of text
	isFile  = 0xfb // the server requests a file
	isEnd   = 0xfe
	isError = 0xff
)

var errMalformed = errors.New("a packet from the server is malformed")

// number reads a number of variable length.
func number(b []byte) (n uint64, remaining []byte, err error) {
	if len(b) == 0 {
		return 0, nil, errMalformed
	}
	size := 0
	switch b[0] {
	case 0xfc:
		size = 2
	case 0xfd:
		size = 3
	case 0xfe:
		size = 8
	case isNull, isError:
		return 0, nil, errMalformed
	default:
		return uint64(b[0]), b[1:], nil
	}
	if len(b) <= size {
		return 0, nil, errMalformed
	}
	for i := size; i > 0; i-- {
		n = n<<8 | uint64(b[i])
	}
	return n, b[1+size:], nil
}

// prefixed reads bytes that are preceded by their length.
func prefixed(b []byte) (s, remaining []byte, err error) {
	n, b, err := number(b)
	if err != nil || n > uint64(len(b)) {
		return nil, nil, errMalformed
	}
	return b[:n:n], b[n:], nil
}

// appendNumber appends a number of variable length.
func appendNumber(b []byte, n uint64) []byte {
	switch {
	case n < 0xfb:
		return append(b, byte(n))
	case n < 1<<16:
		return append(b, 0xfc, byte(n), byte(n>>8))
	case n < 1<<24:
		return append(b, 0xfd, byte(n), byte(n>>8), byte(n>>16))
	}
	return binary.LittleEndian.AppendUint64(append(b, 0xfe), n)
}
