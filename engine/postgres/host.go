package postgres

import (
	"context"
	"crypto/tls"
	sqldriver "database/sql/driver"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/internal/server"
)

// host is where a server runs, as far as that can be seen from here.
type host struct {
	pid int    // its first process, of which all others descend; 0: not known
	why string // it is not known
	dir string // its data; "": not known
}

// startServer starts a private server.
func startServer(ctx context.Context, s *setup) (*server.Server, error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return nil, err
	}
	return server.Start(ctx, server.Config{
		Kind: s.Server.Kind, Binary: s.Server.Binary, Dir: s.Dir, Log: s.Server.Log, Settings: s.settings, Ready: ping,
	})
}

// findHost finds the server at the other end of a connection.
func findHost(c *conn, own *server.Server) host {
	if own != nil {
		return host{pid: own.PID(), dir: own.DataDir()}
	}
	var pid int
	err := c.wire.Look(func(conn net.Conn) (err error) {
		if t, ok := conn.(*tls.Conn); ok {
			conn = t.NetConn()
		}
		pid, err = server.Peer(conn, "postgres", "postmaster")
		return err
	})
	if err != nil {
		return host{why: err.Error()}
	}
	h := host{pid: pid, dir: server.WorkDir(pid)}
	if _, err := os.Stat(filepath.Join(h.dir, "PG_VERSION")); err != nil {
		h.dir = "" // it works elsewhere
	}
	return h
}

// processes are the server's.
func (h host) processes() (pids []int, why string) {
	if h.pid == 0 {
		return nil, h.why
	}
	return []int{h.pid}, ""
}

// Processes are the server's.
func (d *db) Processes() (pids []int, why string) { return d.host.processes() }

// DataDir is where the server keeps its data, if it is on this host.
func (d *db) DataDir() string { return d.host.dir }

// Died tells how the server ended.
func (d *db) Died() error {
	if d.server == nil {
		return nil
	}
	return d.server.Died()
}

// FileClass tells the files of the data directory apart, and those of the
// directory around it that a private server has.
func (d *db) FileClass(ctx context.Context) (func(path string) engine.FileClass, error) {
	var current string // the log's file that is being written
	err := d.Admin().Query(ctx, "SELECT pg_walfile_name(pg_current_wal_insert_lsn())", func(row []sqldriver.Value) error {
		current = sqlkit.Text(row[0])
		return nil
	})
	return func(path string) engine.FileClass { return fileClass(path, d.about.database, current) }, err
}

// Empty is what the files of a private server took before it held anything.
func (d *db) Empty() map[engine.FileClass]int64 {
	if d.server == nil {
		return nil
	}
	return d.server.Empty()
}

// noteEmpty measures that, before anything is made in a private server.
func (d *db) noteEmpty(ctx context.Context) error {
	if d.server == nil {
		return nil
	}
	class, err := d.FileClass(ctx)
	if err != nil {
		return err
	}
	return d.server.NoteEmpty(class)
}

// relation is the path of a file of a table or index: the database's number,
// then the file's, which may end in its fork and its part. Those of temporary
// tables begin with a t.
var relation = regexp.MustCompile(`^(?:base|pg_tblspc/[0-9]+/[^/]+)/([0-9]+)/(t[0-9]+_)?([0-9]+)(?:_[a-z]+)?(?:\.[0-9]+)?$`)

// segment is the name of a file of the log: its timeline and its place.
var segment = regexp.MustCompile(`^[0-9A-F]{24}$`)

// firstNormal is the first number of a file that is not the system catalog's.
// All databases have a copy of that, of some 7 MB.
const firstNormal = 16384

// fileClass goes by the path of a file, the number of the database and the name
// of the log's file that is being written: those with greater names are files of
// the past, renamed for what is still to come.
func fileClass(path string, database uint32, current string) engine.FileClass {
	path = strings.TrimPrefix(path, "data/")
	switch top, name, _ := strings.Cut(path, "/"); {
	case top == "pg_wal" && segment.MatchString(name) && name > current:
		return engine.SpareFile
	case top == "pg_wal":
		return engine.RedoFile
	case top == "tmp" || top == "pg_dynshmem" || strings.Contains(path, "pgsql_tmp"):
		return engine.TempFile
	}
	m := relation.FindStringSubmatch(path)
	if m == nil {
		return engine.SystemFile
	}
	in, _ := strconv.ParseUint(m[1], 10, 32)
	file, _ := strconv.ParseUint(m[3], 10, 32)
	switch {
	case m[2] != "":
		return engine.TempFile
	case uint32(in) == database && file >= firstNormal:
		return engine.DataFile
	}
	return engine.SystemFile
}
