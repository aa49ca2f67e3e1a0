package mysqlwire

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/engine"
	"rumbench/engine/wire"
	"rumbench/internal/expect"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// spoken makes a connection to a server that says what the test wants, and
// remembers what it was asked. Its answers come in pieces of a few bytes; then
// it closes the connection, if it had any.
func spoken(t *testing.T, answers ...[]byte) (c *Conn, asked func() []byte) {
	t.Helper()
	here, there := net.Pipe()
	w, err := wire.Take(here)
	expect.NoError(t, err)
	var question bytes.Buffer
	done := make(chan struct{})
	go func() {
		defer close(done)
		io.Copy(&question, there)
	}()
	go func() {
		for _, a := range answers {
			for len(a) > 0 {
				n := min(len(a), max(3, len(a)/5))
				if _, err := there.Write(a[:n]); err != nil {
					return
				}
				a = a[n:]
			}
		}
		if len(answers) > 0 {
			there.Close()
		}
	}()
	t.Cleanup(func() { w.Close() })
	c = own(w)
	return c, func() []byte {
		w.Close()
		<-done
		return question.Bytes()
	}
}

func own(w *wire.Conn) *Conn {
	c := newConn(w)
	c.noEOF, c.caches = true, true
	return c
}

// packet makes a packet.
func packet(seq byte, content ...byte) []byte {
	return append([]byte{byte(len(content)), byte(len(content) >> 8), byte(len(content) >> 16), seq}, content...)
}

func describe(kind byte, flags byte) []byte {
	b := append([]byte("\x03def\x00\x00\x00"), "\x01n\x00"...)
	return append(b, 0x0c, 63, 0, 20, 0, 0, 0, kind, flags, 0, 0, 0, 0)
}

var endOfRows = []byte{isEnd, 0, 0, 2, 0, 0, 0}

// The values of an execution, as MariaDB's documentation writes them.
func TestEncode(t *testing.T) {
	s := &stmt{conn: &Conn{}, id: 7, params: []byte{unsent, unsent, unsent, unsent, unsent}}
	at := time.Date(2024, 2, 29, 13, 14, 15, 16_000, time.UTC)
	args := []model.Value{model.IntValue(-2), model.FloatValue(1.5), model.StringValue([]byte("né")), {}, model.TimeValue(at)}
	expect.NoError(t, s.encode(args))
	want := "00000000 17 07000000 00 01000000 08 01 0800 0500 fe00 0600 0c00 " +
		"feffffffffffffff 000000000000f83f 03 6ec3a9 0b e807 02 1d 0d 0e 0f 10000000"
	hexed(t, "first", s.conn.out, want)

	// The types are sent again only when one is another.
	expect.NoError(t, s.encode(args))
	hexed(t, "again", s.conn.out, "00000000 17 07000000 00 01000000 08 00 "+
		"feffffffffffffff 000000000000f83f 03 6ec3a9 0b e807 02 1d 0d 0e 0f 10000000")
	expect.NoError(t, s.encode([]model.Value{{}, {}, {}, model.BytesValue([]byte{0}), {}}))
	hexed(t, "another", s.conn.out, "00000000 17 07000000 00 01000000 17 01 0800 0500 fe00 fe00 0c00 01 00")

	two := &stmt{conn: &Conn{micros: true}, params: []byte{unsent, unsent}}
	expect.NoError(t, two.encode([]model.Value{model.MicrosValue(2), model.IntValue(1)}))
	hexed(t, "micros", two.conn.out, "00000000 17 00000000 00 01000000 00 01 0800 0800 0200000000000000 0100000000000000")

	expect.Error(t, two.encode(args), "", "five arguments were taken for two placeholders")
	far := model.TimeValue(time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC))
	expect.Error(t, s.encode([]model.Value{{}, {}, {}, {}, far}), "", "the year 10000 was taken")
}

func hexed(t *testing.T, subject string, got []byte, want string) {
	t.Helper()
	if g, w := hex.EncodeToString(got), strings.ReplaceAll(want, " ", ""); g != w {
		t.Errorf("%s:\n%s, want\n%s", subject, g, w)
	}
}

// query runs a prepared statement without arguments on a server that answers so.
func query(t *testing.T, columns []column, types []model.Type, answers ...[]byte) (rows []string, c *Conn, err error) {
	t.Helper()
	c, _ = spoken(t, answers...)
	s := &stmt{conn: c, id: 1, columns: columns}
	err = s.Query(context.Background(), nil, types, func(row []model.Value) error {
		text := ""
		for _, v := range row {
			text += v.String() + " "
		}
		rows = append(rows, text)
		return nil
	})
	return rows, c, err
}

