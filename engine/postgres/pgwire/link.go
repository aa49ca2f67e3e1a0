package pgwire

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"rumbench/engine/wire"
)

// link speaks the protocol, version 3.0, on a connection that pgconn has made:
// https://www.postgresql.org/docs/current/protocol-message-formats.html.
// It asks one question at a time and reads its answer to the end.
type link struct {
	wire   *wire.Conn
	out    []byte // the question
	status byte   // of the session when it was last ready
	lost   error  // why the server is gone

	// The answer so far:
	done       int      // statements that are complete
	rows       int64    // of the last one: inserted, changed, deleted or returned
	undone     bool     // the last one has ended its transaction without keeping its work
	parameters []uint32 // the types of a statement's arguments
	columns    []uint32 // the types of its rows' columns
	failed     error    // the server's error
}

// The states of a session.
const (
	idle     = 'I'
	inFailed = 'E' // in a transaction that has failed
)

// The server's messages.
const (
	parseComplete        = '1'
	bindComplete         = '2'
	parameterDescription = 't'
	noData               = 'n'
	rowDescription       = 'T'
	dataRow              = 'D'
	commandComplete      = 'C'
	emptyQueryResponse   = 'I'
	copyInResponse       = 'G'
	errorResponse        = 'E'
	readyForQuery        = 'Z'
	noticeResponse       = 'N'
	notificationResponse = 'A'
	parameterStatus      = 'S'
)

// Messages that never change.
const (
	executeMessage = "E\x00\x00\x00\x09\x00\x00\x00\x00\x00" // executes the bound statement, for all its rows
	// the question ends; after an error, the server skips all messages before this one
	syncMessage      = "S\x00\x00\x00\x04"
	copyDoneMessage  = "c\x00\x00\x00\x04"
	terminateMessage = "X\x00\x00\x00\x04"
)

// message begins a message; its length is written by finish.
func message(b []byte, kind byte) (_ []byte, position int) {
	return append(b, kind, 0, 0, 0, 0), len(b) + 1
}

// finish writes the length of the message whose length field is at that position.
func finish(b []byte, position int) []byte {
	binary.BigEndian.PutUint32(b[position:], uint32(len(b)-position))
	return b
}

func appendQuery(b []byte, text string) []byte {
	b, position := message(b, 'Q')
	b = append(b, text...)
	return finish(append(b, 0), position)
}

// appendCopy appends text that copies rows into a table, and the rows. They are sent
// before the server requests them; if it refuses the text it skips them.
func appendCopy(b []byte, text string, rows []byte) []byte {
	b, position := message(appendQuery(b, text), 'd')
	b = finish(append(b, rows...), position)
	return append(b, copyDoneMessage...)
}

// appendParse appends a statement that is to be parsed and described.
func appendParse(b []byte, name, text string) []byte {
	b, position := message(b, 'P')
	b = append(append(b, name...), 0)
	b = append(append(b, text...), 0)
	b = finish(append(b, 0, 0), position) // the server infers the types of its arguments
	b, position = message(b, 'D')
	b = append(append(b, 'S'), name...)
	return finish(append(b, 0), position)
}

// ask sends the question in out. The answer is read by next.
func (l *link) ask() {
	l.done, l.rows, l.undone, l.failed = 0, 0, false, nil
	l.parameters, l.columns = l.parameters[:0], l.columns[:0]
	l.wire.Ask(l.out)
}

// next returns the next row of the answer, which is valid until the following call; at
// the answer's end nil, with the server's error, if any.
func (l *link) next() ([]byte, error) {
	for {
		kind, body, err := l.receive()
		if err != nil {
			return nil, err
		}
		switch kind {
		case dataRow:
			return body, nil
		case commandComplete:
			l.complete(body)
		case readyForQuery:
			if len(body) != 1 {
				return nil, l.lose(errCut)
			}
			l.status = body[0]
			return nil, l.failed
		case errorResponse:
			err = l.fail(body)
		case parameterDescription:
			l.parameters, err = appendTypes(l.parameters[:0], body)
		case rowDescription:
			l.columns, err = appendColumns(l.columns[:0], body)
		case parseComplete, bindComplete, noData, emptyQueryResponse, copyInResponse:
		default:
			err = fmt.Errorf("the server sent a message of kind %q where none belongs", kind)
		}
		if err != nil {
			return nil, l.lose(err)
		}
	}
}

