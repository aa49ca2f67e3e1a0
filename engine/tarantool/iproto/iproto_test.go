package iproto

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/model"
)

func values() *rapid.Generator[model.Value] {
	return rapid.OneOf(
		rapid.Just(model.Value{}),
		rapid.Map(rapid.Int64(), model.IntValue),
		rapid.Map(rapid.SampledFrom([]int64{math.MinInt64, math.MinInt32 - 1, math.MinInt32, -129, -128, -33, -32, -1, 0, 127, 128, 255, 256,
			65535, 65536, math.MaxUint32, math.MaxUint32 + 1, math.MaxInt64}), model.IntValue),
		rapid.Map(rapid.Int64(), model.MicrosValue),
		rapid.Map(rapid.Float64(), model.FloatValue),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), model.BytesValue),
		rapid.Map(rapid.SampledFrom([]int{0, 31, 32, 255, 256, 65535, 65536}), func(n int) model.Value { return model.StringValue(make([]byte, n)) }),
	)
}

// What is appended is read back, and passed over to the byte.
func TestValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(values(), 0, 40).Draw(t, "values")
		b := AppendArray(nil, len(list))
		for _, v := range list {
			b = AppendValue(b, v)
		}
		r, skipped := Reader{b: b}, Reader{b: append(b, 0x2a)}
		if n := r.Array(); n != len(list) {
			t.Fatalf("%d values, want %d", n, len(list))
		}
		for _, v := range list {
			if got := r.Value(v.Type()); got.Compare(v) != 0 {
				t.Fatalf("%v is read as %v", v, got)
			}
		}
		if skipped.Skip(); r.Err() != nil || len(r.b) != 0 || skipped.Int() != 0x2a || skipped.Err() != nil {
			t.Fatalf("%d bytes are left, %v", len(r.b), r.Err())
		}
	})
}

// Lua does not distinguish whole floats from integers.
func TestNumbers(t *testing.T) {
	r := Reader{b: AppendInt(AppendInt(nil, 3), -200)}
	if a, b := r.Value(model.Float), r.Value(model.Time); a.Compare(model.FloatValue(3)) != 0 || b.Compare(model.MicrosValue(-200)) != 0 {
		t.Error(a, b)
	}
	r = Reader{b: AppendValue(AppendValue(nil, model.FloatValue(1e15)), model.FloatValue(1.5))}
	if n := r.Int(); n != 1e15 || r.Err() != nil {
		t.Error(n, r.Err())
	}
	if r.Int(); r.Err() == nil {
		t.Error("half a number was read as a whole one")
	}
}

// Nothing that a server sends makes the reader read beyond it.
func TestGarbage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "bytes")
		data, _ := parse(b)
		for range data.Array() {
			for range data.Array() {
				data.Value(model.String)
			}
		}
		for r := (Reader{b: b}); len(r.b) > 0; {
			r.Skip()
		}
	})
}

// Values that are nested deeper than a stack could follow are passed over.
func TestDeep(t *testing.T) {
	const depth = 16 << 20
	for _, head := range [][]byte{{0x91}, {0x81, 0x01}} {
		r := Reader{b: append(bytes.Repeat(head, depth), 0x07, 0x2a)}
		if r.Skip(); r.Int() != 0x2a || r.Err() != nil || len(r.b) != 0 {
			t.Errorf("%x: %d bytes are left, %v", head, len(r.b), r.Err())
		}
		r = Reader{b: bytes.Repeat(head, depth)}
		if r.Skip(); r.Err() == nil {
			t.Errorf("%x: a message that is cut off was read", head)
		}
	}
}

func response(code uint64, body func([]byte) []byte) []byte {
	b := AppendUint(AppendUint(AppendMap(nil, 2), keyKind), code)
	return body(AppendUint(AppendUint(b, keySync), 0))
}

func TestResponses(t *testing.T) {
	data, err := parse(response(0, func(b []byte) []byte {
		return AppendUint(AppendArray(AppendUint(AppendMap(b, 1), keyData), 1), 7)
	}))
	expect.True(t, err == nil && data.Array() == 1 && data.Int() == 7, err)
	if _, err := parse(response(0, func(b []byte) []byte { return b })); err != nil {
		t.Error("a response without a body:", err)
	}
	for code, want := range map[uint64]engine.Class{3: engine.Duplicate, 97: engine.Conflict, 78: engine.Timeout, 40: engine.Fatal} {
		_, err := parse(response(0x8000|code, func(b []byte) []byte { return AppendText(AppendUint(AppendMap(b, 1), keyError), "why") }))
		e, ok := errors.AsType[*Error](err)
		expect.True(t, ok && e.Message == "why" && engine.ClassOf(classify(e)) == want, "error", code, err)
	}
}

// The proof that a password is known, as go-tarantool computes it.
func TestLogin(t *testing.T) {
	salt := base64.StdEncoding.EncodeToString([]byte("01234567890123456789abcdefghijkl"))
	proof := login("me", "secret", []byte(salt))
	want, _ := hex.DecodeString(loginProof)
	expect.True(t, bytes.HasSuffix(proof, want), proof)
}

const loginProof = "7abe1a8776b59e931059451f81e596a60dbbf7a8" // sha1(secret) xor sha1(salt, sha1(sha1(secret))), computed elsewhere
