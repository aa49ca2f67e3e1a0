package fleet

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"rumbench/internal/result/regular"
	"rumbench/internal/text/hint"
)

// pass is what a file holds with which agents join: where the coordinator listens, how to know it, and one
// token for each machine.
type pass struct {
	Address string            `json:"address"`
	Digest  string            `json:"sha256"` // of the coordinator's certificate
	Names   []string          `json:"machines"`
	Tokens  map[string]string `json:"tokens"` // of machines that have not joined
}

// The times of tokens.
const (
	tokenLife  = 10 * time.Minute
	tokenRenew = tokenLife / 2
	knockTime  = 5 * time.Second // for a handshake and a token
)

const (
	mostKnocking = 64 // connections without a token, at a time
	mostKnock    = 4096
)

// knock is the first line of an agent that joins.
type knock struct{ Machine, Token string }

// gate lets agents in that others have started. It listens on one address, with TLS, until all have come.
type gate struct {
	listener net.Listener
	path     string // of the pass
	digest   string
	life     time.Duration // of tokens
	began    time.Time
	wait     time.Duration // for all agents
	note     func(text string)
	over     context.Context
	end      context.CancelFunc

	seats map[string]chan net.Conn
	names []string

	mu     sync.Mutex
	joined map[string]bool
	tokens []token

	refused atomic.Int64
}

// mostRefused is how many agents are said to have been refused.
const mostRefused = 20

// token lets the agent of one machine in, once.
type token struct {
	machine, secret string
	ends            time.Time
}

// PassPath returns the path of the file with which agents join at an address. Nobody else writes it while one
// listens there.
func PassPath(address string) (string, error) {
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".cache/rumbench/join", strings.ReplaceAll(address, ":", "-")+".json"), err
}

// newGate listens on an address for the agents of some machines, and writes a pass for them.
func newGate(address, path string, names []string, life time.Duration, note func(string)) (*gate, error) {
	certificate, err := selfSigned()
	if err != nil {
		return nil, err
	}
	g := &gate{path: path, digest: digestOf(certificate.Certificate[0]), note: note, life: life, names: names,
		began: time.Now(), seats: map[string]chan net.Conn{}, joined: map[string]bool{}}
	for _, name := range names {
		g.seats[name] = make(chan net.Conn, 1)
	}
	g.listener, err = tls.Listen("tcp", address,
		&tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13})
	if err != nil {
		return nil, hint.Errorf("fleet: {address: …} is an address of this machine and a free port",
			"agents cannot join: %w", err)
	}
	g.over, g.end = context.WithCancel(context.Background())
	if err := g.renew(); err != nil {
		g.close()
		return nil, err
	}
	go g.listen()
	go g.keepFresh()
	return g, nil
}

// selfSigned makes a certificate. Agents know it by its digest: neither its names nor its times matter, as
// machines need no common clock.
func selfSigned() (tls.Certificate, error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a key: %w", err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().AddDate(1, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, err
}

func digestOf(certificate []byte) string { return fmt.Sprintf("%x", sha256.Sum256(certificate)) }

// renew makes new tokens for the machines that have not joined, and writes the pass. Older tokens end in their
// own time: an agent may have read them just before.
func (g *gate) renew() error {
	b, err := json.Marshal(g.newPass())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(g.path), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(g.path), ".pass-*") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(b)
	if err := errors.Join(err, temp.Close()); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over.Err() != nil {
		return nil // nobody is to join any more
	}
	return os.Rename(temp.Name(), g.path)
}

func (g *gate) newPass() pass {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	g.tokens = slices.DeleteFunc(g.tokens, func(t token) bool { return now.After(t.ends) })
	p := pass{Address: g.listener.Addr().String(), Digest: g.digest, Names: g.names, Tokens: map[string]string{}}
	for _, name := range g.names {
		if !g.joined[name] {
			t := token{machine: name, secret: rand.Text(), ends: now.Add(g.life)}
			g.tokens, p.Tokens[name] = append(g.tokens, t), t.secret
		}
	}
	return p
}