// longest is the maximum length of a message: a value takes at most 1 GB.
const longest = 1 << 30

// receive reads the next message of an answer.
func (l *link) receive() (kind byte, body []byte, err error) {
	for l.lost == nil {
		head, err := l.wire.Peek(5)
		if err != nil {
			return 0, nil, l.lose(err)
		}
		kind, n := head[0], binary.BigEndian.Uint32(head[1:])
		if n < 4 || n > longest {
			return 0, nil, l.lose(fmt.Errorf("the server sent a message of kind %q and %d bytes", kind, n))
		}
		whole, err := l.wire.Peek(1 + int(n))
		if err != nil {
			return 0, nil, l.lose(err)
		}
		l.wire.Skip(len(whole))
		switch kind {
		case noticeResponse, notificationResponse, parameterStatus: // these may arrive at any time
		default:
			return kind, whole[5:], nil
		}
	}
	return 0, nil, l.lost
}

// complete reads the result of a statement, such as "UPDATE 1" or "INSERT 0 1".
func (l *link) complete(tag []byte) {
	tag = bytes.TrimSuffix(tag, []byte{0})
	l.done++
	l.undone = string(tag) == "ROLLBACK"
	l.rows = 0
	for _, c := range tag[bytes.LastIndexByte(tag, ' ')+1:] {
		if c < '0' || c > '9' {
			return
		}
		l.rows = 10*l.rows + int64(c-'0')
	}
}

// fail notes an error of the server; the first one of an answer counts. It returns the
// errors after which the server closes the connection.
func (l *link) fail(body []byte) error {
	var m pgproto3.ErrorResponse
	if err := m.Decode(body); err != nil {
		return err
	}
	failed := pgconn.ErrorResponseToPgError(&m)
	if l.failed == nil {
		l.failed = failed
	}
	if ends(failed) {
		return failed
	}
	return nil
}

// lose notes that the server is gone.
func (l *link) lose(err error) error {
	l.lost = cmp.Or(l.lost, err)
	return l.lost
}

var errCut = errors.New("the server sent a message that is cut off")

// count reads the number of items that follow.
func count(b []byte) (n int, remaining []byte, err error) {
	if len(b) < 2 {
		return 0, nil, errCut
	}
	return int(binary.BigEndian.Uint16(b)), b[2:], nil
}

// field reads the next value of a row; nil is NULL.
func field(row []byte) (value, remaining []byte, err error) {
	if len(row) < 4 {
		return nil, nil, errCut
	}
	n := int(int32(binary.BigEndian.Uint32(row)))
	row = row[4:]
	switch {
	case n == -1:
		return nil, row, nil
	case n < 0 || n > len(row):
		return nil, nil, errCut
	}
	return row[:n:n], row[n:], nil
}

func appendTypes(dst []uint32, b []byte) ([]uint32, error) {
	n, b, err := count(b)
	if err != nil || len(b) != 4*n {
		return dst, errCut
	}
	for ; len(b) > 0; b = b[4:] {
		dst = append(dst, binary.BigEndian.Uint32(b))
	}
	return dst, nil
}

func appendColumns(dst []uint32, b []byte) ([]uint32, error) {
	const facts = 18 // its table and its position there, type, length, modifier and format
	n, b, err := count(b)
	for i := 0; i < n && err == nil; i++ {
		_, remaining, ok := bytes.Cut(b, []byte{0}) // its name
		if !ok || len(remaining) < facts {
			return dst, errCut
		}
		dst, b = append(dst, binary.BigEndian.Uint32(remaining[6:])), remaining[facts:]
	}
	return dst, err
}
