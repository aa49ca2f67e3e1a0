package fleet

import (
	"encoding/json"
	"io"
	"net"
	"testing"

	"rumbench/internal/expect"
)

// A port lets in only what has its token, once, and measures what comes.
func TestDoor(t *testing.T) {
	asked := func(v any) []byte {
		b, err := json.Marshal(v)
		expect.NoError(t, err)
		return b
	}
	address, err := openListener(t.Context(), asked(listenerRequest{"127.0.0.1", "right"}))
	expect.NoError(t, err)
	stranger, err := net.Dial("tcp", address.(string))
	expect.NoError(t, err)
	_, _ = stranger.Write([]byte("wrong and more"))
	if b, err := io.ReadAll(stranger); len(b) > 0 {
		t.Errorf("without the token it says %q, %v", b, err)
	}
	_ = stranger.Close()
	m, err := measurePath(t.Context(), asked(pathOrder{address.(string), "right"}))
	expect.True(t, err == nil && m.(Measured).Trip > 0 && m.(Measured).BytesPerS > 0, m, err)
	expect.Refused(net.Dial("tcp", address.(string)))(t, "", "the port is open after the measurement")
	if _, err := openListener(t.Context(), asked(listenerRequest{"192.0.2.200", "right"})); err == nil {
		t.Error("it listens at an address that is not its own")
	}
}
