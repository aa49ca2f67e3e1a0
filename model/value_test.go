package model

import (
	"encoding/json"
	"testing"
	"time"

	"rumbench/internal/expect"
)

// What is sent to another machine comes back as it was.
func TestValueJSON(t *testing.T) {
	for _, v := range []Value{{}, IntValue(-7), FloatValue(0.25), TimeValue(time.Unix(1, 5000)), StringValue([]byte("a'\"\xff")), BytesValue([]byte{}), StringValue(nil)} {
		var back Value
		if err := json.Unmarshal(expect.Value(json.Marshal(v))(t), &back); err != nil || back.Compare(v) != 0 {
			t.Errorf("%v comes back as %v: %v", v, back, err)
		}
	}
	for _, text := range []string{`""`, `"AQ=="`, `"BAAA"`, `7`} {
		expect.Error(t, json.Unmarshal([]byte(text), new(Value)), "")
	}
}
