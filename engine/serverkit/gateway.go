package serverkit

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
)

// gateway is a server through which a database is reached. The first is that of a DB itself.
type gateway struct {
	*Host
	connect  sqlkit.Connector
	id       string // of the server's process, see Traits.Identity; "": not known yet
	counters *sqlkit.Admin
	sample   Sample
	sessions int // that it was dealt
}

// identity returns the text that identifies the server of a connection.
func (t *Traits) identity(ctx context.Context, c *sqlkit.Admin) (string, error) {
	var all []string
	err := c.Query(ctx, t.Identity, func(row []string) error {
		all = append(all, strings.Join(row, "="))
		return nil
	})
	return strings.Join(all, " "), err
}

// recognize checks that a connection leads to the gateway's server, if several processes or gateways rest on that.
func (g *gateway) recognize(ctx context.Context, d *DB, c *sqlkit.Admin) error {
	if len(d.setup.Server.Gateways) == 0 && !d.setup.Server.Join {
		return nil
	}
	id, err := d.traits.identity(ctx, c)
	switch {
	case err != nil:
		return fmt.Errorf("which server this is: %w", err)
	case g.id == "":
		g.id = id
	case g.id != id:
		return hint.Errorf("name the servers themselves in the dsn, not a proxy that chooses one for each connection",
			"a session has reached another server than the one before it")
	}
	return nil
}

// seeing is how long another gateway may take to see the schema that was made through the first.
const seeing = 10 * time.Second

// openGateways connects to the further servers of the database, and checks that each is another one.
func (d *DB) openGateways(ctx context.Context) error {
	for _, dsn := range d.setup.Server.Gateways {
		g := &gateway{Host: NewHost(d.traits.Mark, d.traits.Programs...)}
		connector, err := d.traits.Reach(dsn, server.Endpoint{}, g.Dial)
		if err != nil {
			return err
		}
		if d.client.Adapt != nil {
			d.client.Adapt(connector)
		}
		g.connect = hiding(connector, dsn)
		n := len(d.gateways) + 1
		if err := d.find(ctx, g); err != nil {
			return fmt.Errorf("gateway %d: %w", n, err)
		}
		for i, other := range d.gateways {
			if other.id == g.id {
				return hint.Errorf("name each server once", "dsn: numbers %d and %d lead to the same server", i+1, n)
			}
		}
		d.gateways = append(d.gateways, g)
	}
	return expected(d)
}

// find waits until the schema exists on a gateway, and connects once.
func (d *DB) find(ctx context.Context, g *gateway) error {
	c, err := meet(ctx, g.connect, d.client.Dialect)
	if err != nil {
		return err
	}
	for until := time.Now().Add(seeing); ; {
		if err = d.place.join(ctx, c, d.client.Dialect); err == nil || time.Now().After(until) {
			break
		}
		time.Sleep(time.Second / 20)
	}
	if err = errors.Join(err, c.Close()); err != nil {
		return err
	}
	conn, err := d.connectTo(ctx, g)
	if err != nil {
		return err
	}
	return conn.Close()
}

// expected refuses other servers than those that the process means which has made the schema.
func expected(d *DB) error {
	for i, id := range d.setup.Server.Expected {
		if i < len(d.gateways) && d.gateways[i].id != id {
			return hint.Errorf("name the servers in the dsn as all machines of the plan reach them",
				"from this machine the dsn leads to another server than from the machine of server_on")
		}
	}
	return nil
}

// deal connects a session: through the next gateway.
func (d *DB) deal(ctx context.Context) (sqlkit.Conn, error) {
	d.dealing.Lock()
	g := d.gateways[(d.setup.Server.Turn+d.dealt)%len(d.gateways)]
	d.dealt++
	d.dealing.Unlock()
	conn, err := d.connectTo(ctx, g)
	if err == nil {
		d.dealing.Lock()
		g.sessions++
		d.dealing.Unlock()
	}
	return conn, err
}

// Dealt implements engine.Dealer.
func (d *DB) Dealt() (out []int) {
	d.dealing.Lock()
	defer d.dealing.Unlock()
	for _, g := range d.gateways {
		out = append(out, g.sessions)
	}
	return out
}

// count readies the counters of all gateways.
func (d *DB) count(ctx context.Context) (err error) {
	for i, g := range d.gateways {
		connect := func(ctx context.Context) (sqlkit.Conn, error) { return d.connectTo(ctx, g) }
		if g.counters, err = sqlkit.Connect(ctx, connect, d.client.Dialect); err != nil {
			return err
		}
		g.counters.Quiet = true
		g.counters.KeepOpen(connect)
		ready := d.client.More
		if i == 0 {
			ready = d.client.Counters
		}
		if g.sample, err = ready(ctx, g.counters); err != nil {
			return err
		}
	}
	return nil
}

// Counters adds the counters of all gateways: sums, and of gauges only those that can be added up. A process that
// has joined counts nothing.
func (d *DB) Counters(ctx context.Context, s *engine.Sample) error {
	if d.setup.Server.Join {
		return nil
	}
	if len(d.gateways) == 1 {
		return d.gateways[0].sample(ctx, s)
	}
	position := map[string]int{}
	for _, g := range d.gateways {
		var own engine.Sample
		if err := g.sample(ctx, &own); err != nil {
			return err
		}
		for _, p := range own.Points {
			key := p.Key()
			i, known := position[key]
			switch {
			case known:
				s.Points[i].Value += p.Value
			case p.Kind == engine.Counter || p.Unit == "bytes" || p.Unit == "count":
				position[key] = len(s.Points)
				s.Points = append(s.Points, p)
			}
		}
	}
	return nil
}

// Processes returns the processes of all servers of the database, or of the first if others observe the rest.
func (d *DB) Processes() (pids []int, reason string) {
	if d.setup.Server.Observed {
		return d.Host.Processes()
	}
	for i, g := range d.gateways {
		own, reason := g.Host.Processes()
		if reason != "" && i > 0 {
			reason = fmt.Sprintf("gateway %d: %s", i+1, reason)
		}
		if len(own) == 0 {
			return nil, reason
		}
		pids = append(pids, own...)
	}
	return pids, ""
}

// DataDir returns the directory of the data; "" if it is unknown, or if data of several servers are on several
// file systems.
func (d *DB) DataDir() string {
	dir := d.Host.DataDir()
	if d.setup.Server.Observed || dir == "" {
		return dir
	}
	var first syscall.Stat_t
	if syscall.Stat(dir, &first) != nil {
		return dir // reported where it is used
	}
	for _, g := range d.gateways[1:] {
		var own syscall.Stat_t
		if syscall.Stat(g.Host.DataDir(), &own) != nil || own.Dev != first.Dev {
			return ""
		}
	}
	return dir
}