func TestBinaryRows(t *testing.T) {
	row := []byte{0, 0b0000_0000, 0b0000_0010} // bit 7+2 is the NULL
	row = append(row, 0xff)                    // tiny
	row = append(row, 0xfe, 0xff)              // unsigned short
	row = append(row, 0, 0, 0, 0x80)           // long
	row = append(row, 1, 2, 0, 0, 0, 0, 0, 0)  // long long
	row = append(row, 0, 0, 0, 0, 0, 0, 0xf8, 0x3f)
	row = append(row, 7, 0xe8, 7, 2, 29, 13, 14, 15) // a time without a fraction
	row = append(row, 3, 'a', 'b', 'c')
	row = append(row, 4, '-', '1', '.', '5') // a decimal
	columns := [][]byte{
		describe(kindTiny, 0), describe(kindShort, 0x20), describe(kindLong, 0), describe(kindLongLong, 0), describe(kindDouble, 0),
		describe(kindDateTime, 0), describe(kindString, 0), describe(kindLongLong, 0), describe(246, 0),
	}
	answer := packet(1, byte(len(columns)), 1)
	for i, c := range columns {
		answer = append(answer, packet(byte(2+i), c...)...)
	}
	answer = append(answer, packet(11, row...)...)
	answer = append(answer, packet(12, endOfRows...)...)
	// The NULL is the column before the last.
	types := []model.Type{model.Int, model.Int, model.Int, model.Int, model.Float, model.Time, model.Bytes, model.Int, model.Float}
	rows, _, err := query(t, nil, types, answer)
	expect.NoError(t, err)
	want := []string{"-1 65534 -2147483648 513 1.5 2024-02-29T13:14:15Z x'616263' NULL -1.5 "}
	expect.True(t, slices.Equal(rows, want), rows, "want", want)
}

var aNumber = []column{{kind: kindLongLong}}

// MariaDB leaves out the columns' descriptions when they are as before.
func TestCachedColumns(t *testing.T) {
	row := packet(2, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0)
	rows, _, err := query(t, aNumber, []model.Type{model.Int}, packet(1, 1, 0), row, packet(3, endOfRows...))
	expect.NoError(t, err)
	expect.True(t, slices.Equal(rows, []string{"9 "}), "rows are", rows)
}

// A value of more than 16 MiB takes several packets.
func TestLongPackets(t *testing.T) {
	value := bytes.Repeat([]byte("0123456789abcdef"), (longest+100)/16)
	content := appendNumber([]byte{0, 0}, uint64(len(value)))
	content = append(content, value...)
	first := packet(2, content[:longest]...)
	rest := packet(3, content[longest:]...)
	c, _ := spoken(t, packet(1, 1, 0), first, rest, packet(4, endOfRows...))
	s := &stmt{conn: c, columns: []column{{kind: kindString}}}
	n := 0
	expect.NoError(t, s.Query(context.Background(), nil, []model.Type{model.Bytes}, func(row []model.Value) error {
		n++
		expect.True(t, bytes.Equal(row[0].Buf(), value), "another value came than was sent")
		return nil
	}))
	expect.Equal(t, n, 1, "rows")

	// And so does a question. One of exactly that length has an empty end.
	for _, length := range []int{longest - 1, longest, longest + 1, 2*longest + 1} {
		question := append([]byte{comQuery}, value[:min(length-1, len(value))]...)
		question = append(question, value[:length-len(question)]...)
		c, asked := spoken(t, packet(byte(1+length/longest), isOK, 0, 0, 2, 0, 0, 0))
		_, _, err := c.ExecText(context.Background(), string(question[1:]))
		expect.NoError(t, err)
		got := asked()
		var want []byte
		for seq, rest := byte(0), question; ; seq++ {
			n := min(len(rest), longest)
			want = append(want, packet(seq, rest[:n]...)...)
			if rest = rest[n:]; n < longest {
				break
			}
		}
		expect.True(t, bytes.Equal(got, want), length, len(got), got[:6], len(want))
	}
}

// A server that finds a question too long may say so when it has seen how long
// it is, and hang up. What it said is reported.
func TestEarlyRefusal(t *testing.T) {
	for _, network := range []string{"unix", "tcp"} {
		at := "127.0.0.1:0"
		if network == "unix" {
			at = filepath.Join(t.TempDir(), "s")
		}
		l, err := net.Listen(network, at)
		expect.NoError(t, err)
		defer l.Close()
		go func() {
			there, err := l.Accept()
			if err != nil {
				return
			}
			io.ReadFull(there, make([]byte, headerSize))
			there.Write(packet(1, append([]byte{isError, 0x81, 0x04}, "#08S01too long"...)...))
			there.Close()
		}()
		here, err := net.Dial(network, l.Addr().String())
		expect.NoError(t, err)
		w, err := wire.Take(here)
		expect.NoError(t, err)
		defer w.Close()
		c := own(w)
		_, _, err = c.ExecText(context.Background(), strings.Repeat("x", 2*longest))
		if reported, ok := errors.AsType[*Error](err); !ok || reported.Number != 1153 {
			t.Errorf("%s: a question that is too long: %v", network, err)
		}
		if _, _, err = c.ExecText(context.Background(), "SELECT 1"); engine.ClassOf(err) != engine.Gone {
			t.Errorf("%s: and then: %v", network, err)
		}
	}
}

