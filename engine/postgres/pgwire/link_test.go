package pgwire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/engine/wire"
	"rumbench/internal/expect"
	"rumbench/model"
)

// pair is a link and what is at its other end: a socket of the kernel's, or not.
func pair(t *testing.T, socket bool) (*Conn, net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	if socket {
		l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
		expect.NoError(t, err)
		defer l.Close()
		near, err = net.Dial("unix", l.Addr().String())
		expect.NoError(t, err)
		far, err = l.Accept()
		expect.NoError(t, err)
	}
	stream, err := wire.Take(near)
	expect.NoError(t, err)
	c := &Conn{link: link{wire: stream}}
	c.watch.Cut = stream.Break
	t.Cleanup(func() {
		_ = far.Close()
		expect.NoError(t, c.wire.Close())
	})
	return c, far
}

func TestQuestions(t *testing.T) {
	c := &Conn{}
	c.parameters, c.columns = []uint32{oidInt8, oidText, oidInt4}, []uint32{oidInt8, oidNumeric}
	s := newStmt(c, "s7", false)
	values, err := s.appendMessages(nil, []model.Value{model.IntValue(258), stringValue("né"), {}})
	expect.NoError(t, err)
	for name, x := range map[string]struct {
		got  []byte
		want string
	}{
		"query": {appendQuery(nil, "SELECT 1"), "Q\x00\x00\x00\x0dSELECT 1\x00"},
		"parse": {appendParse(nil, "s1", "SELECT $1"), "P\x00\x00\x00\x13s1\x00SELECT $1\x00\x00\x00" + "D\x00\x00\x00\x08Ss1\x00"},
		"copy":  {appendCopy(nil, "COPY t", []byte{1, 2}), "Q\x00\x00\x00\x0bCOPY t\x00" + "d\x00\x00\x00\x06\x01\x02" + "c\x00\x00\x00\x04"},
		"values": {values, "B\x00\x00\x00\x2b\x00s7\x00" + "\x00\x01\x00\x01" + "\x00\x03" +
			"\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x01\x02" + "\x00\x00\x00\x03n\xc3\xa9" + "\xff\xff\xff\xff" +
			"\x00\x02\x00\x01\x00\x00" + "E\x00\x00\x00\x09\x00\x00\x00\x00\x00"},
	} {
		expect.Equal(t, string(x.got), x.want, name, x.got)
	}
	expect.Refused(s.appendMessages(nil, make([]model.Value, 2)))(t, "", "two arguments for three placeholders")
}

// sent returns a message of the server.
func sent(kind byte, body ...string) string {
	b, at := message(nil, kind)
	return string(finish(append(b, strings.Join(body, "")...), at))
}

// row is a row of text.
func row(values ...string) string {
	s := fmt.Sprintf("\x00%c", len(values))
	for _, v := range values {
		s += fmt.Sprintf("\x00\x00\x00%c%s", len(v), v)
	}
	return sent(dataRow, s)
}

func columnsMessage(types ...byte) string {
	s := fmt.Sprintf("\x00%c", len(types))
	for i, oid := range types {
		s += fmt.Sprintf("c%d\x00", i) + "\x00\x00\x00\x00\x00\x00" + fmt.Sprintf("\x00\x00\x00%c", oid) + strings.Repeat("\x00", 8)
	}
	return sent(rowDescription, s)
}

var (
	ready    = sent(readyForQuery, "I")
	notice   = sent(noticeResponse, "SNOTICE\x00Mhello\x00\x00")
	changed  = sent(parameterStatus, "TimeZone\x00UTC\x00")
	notified = sent(notificationResponse, "\x00\x00\x00\x01a\x00b\x00")
	null     = sent(dataRow, "\x00\x02\x00\x00\x00\x011\xff\xff\xff\xff")
)

func failure(severity, code string) string {
	return sent(errorResponse, "S", severity, "\x00V", severity, "\x00C", code, "\x00Mwhy\x00\x00")
}

