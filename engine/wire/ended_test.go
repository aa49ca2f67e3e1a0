package wire

import (
	"crypto/tls"
	"net"
	"testing"

	"rumbench/internal/expect"
)

// A connection that the other end has ended is noticed without an operation, also when it is
// encrypted and when the other end has sent a reason; one that was broken here is not.
func TestEnded(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		for _, encrypted := range []bool{false, true} {
			ours, theirs := ends(t, network)
			conn := ours
			if encrypted {
				conn = tls.Client(ours, &tls.Config{InsecureSkipVerify: true})
			}
			w, err := Take(conn)
			expect.NoError(t, err)
			expect.True(t, !w.Ended(), network, "encrypted", encrypted, "it has not ended")
			_, _ = theirs.Write([]byte("you were idle"))
			_ = theirs.Close()
			for range 1000 { // the kernel may take a moment
				if w.Ended() {
					break
				}
			}
			expect.True(t, w.Ended(), network, "encrypted", encrypted, "it has ended")
			if w.Break(); w.Ended() {
				t.Errorf("%s, encrypted %v: it was broken here", network, encrypted)
			}
			_ = w.Close()
		}
	}
}

// ends returns the two ends of a connection.
func ends(t *testing.T, network string) (ours, theirs net.Conn) {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		address = t.TempDir() + "/s"
	}
	l, err := net.Listen(network, address)
	expect.NoError(t, err)
	defer l.Close()
	if ours, err = net.Dial(network, l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if theirs, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}