// keepFresh renews tokens: a machine may be waited for longer than one lives.
func (g *gate) keepFresh() {
	for tick := time.Tick(tokenRenew); ; {
		select {
		case <-g.over.Done():
			return
		case <-tick:
			if err := g.renew(); err != nil {
				g.note("agents cannot join any more: " + err.Error())
			}
		}
	}
}

// listen takes connections, no more of them at a time than a few.
func (g *gate) listen() {
	knocking := make(chan struct{}, mostKnocking)
	for {
		conn, err := g.listener.Accept()
		if err != nil {
			return // it is closed
		}
		knocking <- struct{}{}
		go func() {
			defer func() { <-knocking }()
			if err := g.admit(conn); err != nil {
				_ = json.NewEncoder(conn).Encode(welcome{Refused: err.Error()})
				_ = conn.Close()
			}
		}()
	}
}

// admit gives the connection of an agent with a token to its machine.
func (g *gate) admit(conn net.Conn) error {
	if err := conn.SetDeadline(time.Now().Add(knockTime)); err != nil {
		return err
	}
	line, err := lineOf(conn)
	if err != nil {
		return err
	}
	var k knock
	if json.Unmarshal(line, &k) != nil || k.Token == "" {
		return errors.New("it is no agent")
	}
	if err := g.seat(k, conn); err != nil {
		if g.refused.Add(1) <= mostRefused { // else a stranger would fill the terminal
			g.note(fmt.Sprintf("%s may not join as %.20q: %v", conn.RemoteAddr(), k.Machine, err))
		}
		return err
	}
	return nil
}

// lineOf reads a line and nothing behind it.
func lineOf(conn net.Conn) (line []byte, err error) {
	for b := make([]byte, 1); len(line) < mostKnock; {
		if _, err := conn.Read(b); err != nil {
			return nil, err
		}
		if b[0] == '\n' {
			return line, nil
		}
		line = append(line, b[0])
	}
	return nil, errors.New("it is no agent")
}

func (g *gate) seat(k knock, conn net.Conn) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	// The time that this takes depends on digests, which say nothing of a token that is nearly right.
	i := slices.IndexFunc(g.tokens, func(t token) bool {
		return sha256.Sum256([]byte(t.secret)) == sha256.Sum256([]byte(k.Token)) && t.machine == k.Machine
	})
	switch {
	case g.over.Err() != nil:
		return errors.New("no machine is missing any more")
	case i < 0:
		return errors.New("its token is not valid, or was used")
	case time.Now().After(g.tokens[i].ends):
		return errors.New("its token is too old")
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		return err
	}
	g.seats[k.Machine] <- conn // it has room, as no machine joins twice
	g.joined[k.Machine] = true
	g.note(fmt.Sprintf("%s has joined, %d of %d", k.Machine, len(g.joined), len(g.names)))
	g.tokens = slices.DeleteFunc(g.tokens, func(t token) bool { return t.machine == k.Machine })
	if len(g.joined) == len(g.names) {
		g.shut()
	}
	return nil
}

// await waits for the agent of a machine.
func (g *gate) await(ctx context.Context, name string) (net.Conn, error) {
	ctx, cancel := context.WithDeadlineCause(ctx, g.began.Add(g.wait), fmt.Errorf("no agent has joined within %v", g.wait))
	defer cancel()
	select {
	case conn := <-g.seats[name]:
		return conn, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// close hangs up on agents that nobody has awaited.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut()
	for _, seat := range g.seats {
		select {
		case conn := <-seat:
			_ = conn.Close()
		default:
		}
	}
}

// shut ends the listening, and removes the pass.
func (g *gate) shut() {
	if g.over.Err() != nil {
		return
	}
	g.end()
	_ = os.Remove(g.path) // as long as the address is this one's
	_ = g.listener.Close()
}

// Join runs an agent that joins a coordinator with the pass in a file; name is its machine, "" the one that the
// environment of Slurm or of Kubernetes numbers. It waits for the file and the coordinator.
func Join(ctx context.Context, local Local, path, name string, note func(text string)) error {
	var conn net.Conn
	for message := ""; conn == nil; {
		var err error
		if conn, err = knockAt(ctx, path, name); err == nil {
			break
		}
		if _, waits := errors.AsType[waiting](err); !waits {
			return err
		}
		if err.Error() != message && ctx.Err() == nil {
			message = err.Error()
			note("waiting: " + message)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Second):
		}
	}
	defer conn.Close()
	note("joined")
	err := Serve(ctx, local, conn, conn)
	if err == nil {
		note("the other rumbench has ended the connection")
	}
	return err
}