// An answer is the same however it is cut into pieces.
func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer string
		rows   string
		class  engine.Class
		words  string // of the error
		lost   bool
	}{
		{"rows", columnsMessage(oidInt8, oidText) + row("1", "a") + row("22", "") + sent(commandComplete, "SELECT 2\x00") + ready, "1,\"a\" 22,\"\" ", "", "", false},
		{"no rows", columnsMessage(oidInt8, oidText) + sent(commandComplete, "SELECT 0\x00") + ready, "", "", "", false},
		{"nothing", sent(emptyQueryResponse) + ready, "", "", "", false},
		{"null", columnsMessage(oidInt8, oidText) + null + sent(commandComplete, "SELECT 1\x00") + ready, "1,NULL ", "", "", false},
		{"news between rows", notice + columnsMessage(oidInt8, oidText) + changed + row("1", "a") + notified + notice + row("2", "b") + changed + sent(commandComplete, "SELECT 2\x00") + notice + ready, "1,\"a\" 2,\"b\" ", "", "", false},
		{"large", columnsMessage(oidInt8, oidText) + sent(dataRow, "\x00\x02\x00\x00\x00\x011\x00\x00\xc3\x50"+strings.Repeat("x", 50_000)) + sent(commandComplete, "SELECT 1\x00") + ready, "1,\"" + strings.Repeat("x", 50_000) + "\" ", "", "", false},
		{"error", failure("ERROR", "40001") + ready, "", engine.Conflict, "40001", false},
		{"error after a row", columnsMessage(oidInt8, oidText) + row("1", "a") + failure("ERROR", "22012") + ready, "1,\"a\" ", engine.Fatal, "22012", false},
		{"two errors", failure("ERROR", "23505") + failure("ERROR", "25P02") + ready, "", engine.Duplicate, "23505", false},
		{"last word", failure("FATAL", "57P01"), "", engine.Gone, "57P01", true},
		{"last word after a row", columnsMessage(oidInt8, oidText) + row("1", "a") + failure("PANIC", "XX000"), "1,\"a\" ", engine.Gone, "XX000", true},
		{"other columns", columnsMessage(oidInt8) + row("1") + sent(commandComplete, "SELECT 1\x00") + ready, "", engine.Fatal, "returned 1 columns where 2 are wanted", false},
		{"no number", columnsMessage(oidText, oidText) + row("x", "a") + row("1", "b") + sent(commandComplete, "SELECT 2\x00") + ready, "", engine.Fatal, "invalid syntax", false},
		{"end", "", "", engine.Gone, "EOF", true},
		{"end in a message", columnsMessage(oidInt8, oidText) + row("1", "a")[:9], "", engine.Gone, "unexpected EOF", true},
		{"end after a row", columnsMessage(oidInt8, oidText) + row("1", "a"), "1,\"a\" ", engine.Gone, "EOF", true},
		{"row cut off", columnsMessage(oidInt8, oidText) + sent(dataRow, "\x00\x02\x00\x00\x00\x051") + sent(commandComplete, "SELECT 1\x00") + ready, "", engine.Fatal, "cut off", false},
		{"columns cut off", sent(rowDescription, "\x00\x02c1\x00"), "", engine.Gone, "cut off", true},
		{"strange", sent('?', "x") + ready, "", engine.Gone, "kind '?'", true},
		{"no length", "D\x00\x00\x00\x01", "", engine.Gone, "1 bytes", true},
		{"endless", "D\xff\xff\xff\xff", "", engine.Gone, "4294967295 bytes", true},
	} {
		for _, socket := range []bool{true, false} {
			for _, piece := range []int{1, 7, len(c.answer) + 1} {
				if piece == 1 && len(c.answer) > 10_000 {
					piece = 100
				}
				testAnswer(t, fmt.Sprintf("%s, socket: %v, in pieces of %d", c.name, socket, piece), c.answer, socket, piece, c.rows, c.class, c.words, c.lost)
			}
		}
	}
}

func testAnswer(t *testing.T, name, answer string, socket bool, piece int, rows string, class engine.Class, words string, lost bool) {
	c, far := pair(t, socket)
	asked := make(chan string, 1)
	go func() {
		b := make([]byte, len(appendQuery(nil, "SELECT")))
		_, _ = io.ReadFull(far, b)
		for b := []byte(answer); len(b) > 0; b = b[min(piece, len(b)):] {
			_, _ = far.Write(b[:min(piece, len(b))])
		}
		if lost {
			_ = far.Close()
		}
		asked <- string(b)
	}()
	got := ""
	err := c.QueryText(t.Context(), "SELECT", []model.Type{model.Int, model.String}, func(row []model.Value) error {
		got += fmt.Sprintf("%v,%v ", row[0], row[1])
		return nil
	})
	expect.True(t, engine.ClassOf(err) == class && (err == nil || strings.Contains(err.Error(), words)),
		name, err, "of class", engine.ClassOf(err))
	expect.True(t, got == rows && (c.lost != nil) == lost, name, "rows", got, "lost", c.lost)
	if lost {
		c.wire.Break() // nobody reads the rest
	}
	expect.Equal(t, <-asked, string(appendQuery(nil, "SELECT")), name, "it was asked")
	if lost {
		expect.Equal(t, engine.ClassOf(c.QueryText(t.Context(), "SELECT", nil, nil)), engine.Gone, name, "then")
	}
}

// reply answers one text after the other.
func reply(far net.Conn, text string, answers ...string) {
	go func() {
		for _, answer := range answers {
			_, _ = io.ReadFull(far, make([]byte, len(appendQuery(nil, text))))
			_, _ = far.Write([]byte(answer))
		}
	}()
}

