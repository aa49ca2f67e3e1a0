// Package iproto is a client of Tarantool's binary protocol that allocates
// nothing per request: see docs/decisions/0007-client-cost.md.
//
// It knows no schema. Requests are built by the caller, one is in flight at a
// time, and responses are read in place.
package iproto

import (
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"

	"rumbench/engine"
	"rumbench/engine/wire"
	"rumbench/internal/text/hint"
)

type Kind byte

// The kinds of requests.
const (
	Select  Kind = 1
	Insert  Kind = 2
	Replace Kind = 3
	Update  Kind = 4
	Delete  Kind = 5
	auth    Kind = 7
	Eval    Kind = 8
	Upsert  Kind = 9
	Call    Kind = 10
)

// The keys of the maps that a request and a response are made of.
const (
	keyKind = 0x00
	keySync = 0x01

	KeySpace    = 0x10
	KeyIndex    = 0x11
	KeyLimit    = 0x12
	KeyOffset   = 0x13
	KeyIterator = 0x14
	KeyKey      = 0x20
	KeyTuple    = 0x21 // also the arguments of a call, and the operations of an update
	KeyFunction = 0x22
	KeyUser     = 0x23
	KeyExpr     = 0x27
	KeyOps      = 0x28 // of an upsert

	keyData  = 0x30
	keyError = 0x31
)

// Conn is a connection, for one goroutine at a time.
type Conn struct {
	Version string // of the server, as in its greeting

	wire  *wire.Conn
	watch wire.Interrupter
	lost  error // why the server is gone
}

// The greeting is two lines: the server's version, and the salt of passwords.
const (
	greetingSize = 128
	saltAt       = 64
	saltSize     = 44
)

// guest is the user that needs no password.
const guest = "guest"

// Connect takes over a connection to a server, and begins a session for a user.
func Connect(ctx context.Context, conn net.Conn, user, password string) (*Conn, error) {
	greeting := make([]byte, greetingSize)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	_, err := io.ReadFull(conn, greeting)
	if !stop() || err != nil {
		_ = conn.Close()
		if cause := ctx.Err(); cause != nil {
			return nil, cause
		}
		return nil, Gone(fmt.Errorf("read the server's greeting: %w", err))
	}
	c := &Conn{}
	if _, err := fmt.Sscanf(string(greeting), "Tarantool %s (Binary)", &c.Version); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("the server is no Tarantool: its greeting is %q", greeting[:saltAt])
	}
	if c.wire, err = wire.Take(conn); err != nil {
		return nil, fmt.Errorf("take over the connection to the server: %w", err)
	}
	c.watch.Cut = c.wire.Break
	// A request cannot be cancelled: the connection is closed when the time is up.
	c.watch.Ask = func(context.Context) error { return nil }
	if user != "" && user != guest {
		if _, err := c.Do(ctx, login(user, password, greeting[saltAt:saltAt+saltSize])); err != nil {
			_ = c.Close()
			return nil, err
		}
	}
	return c, nil
}

// Ended implements engine.Connected.
func (c *Conn) Ended() bool { return c.wire.Ended() }

// login returns the request that proves knowledge of the password without revealing it:
// with the SHA-1 of the salt and of the hash that the server stores.
func login(user, password string, salt64 []byte) []byte {
	salt, _ := base64.StdEncoding.DecodeString(string(salt64))
	once := sha1.Sum([]byte(password))
	stored := sha1.Sum(once[:])
	mask := sha1.Sum(append(salt[:min(len(salt), sha1.Size):sha1.Size], stored[:]...))
	for i := range once {
		once[i] ^= mask[i]
	}
	b := AppendMap(Begin(nil, auth), 2)
	b = AppendText(AppendUint(b, KeyUser), user)
	b = AppendText(AppendArray(AppendUint(b, KeyTuple), 2), "chap-sha1")
	return Finish(AppendText(b, string(once[:])))
}

// Begin begins a request; its body, which is a map, follows.
func Begin(b []byte, k Kind) []byte {
	return append(b[:0], 0xce, 0, 0, 0, 0, 0x82, keyKind, byte(k), keySync, 0)
}

