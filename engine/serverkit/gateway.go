package serverkit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// gateway is a server through which a database is reached. The first is that of a DB itself.
type gateway struct {
	*Host
	connect  sqlkit.Connector
	id       string // of the server's process, see Traits.Identity; "": not known yet
	counters *sqlkit.Admin
	sample   Sample
	sessions int                // that it was dealt
	last     map[string]float64 // its counters; see Counters
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

// seeing is how long another server may take to see what was made through the first.
const seeing = 10 * time.Second

// openGateways connects to the further servers of the database, and checks that each is another one and has the
// same database.
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
		d.gateways = append(d.gateways, g)
	}
	if len(d.gateways) > 1 && !d.setup.Server.Join {
		if err := d.prove(ctx); err != nil {
			return err
		}
	}
	for n, g := range d.gateways[1:] {
		conn, err := d.connectTo(ctx, g)
		if err == nil {
			err = conn.Close()
		}
		if err != nil {
			return fmt.Errorf("number %d of its dsns: %w", n+2, err)
		}
		same := func(otherGateway *gateway) bool { return otherGateway.id == g.id }
		if i := slices.IndexFunc(d.gateways, same); i <= n {
			return hint.Errorf("name each server once", "dsn: numbers %d and %d lead to the same server", i+1, n+2)
		}
	}
	return expected(d)
}

// prove makes a table through the first server, and waits until the others have it: a schema of the same name may be
// that of another database.
func (d *DB) prove(ctx context.Context) (err error) {
	dialect := d.client.Dialect
	proof := &model.Table{Name: "rumbench_" + strings.ToLower(rand.Text()[:12]), Key: []string{"id"},
		Columns: []model.Column{{Name: "id", Type: model.Int}}}
	made := []string{dialect.CreateTable(proof)}
	if dialect.AfterTable != nil {
		made = append(made, dialect.AfterTable(dialect, proof)...)
	}
	for _, text := range made {
		if err := d.Admin().Exec(ctx, text); err != nil {
			return fmt.Errorf("make a table through the first server: %w", err)
		}
	}
	defer func() {
		err = errors.Join(err, d.Admin().Exec(context.WithoutCancel(ctx), dialect.DropTable(proof, false)))
	}()
	for n, g := range d.gateways[1:] {
		c, err := meet(ctx, g.connect, dialect)
		if err != nil {
			return fmt.Errorf("number %d of its dsns: %w", n+2, err)
		}
		if err := errors.Join(sees(ctx, c, "SELECT COUNT(*) FROM "+dialect.Table(proof.Name)), c.Close()); err != nil {
			return hint.Errorf("name servers of one cluster", "number %d of its dsns does not have the database of the first: "+
				"%w", n+2, err)
		}
	}
	return nil
}

// sees waits until a query works.
func sees(ctx context.Context, c *sqlkit.Admin, query string) error {
	for until := time.Now().Add(seeing); ; {
		_, err := c.Value(ctx, query)
		if err == nil || engine.ClassOf(err) == engine.Gone || time.Now().After(until) {
			return err
		}
		select {
		case <-time.After(time.Second / 20):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
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
		g.counters.KeepOpen(connect, true)
		sample, err := d.client.Counters(ctx, g.counters, i == 0)
		if err != nil {
			return err
		}
		logs := textLogsOf(ctx, d, g)
		g.sample = func(ctx context.Context, s *engine.Sample) error {
			logs.sample(s)
			return sample(ctx, s)
		}
	}
	return nil
}

// Counters adds the counters of all gateways: the sums of what all of them have, and of gauges those that can be added
// up. A process that has joined counts nothing.
func (d *DB) Counters(ctx context.Context, s *engine.Sample) error {
	if d.setup.Server.Join {
		return nil
	}
	if len(d.gateways) == 1 {
		return d.gateways[0].sample(ctx, s)
	}
	d.counting.Lock()
	defer d.counting.Unlock()
	all, seen := map[string]*engine.Point{}, map[string]int{}
	var order []string
	for n, g := range d.gateways {
		var own engine.Sample
		if err := g.count(ctx, &own); err != nil {
			return fmt.Errorf("number %d of its dsns: %w", n+1, err)
		}
		for i := range own.Points {
			p := &own.Points[i]
			if p.Kind == engine.Gauge && (!strings.HasPrefix(p.Name, "engine.") || p.Unit != "bytes" && p.Unit != "count") {
				continue
			}
			key := p.Key()
			if seen[key]++; all[key] == nil {
				all[key], order = p, append(order, key)
			} else {
				all[key].Value += p.Value
			}
		}
	}
	for _, key := range order {
		if seen[key] == len(d.gateways) {
			s.Points = append(s.Points, *all[key])
		}
	}
	return nil
}

// count samples one server. One whose counters have fallen was started again: in a sum that would not be seen.
func (g *gateway) count(ctx context.Context, s *engine.Sample) (err error) {
	if err := g.sample(ctx, s); err != nil {
		return err
	}
	now := make(map[string]float64, len(s.Points))
	for i := range s.Points {
		if p := &s.Points[i]; p.Kind == engine.Counter {
			now[p.Key()] = p.Value
			if p.Value < g.last[p.Key()] {
				err = fmt.Errorf("its counter %s has fallen: it was started again", p.Name)
			}
		}
	}
	g.last = now
	return err
}

// Processes returns the processes of all servers of the database, or of the first if others observe the rest.
func (d *DB) Processes() (pids []int, reason string) {
	if d.setup.Server.Observed {
		return d.Host.Processes()
	}
	for i, g := range d.gateways {
		own, reason := g.Host.Processes()
		if reason != "" && i > 0 {
			reason = fmt.Sprintf("number %d of its dsns: %s", i+1, reason)
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