// A server that gives up a statement and then says nothing more is left.
func TestForgetEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		w, err := wire.Take(here)
		expect.NoError(t, err)
		go io.Copy(io.Discard, there)
		c := own(w)
		c.watch.Ask = func(context.Context) error {
			_, err := there.Write(packet(1, append([]byte{isError, 0x25, 0x05}, "#70100interrupted"...)...))
			return err
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			synctest.Wait()
			cancel()
		}()
		if _, _, err := c.ExecText(ctx, "SELECT SLEEP(1000)"); !errors.Is(err, context.Canceled) || c.lost != nil {
			t.Errorf("the context ended: %v", err)
		}
		if _, _, err := c.ExecText(t.Context(), "SELECT 1"); engine.ClassOf(err) != engine.Gone {
			t.Errorf("the server says nothing: %v", err)
		}
		expect.NoError(t, c.Close())
	})
}

// A server that cannot be asked is left: the connection is cut.
func TestInterruptLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := spoken(t)
		c.watch.Ask = func(context.Context) error { return errors.New("no connection is to be had") }
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			synctest.Wait()
			cancel()
		}()
		if _, _, err := c.ExecText(ctx, "SELECT SLEEP(1000)"); !errors.Is(err, context.Canceled) {
			t.Errorf("the context ended: %v", err)
		}
		if _, _, err := c.ExecText(t.Context(), "SELECT 1"); engine.ClassOf(err) != engine.Gone {
			t.Errorf("the connection that was cut says %v", err)
		}
	})
}

func TestRefusals(t *testing.T) {
	deadlock := packet(1, append([]byte{isError, 0xbd, 0x04}, "#40001Deadlock found"...)...)
	_, c, err := query(t, nil, nil, deadlock)
	reported, ok := errors.AsType[*Error](err)
	expect.True(t, ok && reported.Number == 1213 && string(reported.SQLState[:]) == "40001" && reported.Message == "Deadlock found" && c.lost == nil, err)
	expect.Equal(t, engine.ClassOf(Classify(err)), engine.Deadlock, "it is")

	// It may come instead of a row, and the connection is still of use.
	row := packet(2, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0)
	interrupted := packet(3, append([]byte{isError, 0x25, 0x05}, "#70100interrupted"...)...)
	rows, c, err := query(t, aNumber, []model.Type{model.Int}, packet(1, 1, 0), row, interrupted)
	expect.True(t, errors.Is(err, &Error{Number: 1317}) && len(rows) == 1 && c.lost == nil,
		"after", len(rows), "rows", err)

	// A file of this host is not given.
	c, asked := spoken(t, packet(1, append([]byte{isFile}, "/etc/passwd"...)...), packet(3, isOK, 0, 0, 2, 0, 0, 0))
	if _, _, err := c.ExecText(context.Background(), "LOAD"); err == nil || c.lost != nil {
		t.Errorf("a file was asked for: %v", err)
	}
	if got := asked(); !bytes.Equal(got, append(packet(0, append([]byte{comQuery}, "LOAD"...)...), 0, 0, 0, 2)) {
		t.Errorf("it was answered with % x", got)
	}
}

// What cannot be understood, or ends, makes the connection useless.
func TestBrokenAnswers(t *testing.T) {
	ok := []byte{isOK, 0, 0, 2, 0, 0, 0}
	cases := map[string][][]byte{
		"nothing":             {{}},
		"an end in a header":  {{1, 0}},
		"an end in a packet":  {packet(1, ok...)[:6]},
		"no content":          {packet(1)},
		"another packet":      {packet(2, ok...)},
		"a short OK":          {packet(1, isOK, 0)},
		"a short error":       {packet(1, isError, 1)},
		"a number cut off":    {packet(1, 0xfc, 1)},
		"columns not known":   {packet(1, 2, 0)},
		"a column cut off":    {packet(1, 1, 1), packet(2, 3, 'd', 'e')},
		"too many columns":    {packet(1, 0xfd, 1, 0, 1)},
		"an end within rows":  {packet(1, 1, 0), packet(2, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0)},
		"a row without bytes": {packet(1, 1, 0), packet(2)},
	}
	for name, answers := range cases {
		t.Run(name, func(t *testing.T) {
			_, c, err := query(t, aNumber, []model.Type{model.Int}, answers...)
			expect.True(t, err != nil && c.lost != nil && engine.ClassOf(Classify(err)) == engine.Gone,
				"class", engine.ClassOf(Classify(err)), err)
			if _, _, again := c.ExecText(context.Background(), "SELECT 1"); again == nil {
				t.Error("it was used again")
			}
		})
	}
	// A row that does not hold what its columns say is an error of its own: the
	// packets are in order.
	_, c, err := query(t, aNumber, []model.Type{model.Int}, packet(1, 1, 0), packet(2, 0, 0, 9), packet(3, endOfRows...))
	expect.True(t, err != nil && c.lost == nil, "a short row", err)
}

