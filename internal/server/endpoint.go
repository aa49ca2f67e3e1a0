package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// newEndpoint returns the endpoint for the server to listen on: a free port,
// unless the settings name one.
func (s *Server) newEndpoint() (Endpoint, error) {
	e := Endpoint{User: s.kind.superuser, Address: s.Listen}
	var err error
	for _, set := range s.Settings {
		if set.Name != "port" {
			continue
		}
		if e.Port, err = strconv.Atoi(set.Value); err != nil {
			return e, fmt.Errorf("port %q is not a number", set.Value)
		}
	}
	if e.Port == 0 {
		if e.Port, err = s.freePort(s.Listen); err != nil {
			return e, fmt.Errorf("find a free port: %w", err)
		}
	}
	e.Socket = filepath.Join(s.runDir(), strings.ReplaceAll(s.kind.socket, "PORT", strconv.Itoa(e.Port)))
	return e, nil
}

func freePort(address string) (int, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// lostPort reports whether a server has not started because another program has
// taken the free port that was chosen for it.
func lostPort(s *Server, err error) bool {
	var died *DiedError
	if s.sets("port") || !errors.As(err, &died) {
		return false
	}
	return slices.ContainsFunc(died.Messages, func(m string) bool { return strings.Contains(m, "ddress already in use") })
}

// password returns the password for the port: the stored one, or a new one.
func (s *Server) password() (string, error) {
	path := s.passwordFile()
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		b, err := os.ReadFile(path)
		return strings.TrimSpace(string(b)), err
	}
	password := rand.Text()
	if err := replaceFile(path, password+"\n"); err != nil {
		return "", fmt.Errorf("write the password of the port: %w", err)
	}
	return password, s.owner.own(path)
}

// replaceFile writes a file in a directory that the server's user may change: it follows no link.
func replaceFile(path, text string) error {
	if err := removeIfThere(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func removeIfThere(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// longestSocket is the maximum length of a socket's path in its address.
const longestSocket = 107

// Dial connects to a unix socket whose path may be of any length.
func Dial(ctx context.Context, socket string) (net.Conn, error) {
	var d net.Dialer
	if len(socket) <= longestSocket {
		return d.DialContext(ctx, "unix", socket)
	}
	dir, err := os.Open(filepath.Dir(socket))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return d.DialContext(ctx, "unix", fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(socket)))
}

// lines formats settings as lines of a configuration file, each name once with
// its last value.
func lines(settings []Setting, quote func(string) string) string {
	var b strings.Builder
	for i, set := range settings {
		later := slices.ContainsFunc(settings[i+1:], func(l Setting) bool { return l.Name == set.Name })
		if later && set.Name != "plugin-load-add" { // which may occur several times
			continue
		}
		b.WriteString(set.Name)
		if set.Value != "" {
			b.WriteString(" = " + quote(set.Value))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