// What a statement did is read from its tag, of the last one if there are several.
func TestTags(t *testing.T) {
	for _, c := range []struct {
		tags   []string
		rows   int64
		undone bool
	}{
		{[]string{"INSERT 0 12"}, 12, false},
		{[]string{"UPDATE 0"}, 0, false},
		{[]string{"DELETE 4294967296"}, 1 << 32, false},
		{[]string{"UPDATE 3", "COMMIT"}, 0, false},
		{[]string{"ROLLBACK"}, 0, true},
		{[]string{"ROLLBACK", "UPDATE 1"}, 1, false},
		{[]string{"CREATE TABLE"}, 0, false},
	} {
		conn, far := pair(t, true)
		answer := ""
		for _, tag := range c.tags {
			answer += sent(commandComplete, tag, "\x00")
		}
		reply(far, "x", answer+ready)
		rows, _, err := conn.ExecText(t.Context(), "x")
		expect.True(t, err == nil && rows == c.rows && conn.undone == c.undone && conn.done == len(c.tags) && conn.status == idle, c.tags, rows, conn.undone, err)
	}
	conn, far := pair(t, true)
	reply(far, commitText, sent(commandComplete, "ROLLBACK\x00")+ready)
	if _, _, err := conn.ExecText(t.Context(), commitText); err == nil {
		t.Error("a commit that became a rollback is no error")
	}
}

// An error of who takes the rows ends the query, but not the connection.
func TestRowsAreLeft(t *testing.T) {
	c, far := pair(t, true)
	reply(far, "x", columnsMessage(oidInt8)+row("1")+row("2")+row("3")+sent(commandComplete, "SELECT 3\x00")+ready, sent(commandComplete, "UPDATE 5\x00")+ready)
	enough, seen := errors.New("enough"), 0
	err := c.QueryText(t.Context(), "x", []model.Type{model.Int}, func([]model.Value) error {
		if seen++; seen == 2 {
			return enough
		}
		return nil
	})
	expect.True(t, errors.Is(err, enough) && seen == 2, err, "after", seen, "rows")
	if n, _, err := c.ExecText(t.Context(), "x"); n != 5 || err != nil {
		t.Errorf("then %d rows, %v", n, err)
	}
}

// A question that the socket does not take at once is sent piece by piece.
func TestLargeQuestion(t *testing.T) {
	for _, socket := range []bool{true, false} {
		c, far := pair(t, socket)
		text := strings.Repeat("x", 5<<20)
		got := make(chan string, 1)
		go func() {
			b := make([]byte, 1+4+len(text)+1)
			_, _ = io.ReadFull(far, b)
			_, _ = far.Write([]byte(sent(commandComplete, "UPDATE 1\x00") + ready))
			got <- string(b[5 : len(b)-1])
		}()
		if n, _, err := c.ExecText(t.Context(), text); n != 1 || err != nil {
			t.Errorf("%d rows, %v", n, err)
		}
		expect.True(t, <-got == text, "it came as another one")
	}
}

// What the server says of its own accord may come before the question.
func TestNewsBefore(t *testing.T) {
	c, far := pair(t, true)
	_, err := far.Write([]byte(notice + changed))
	expect.NoError(t, err)
	reply(far, "x", sent(commandComplete, "UPDATE 2\x00")+ready)
	if n, _, err := c.ExecText(t.Context(), "x"); n != 2 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
}

// A server that has hung up is heard to the end before the question is found to
// have nobody to go to.
func TestLastWord(t *testing.T) {
	c, far := pair(t, true)
	_, err := far.Write([]byte(failure("FATAL", "57P01")))
	expect.NoError(t, errors.Join(err, far.Close()))
	_, _, err = c.ExecText(t.Context(), "x")
	if reported, ok := errors.AsType[*Error](err); !ok || reported.Code != "57P01" || engine.ClassOf(err) != engine.Gone {
		t.Errorf("%v of class %q", err, engine.ClassOf(err))
	}
}

// Who waits for an answer is woken when the connection is cut.
func TestCut(t *testing.T) {
	for _, socket := range []bool{true, false} {
		c, far := pair(t, socket)
		go func() {
			_, _ = io.ReadFull(far, make([]byte, len(appendQuery(nil, "x"))))
			c.wire.Break()
		}()
		if _, _, err := c.ExecText(t.Context(), "x"); engine.ClassOf(err) != engine.Gone {
			t.Errorf("%v of class %q", err, engine.ClassOf(err))
		}
	}
}

// A session is ended also when the server has said something since.
func TestFarewell(t *testing.T) {
	c, far := pair(t, true)
	_, err := far.Write([]byte(sent(commandComplete, "UPDATE 1\x00") + ready + notice))
	expect.NoError(t, err)
	expect.NoError(t, c.run(t.Context(), nil)) // nothing is asked; what was sent is read together with the notice
	heard := make(chan string, 1)
	go func() {
		b := make([]byte, len(terminateMessage))
		_, _ = io.ReadFull(far, b)
		heard <- string(b)
		_ = far.Close()
	}()
	expect.NoError(t, c.Close())
	expect.Equal(t, <-heard, terminateMessage, "the server hears")
}