// Old servers end columns and rows with packets of their own.
func TestOldAnswer(t *testing.T) {
	eof := []byte{isEnd, 0, 0, 2, 0}
	c, _ := spoken(t, packet(1, 1), packet(2, describe(kindString, 0)...), packet(3, eof...), packet(4, 2, '4', '2'), packet(5, isNull), packet(6, eof...))
	c.noEOF, c.caches = false, false
	var rows []string
	expect.NoError(t, c.QueryText(context.Background(), "SELECT n", []model.Type{model.Int}, func(row []model.Value) error {
		rows = append(rows, row[0].String())
		return nil
	}))
	expect.True(t, slices.Equal(rows, []string{"42", "NULL"}), "rows are", rows)
}

// Without types, rows are text.
func TestTextRows(t *testing.T) {
	eof := []byte{isEnd, 0, 0, 2, 0, 0, 0}
	c, _ := spoken(t, packet(1, 2, 1), packet(2, describe(kindLongLong, 0)...), packet(3, describe(kindString, 0)...), packet(4, 2, '4', '2', isNull), packet(5, eof...))
	var rows []string
	expect.NoError(t, c.QueryText(context.Background(), "SELECT n", nil, func(row []model.Value) error {
		rows = append(rows, row[0].String(), row[1].String())
		return nil
	}))
	expect.True(t, slices.Equal(rows, []string{`"42"`, "NULL"}), "rows are", rows)
}

// A full disk is the system's error, too.
func TestFullDisk(t *testing.T) {
	for _, e := range []*Error{{Number: 1021, Message: "Disk full"}, {Number: 1030, Message: `Got error 28 "No space left on device" from storage engine InnoDB`}, {Number: 1114, Message: "The table 'x' is full"}} {
		err := Classify(e)
		expect.True(t, engine.ClassOf(err) == engine.Fatal && errors.Is(err, syscall.ENOSPC) && strings.Contains(hint.Of(err), "disk is full"), e, err, hint.Of(err))
	}
}

// A refused schema is answered with the right that is missing.
func TestNoRight(t *testing.T) {
	for number, c := range map[uint16][2]string{
		1044: {"Access denied for user 'bench'@'%' to database 'rumbench'", "GRANT ALL ON rumbench.* TO 'bench'@'%'"},
		1142: {"INSERT command denied to user 'bench'@'%' for table 'x'", "GRANT ALL ON SCHEMA.*"},
		1045: {"Access denied for user 'bench'@'%' (using password: YES)", "check the user and the password"},
	} {
		if err := Classify(&Error{Number: number, Message: c[0]}); engine.ClassOf(err) != engine.Fatal || !strings.Contains(hint.Of(err), c[1]) {
			t.Errorf("%v: hint %q", err, hint.Of(err))
		}
	}
}

// An error of who takes the rows does not spoil the connection, nor do results
// that nobody asked for.
func TestRestIsDropped(t *testing.T) {
	row := func(seq byte) []byte { return packet(seq, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0) }
	more := []byte{isEnd, 0, 0, moreResults, 0, 0, 0}
	again := packet(1, isOK, 3, 0, 2, 0, 0, 0)
	c, _ := spoken(t, packet(1, 1, 0), row(2), row(3), packet(4, more...), packet(5, isOK, 1, 0, 2, 0, 0, 0), again)
	s := &stmt{conn: c, columns: aNumber}
	stop := errors.New("enough")
	n := 0
	err := s.Query(context.Background(), nil, []model.Type{model.Int}, func([]model.Value) error {
		n++
		return stop
	})
	expect.True(t, err == stop && n == 1, "after", n, "rows", err)
	rows, _, err := c.ExecText(context.Background(), "UPDATE")
	expect.NoError(t, err)
	expect.Equal(t, rows, 3, "rows were changed")
}
