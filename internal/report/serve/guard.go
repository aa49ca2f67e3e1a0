package serve

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Guard lets in whoever has the token, from the address itself.
//
// The first link has the token in its address; it becomes a cookie, which a browser sends with
// no request of another site but a link. A name in Host that is not the server's is refused: with it another
// site could be let in under its own name, by answering its visitors' queries for it with
// this address. So is an Origin of another site.
type Guard struct {
	next   http.Handler
	token  string
	cookie string
	hosts  []string
}

// tokenValue is the name of the token in an address.
const tokenValue = "token"

// NewToken returns a token that nobody can guess.
func NewToken() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// NewGuard returns a guard of pages that are served at an address.
func NewGuard(next http.Handler, at net.Addr, token string) *Guard {
	host, port, _ := net.SplitHostPort(at.String())
	g := &Guard{next: next, token: token, cookie: "rumbench-" + port}
	for _, name := range []string{host, "localhost", "127.0.0.1", "::1"} {
		g.hosts = append(g.hosts, net.JoinHostPort(name, port))
		if port == "80" { // which browsers leave out
			g.hosts = append(g.hosts, name)
		}
	}
	return g
}

// headers are those of every answer: a browser keeps nothing, tells other sites nothing,
// and shows the pages in no other site's frame.
var headers = map[string]string{
	"Cache-Control":                "no-store",
	"Content-Security-Policy":      "frame-ancestors 'none'; form-action 'self'",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "no-referrer",
	"X-Content-Type-Options":       "nosniff",
}

// ServeHTTP answers, or refuses to.
func (g *Guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range headers {
		w.Header().Set(name, value)
	}
	origin := r.Header.Get("Origin")
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, "pages are only read here", http.StatusMethodNotAllowed)
	case !slices.Contains(g.hosts, r.Host):
		refuse(w, "this server has another name", http.StatusForbidden)
	case origin != "" && origin != "http://"+r.Host:
		refuse(w, "another site asks", http.StatusForbidden)
	case g.equal(r.URL.Query().Get(tokenValue)):
		http.SetCookie(w, &http.Cookie{Name: g.cookie, Value: g.token, Path: "/", HttpOnly: true,
			SameSite: http.SameSiteLaxMode})
		q := r.URL.Query()
		q.Del(tokenValue)
		next := "/" + strings.TrimLeft(r.URL.EscapedPath(), "/") // never another host
		if text := q.Encode(); text != "" {
			next += "?" + text
		}
		http.Redirect(w, r, next, http.StatusSeeOther)
	case !g.known(r):
		refuse(w, "Open the link that rumbench serve printed: it has a token that lets you in.", http.StatusForbidden)
	default:
		trust(r.Context())
		g.next.ServeHTTP(w, r)
	}
}

// refuse ends the connection, too, without waiting for what the request announced.
func refuse(w http.ResponseWriter, text string, code int) {
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now())
	http.Error(w, text, code)
}

func (g *Guard) equal(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(g.token)) == 1
}

func (g *Guard) known(r *http.Request) bool {
	c, err := r.Cookie(g.cookie)
	return err == nil && g.equal(c.Value)
}

// How many connections are open at a time, and how long one without a token keeps others out.
const mostConnections, mostSilence = 256, 2 * time.Second

// Limit returns a listener that keeps no more connections open than are allowed at a time. Others wait, but not for
// those on which nobody has shown the token: these end.
func Limit(l net.Listener) net.Listener { return &limited{Listener: l} }

type limited struct {
	net.Listener
	mu   sync.Mutex
	open []*limitedConn // the oldest first
}

type limitedConn struct {
	net.Conn
	limit *limited
	since time.Time
	known atomic.Bool // a request on it had the token
}

func (l *limited) Accept() (net.Conn, error) {
	for !l.room() {
		time.Sleep(mostSilence / 100)
	}
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	conn := &limitedConn{Conn: c, limit: l, since: time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = append(l.open, conn)
	return conn, nil
}

// room reports whether one more may be open, after it has ended the oldest silent one if need be.
func (l *limited) room() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) < mostConnections {
		return true
	}
	silent := slices.IndexFunc(l.open, func(c *limitedConn) bool { return !c.known.Load() })
	if silent < 0 || time.Since(l.open[silent].since) < mostSilence {
		return false
	}
	_ = l.open[silent].Conn.Close() // the server notices
	l.open = slices.Delete(l.open, silent, silent+1)
	return true
}

func (c *limitedConn) Close() error {
	c.limit.mu.Lock()
	c.limit.open = slices.DeleteFunc(c.limit.open, func(o *limitedConn) bool { return o == c })
	c.limit.mu.Unlock()
	return c.Conn.Close()
}

type connection struct{}

// WithConnection is the ConnContext of a server with such a listener: its guard says there who has the token.
func WithConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connection{}, c)
}

// trust notes that a request had the token.
func trust(ctx context.Context) {
	if c, ok := ctx.Value(connection{}).(*limitedConn); ok {
		c.known.Store(true)
	}
}
