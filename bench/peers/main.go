// Peers compares rumbench's own client with other benchmark programs on the same
// server and data: the CPU of the client per transaction, and whether the server
// does the same work for both: transactions per second and, per transaction, its
// CPU, bytes written and own counters. The server has one CPU, the client
// another; both clients take turns. Run it with make bench-peers.
//
// Rumbench's figure covers the whole client, as drive.Run runs a step: operations are
// drawn, sent, timed and recorded, errors counted, garbage collected. Connecting is
// excluded, as in the peer's figure, and so is the work that rumbench run does once
// for all clients: writing intervals and sampling the server and the machine.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/internal/observe/cpuset"
	"rumbench/model"
)

// peer is another benchmark program.
type peer interface {
	facts() facts
	// start starts a server below dir and creates the peer's table. If it fails, no
	// server remains.
	start(ctx context.Context, dir string) (target, error)
	stop() error
	// command returns a command that executes a number of transactions per connection.
	command(ctx context.Context, test string, clients, each int) (*exec.Cmd, error)
	// job is rumbench's job for the same test.
	job(test string, clients, each int) job
	// counters reads the server's own counters, which never decrease.
	counters(ctx context.Context) (account, error)
	// rest makes the server complete deferred writes.
	rest(ctx context.Context) error
}

type facts struct {
	name string
	// limits are the maximum client CPU per transaction of rumbench, relative to the peer, by the number of
	// connections; 0: no limit.
	limits       map[int]float64
	transactions *regexp.Regexp // finds their number in the command's output
}

// oltp are the tests that are compared with servers' peers, by their names in rumbench's workload.
var oltp = []string{"oltp_point_select", "oltp_read_only", "oltp_update_index", "oltp_read_write", "oltp_insert"}

// target is a server as rumbench attaches to it.
type target struct {
	Engine, DSN, Schema string
	Durability          model.Durability // as the server was configured
	PID                 int              // of the server
}

// rows of the table.
const rows = 100_000

type result struct {
	Transactions int64
	CPU          time.Duration // of the client
	Window       time.Duration
	server       account
}

// withoutIdle subtracts a nearly idle run: start-up is not part of a transaction.
func (r result) withoutIdle(idle result) result {
	r.Transactions -= idle.Transactions
	r.CPU -= idle.CPU
	r.Window -= idle.Window
	r.server = r.server.minus(idle.server)
	return r
}