// Finish writes the length of a request.
func Finish(b []byte) []byte {
	binary.BigEndian.PutUint32(b[1:], uint32(len(b)-headSize))
	return b
}

// headSize is the size of a message's length, which the server encodes as we do.
const headSize = 5

// longest is the maximum length of a response.
const longest = 1 << 30

// Do sends a request and returns the data of its response, an array, which is
// valid until the next request.
func (c *Conn) Do(ctx context.Context, request []byte) (Reader, error) {
	if c.lost != nil {
		return Reader{}, Gone(c.lost)
	}
	if err := c.watch.Begin(ctx); err != nil {
		return Reader{}, err
	}
	c.wire.Ask(request)
	r, err := c.receive()
	c.watch.End()
	if err == nil {
		return r, nil
	}
	if refused, ok := err.(*Error); ok {
		return r, classify(refused)
	}
	c.lost = err
	if cause := ctx.Err(); cause != nil {
		return r, fmt.Errorf("%w (%w)", cause, err)
	}
	return r, Gone(err)
}

// receive reads a response.
func (c *Conn) receive() (Reader, error) {
	head, err := c.wire.Peek(headSize)
	if err != nil {
		return Reader{}, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if head[0] != 0xce || n > longest {
		return Reader{}, fmt.Errorf("the server sent a message that begins with %x", head)
	}
	whole, err := c.wire.Peek(headSize + int(n))
	if err != nil {
		return Reader{}, err
	}
	c.wire.Skip(len(whole))
	return parse(whole[headSize:])
}

func parse(b []byte) (Reader, error) {
	const errorBit = 0x8000
	r := Reader{b: b}
	var code int64
	for range r.Map() {
		if key := r.Int(); key == keyKind {
			code = r.Int()
		} else {
			r.Skip()
		}
	}
	var data, message Reader
	if len(r.b) > 0 { // otherwise there is no body
		for range r.Map() {
			switch key := r.Int(); key {
			case keyData:
				data = r
				r.Skip()
			case keyError:
				message = r
				r.Skip()
			default:
				r.Skip()
			}
		}
	}
	switch {
	case r.bad:
		return r, errCut
	case code != 0:
		return r, &Error{Code: uint32(code &^ errorBit), Message: string(message.Text())}
	}
	return data, nil
}

// Close closes the connection. Closing again does nothing.
func (c *Conn) Close() error {
	err := c.watch.Leave()
	c.lost = cmp.Or(c.lost, net.ErrClosed)
	if e := c.wire.Close(); e != nil {
		return e
	}
	return err
}

// Gone classifies an error after which the server is gone.
func Gone(err error) error { return engine.Classify(engine.Gone, err) }

// Error is an error of the server.
type Error struct {
	Code    uint32
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("%s (error %d)", e.Message, e.Code) }

// classes are the classes of the server's errors.
var classes = map[uint32]engine.Class{
	3:   engine.Duplicate, // a key exists
	78:  engine.Timeout,
	97:  engine.Conflict, // a different transaction aborted this one
	135: engine.Timeout,  // vinyl's memory was full for longer than vinyl_timeout
}

// advice is the advice to users about errors.
var advice = map[uint32]string{
	2: "the data does not fit in memory: raise memtx_memory (vinyl_memory with storage vinyl) under options, or " +
		"lower the sizes",
	40: "the log could not be written: the disk may be full; see the server's log",
	42: "the user of the dsn needs the rights read, write, execute, create and drop on the universe: " +
		"box.schema.user.grant(…, 'super')",
	45:  "check the user in the dsn",
	47:  "check the password in the dsn",
	110: tooLong,
	139: tooLong,
	154: "storage memtx has no transactions of several operations; vinyl has",
}

const tooLong = "memtx_max_tuple_size and vinyl_max_tuple_size, under options, limit the size of a row"

func classify(e *Error) error {
	var err error = e
	if class, ok := classes[e.Code]; ok {
		return engine.Classify(class, e)
	}
	if text := advice[e.Code]; text != "" {
		err = hint.With(err, text)
	}
	return engine.Classify(engine.Fatal, err)
}