// waiting is an error that time may mend.
type waiting struct{ error }

// knockAt connects with the pass in a file.
func knockAt(ctx context.Context, path, name string) (net.Conn, error) {
	p, err := readPass(path)
	if err != nil {
		return nil, err
	}
	if name, err = p.machineName(name); err != nil {
		return nil, err
	}
	secret, ok := p.Tokens[name]
	if !ok {
		return nil, fmt.Errorf("machine %s has joined already", name)
	}
	dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: knockTime}, Config: &tls.Config{
		MinVersion: tls.VersionTLS13, InsecureSkipVerify: true, // it is known by its digest
		VerifyConnection: func(s tls.ConnectionState) error {
			if got := digestOf(s.PeerCertificates[0].Raw); got != p.Digest {
				return fmt.Errorf("%s is not the rumbench that wrote %s: its certificate is another", p.Address, path)
			}
			return nil
		}}}
	conn, err := dialer.DialContext(ctx, "tcp", p.Address)
	if err == nil {
		err = json.NewEncoder(conn).Encode(knock{name, secret})
	}
	if err != nil {
		return nil, waiting{err}
	}
	return conn, nil
}

// readPass reads a pass that nobody else can read.
func readPass(path string) (p pass, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, waiting{fmt.Errorf("%s is not there: rumbench run writes it", path)}
	}
	if err != nil {
		return p, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return p, hint.Errorf("chmod 600 "+path, "others may read %s", path)
	}
	b, err := regular.ReadFile(path, mostMessage)
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	return p, err
}

// numbering are the variables in which those who start several agents number them, from 0.
var numbering = []string{"SLURM_PROCID", "JOB_COMPLETION_INDEX"}

// machineName returns the name of the agent's machine.
func (p *pass) machineName(name string) (string, error) {
	for _, variable := range numbering {
		n, err := strconv.Atoi(os.Getenv(variable))
		if name == "" && err == nil && n >= 0 && n < len(p.Names) {
			name = p.Names[n]
		}
	}
	if name == "" && len(p.Names) == 1 {
		name = p.Names[0]
	}
	if !slices.Contains(p.Names, name) {
		return "", hint.Errorf("--as "+strings.Join(p.Names, " or "), "it is not known which machine this is%s",
			strings.TrimSuffix(": "+name, ": "))
	}
	return name, nil
}

// joined joins an agent that has come through the gate to the hub.
func joined(ctx context.Context, h *hub, conn net.Conn, w welcome) (*link, error) {
	hangUp := func() { _ = conn.Close() }
	l := &link{stdin: half{conn}, gone: make(chan struct{}), kill: hangUp, wait: func() error { hangUp(); return nil }}
	if err := l.join(ctx, h, bufio.NewReader(conn), w); err != nil {
		hangUp()
		return nil, fmt.Errorf("its agent has joined, and does not go on: %w", err)
	}
	return l, nil
}

// half closes one direction of a connection: the agent says the last word.
type half struct{ net.Conn }

func (h half) Close() error {
	if c, ok := h.Conn.(*tls.Conn); ok {
		_ = c.SetWriteDeadline(time.Now().Add(knockTime)) // else it waits for one that does not read
		return c.CloseWrite()
	}
	return h.Conn.Close()
}