func (r result) perTransaction() float64 {
	return float64(r.CPU.Nanoseconds()) / 1e3 / float64(r.Transactions)
}
func (r result) rate() float64 { return float64(r.Transactions) / r.Window.Seconds() }

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 4, "rounds of each comparison; each has both clients once, in alternating order")
	flag.IntVar(&o.seconds, "seconds", 5, "approximate length of a run")
	flag.StringVar(&o.peer, "peer", "", "compare only with this peer")
	flag.StringVar(&o.clients, "clients", "1,8", "numbers of connections")
	flag.StringVar(&o.tests, "tests", "", "run only these tests")
	flag.BoolVar(&o.brief, "brief", false, "print a line of JSON for each comparison")
	embedded := flag.String("embedded", "", "run a test of an embedded engine and print the result (used by peers itself)")
	plain := flag.String("plain", "", "run a test in a plain loop over an engine's library (used by peers itself)")
	client := flag.String("client", "", "measure with rumbench's client and print the result (used by peers itself)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	err := error(nil)
	switch {
	case *client != "":
		err = ownClient(ctx, *client)
	case *plain != "":
		err = runPlain(*plain)
	case *embedded != "":
		err = ownEmbedded(ctx, *embedded)
	default:
		err = o.compare(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

type options struct {
	rounds, seconds      int
	peer, clients, tests string
	brief                bool
}

func (o *options) compare(ctx context.Context) error {
	cpus, err := cpuset.Allowed()
	if err != nil {
		return err
	}
	if len(cpus) < 2 {
		return fmt.Errorf("two CPUs are needed, one for the server and one for the client; available: %v", cpus)
	}
	server, client := cpus[:1], cpus[1:2]
	if !o.brief {
		fmt.Printf("server on CPU %v, client on %v; medians of %d rounds of about %d s (minimum–maximum), per "+
			"transaction unless stated\n", server, client, o.rounds, o.seconds)
	}
	for _, p := range []peer{&sysbench{}, &pgbench{}} {
		if o.peer != "" && o.peer != p.facts().name {
			continue
		}
		if err := o.compareWith(ctx, p, server, client); err != nil {
			return fmt.Errorf("%s: %w", p.facts().name, err)
		}
	}
	return o.compareEmbedded(ctx)
}

func (o *options) compareWith(ctx context.Context, p peer, server, client cpuset.Set) (err error) {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // the server runs as a separate user
		return err
	}
	at, err := p.start(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := pin(ctx, at.PID, server); err != nil {
		return err
	}
	for _, test := range oltp {
		if o.tests != "" && !slices.Contains(strings.Split(o.tests, ","), test) {
			continue
		}
		for text := range strings.SplitSeq(o.clients, ",") {
			clients, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("%q is not a number of connections", text)
			}
			if err := o.row(ctx, p, at, test, clients, client); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *options) row(ctx context.Context, p peer, at target, test string, clients int, on cpuset.Set) (err error) {
	// Each side executes a number of transactions per connection.
	sides := []func(each int) (result, error){
		func(each int) (result, error) { return runPeer(ctx, p, test, clients, each, on) },
		func(each int) (result, error) { return runOwn(ctx, p.job(test, clients, each), on) },
	}
	run := func(side, each int) (result, error) {
		return watched(ctx, p, at, func() (result, error) { return sides[side](each) })
	}
	each, err := o.size(sides[0], clients)
	if err != nil {
		return err
	}
	var idle [2]result
	for side := range sides {
		if _, err := sides[side](each); err != nil { // to warm up: the first changes to a table differ
			return err
		}
		if idle[side], err = run(side, 1); err != nil {
			return err
		}
	}
	c, err := o.alternate(func(side int) (result, error) {
		r, err := run(side, each)
		return r.withoutIdle(idle[side]), err
	})
	if err != nil {
		return err
	}
	o.show(&c, outcome{Peer: p.facts().name, Test: test, Clients: clients, CPULimit: p.facts().limits[clients]})
	return nil
}

// alternate runs all rounds; both sides have a turn in each.
func (o *options) alternate(run func(side int) (result, error)) (c comparison, err error) {
	for round := range o.rounds {
		for turn := range c {
			side := (turn + round) % 2 // ABBA
			r, err := run(side)
			if err != nil {
				return c, err
			}
			c[side] = append(c[side], r)
		}
	}
	return c, nil
}

// size returns the transactions per connection for a run of the requested length. Both
// clients execute the same number, because writes per transaction depend on it: a page
// that is changed a thousand times may be written once.
func (o *options) size(run func(each int) (result, error), clients int) (each int, err error) {
	const probe = 200
	r, err := run(probe)
	return max(2, int(r.rate()*float64(o.seconds))/clients), err
}

// runPeer measures a peer. CPU and window cover the whole process.
func runPeer(ctx context.Context, p peer, test string, clients, each int, on cpuset.Set) (r result, err error) {
	cmd, err := p.command(ctx, test, clients, each)
	if err != nil {
		return r, err
	}
	begin := time.Now()
	output, err := run(ctx, cmd, on)
	if err != nil {
		return r, err
	}
	r = result{CPU: cpuOf(cmd), Window: time.Since(begin)}
	m := p.facts().transactions.FindStringSubmatch(output)
	if m == nil {
		return r, fmt.Errorf("it prints no number of transactions:\n%s", output)
	}
	if r.Transactions, err = strconv.ParseInt(m[1], 10, 64); err == nil && r.Transactions == 0 {
		err = fmt.Errorf("%v did nothing:\n%s", cmd, output)
	}
	return r, err
}

// runOwn measures rumbench's client in a separate process.
func runOwn(ctx context.Context, j job, on cpuset.Set) (r result, err error) {
	r, _, err = runSelf(ctx, "-client", j, on)
	if err == nil && r.Transactions == 0 {
		err = fmt.Errorf("rumbench's client did nothing")
	}
	return r, err
}

// runSelf runs this program with a flag, and returns the result it prints and the CPU
// of the whole process.
func runSelf(ctx context.Context, flag string, subject any, on cpuset.Set) (r result, cpu time.Duration, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, 0, err
	}
	text, err := json.Marshal(subject)
	if err != nil {
		return r, 0, err
	}
	cmd := exec.Command(self, flag, string(text))
	output, err := run(ctx, cmd, on)
	if err != nil {
		return r, 0, err
	}
	return r, cpuOf(cmd), json.Unmarshal([]byte(output), &r)
}

func cpuOf(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// run runs a program on the given CPUs and returns its output.
func run(ctx context.Context, cmd *exec.Cmd, on cpuset.Set) (string, error) {
	var out, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cpuset.Start(cmd, on); err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s%s", cmd, err, out.String(), stderr.String())
	}
	return out.String(), nil
}

// pin binds all threads of a process, and the threads they start, to the given CPUs.
func pin(ctx context.Context, pid int, on cpuset.Set) error {
	cmd := exec.Command("taskset", "--all-tasks", "--pid", "--cpu-list", on.String(), strconv.Itoa(pid))
	if _, err := run(ctx, cmd, nil); err != nil {
		return fmt.Errorf("bind the server to CPU %v: %w", on, err)
	}
	return nil
}
