// Peers compares rumbench's own client with the programs that others measure
// with, on the same server and the same data: what the client costs (CPU per
// transaction), and whether the server does the same work for both: transactions
// a second and, per transaction, its CPU, what it writes, and what its own
// counters say. The server has one processor, the client another; both clients
// take turns. Run it by make bench-peers.
//
// Ours is the whole client, as drive.Run runs a step: operations are drawn, sent,
// timed and recorded, errors counted, garbage collected. Connecting is not in it,
// as it is not in the peer's figure. Nor is what rumbench run does once for all
// clients: it writes the intervals and samples the server and the machine.
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
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/internal/cpuset"
	"rumbench/model"
)

// peer is a program that measures a server.
type peer interface {
	// name is how the table calls it.
	name() string
	// start starts a server below dir and has the peer make its table. If it
	// fails, no server is left.
	start(ctx context.Context, dir string) (target, error)
	// stop stops the server.
	stop() error
	// tests are what is compared, in the words of rumbench's workload.
	tests() []string
	// connections is how many it can use at most.
	connections() int
	// command does so many transactions on each connection.
	command(ctx context.Context, test string, clients, each int) (*exec.Cmd, error)
	// transactions reads from what the command printed how many there were.
	transactions(output string, each int) (int64, error)
	// limit is how much client CPU per transaction rumbench may take, relative
	// to the peer; 0: no bound is promised.
	limit(test string, clients int) float64
	// job is what rumbench does for the same test.
	job(test string, clients, each int) job
	// counters reads the server's own counters, which only ever grow.
	counters(ctx context.Context) (account, error)
	// rest has the server write what it has put off.
	rest(ctx context.Context) error
}

// target is a server as rumbench attaches to it.
type target struct {
	Engine, DSN, Schema string
	Durability          model.Durability // as the server was configured
	PID                 int              // of the server
}

// rows of the table.
const rows = 100_000

// result is what a run of a client did.
type result struct {
	Transactions int64
	CPU          time.Duration // of the client
	Window       time.Duration
	server       account
}

// less returns what is left without a run that hardly did anything: to begin, and to
// look at the tables, is no part of a transaction.
func (r result) less(idle result) result {
	r.Transactions -= idle.Transactions
	r.CPU -= idle.CPU
	r.Window -= idle.Window
	r.server = r.server.since(idle.server)
	return r
}

func (r result) perTransaction() float64 {
	return float64(r.CPU.Nanoseconds()) / 1e3 / float64(r.Transactions)
}
func (r result) rate() float64 { return float64(r.Transactions) / r.Window.Seconds() }

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 4, "rounds of each comparison; each has both clients once, in turns of who begins")
	flag.IntVar(&o.seconds, "seconds", 5, "length of a run, about")
	flag.StringVar(&o.peer, "peer", "", "only this one")
	flag.StringVar(&o.clients, "clients", "1,8", "numbers of connections")
	flag.StringVar(&o.tests, "tests", "", "only these")
	client := flag.String("client", "", "measure with rumbench's client and print the result (used by peers itself)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	defer stop()
	err := error(nil)
	if *client != "" {
		err = ownClient(ctx, *client)
	} else {
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
}

// compare compares with all peers and prints a table.
func (o *options) compare(ctx context.Context) error {
	cpus, err := cpuset.Allowed()
	if err != nil {
		return err
	}
	if len(cpus) < 2 {
		return fmt.Errorf("two processors are needed, one for the server and one for the client; there is %v", cpus)
	}
	server, client := cpus[:1], cpus[1:2]
	fmt.Printf("server on processor %v, client on %v; medians of %d rounds of about %d s (lowest–highest), per transaction unless said\n", server, client, o.rounds, o.seconds)
	for _, p := range []peer{&sysbench{}, &pgbench{}, &replay{}} {
		if o.peer != "" && o.peer != p.name() {
			continue
		}
		if err := o.compareWith(ctx, p, server, client); err != nil {
			return fmt.Errorf("%s: %w", p.name(), err)
		}
	}
	return nil
}

func (o *options) compareWith(ctx context.Context, p peer, server, client cpuset.Set) (err error) {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // the server has a user of its own
		return err
	}
	at, err := p.start(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := pin(at.PID, server); err != nil {
		return err
	}
	for _, test := range p.tests() {
		if o.tests != "" && !slices.Contains(strings.Split(o.tests, ","), test) {
			continue
		}
		for text := range strings.SplitSeq(o.clients, ",") {
			clients, err := strconv.Atoi(text)
			if err != nil {
				return fmt.Errorf("%q is no number of connections", text)
			}
			if clients > p.connections() {
				continue
			}
			if err := o.row(ctx, p, at, test, clients, client); err != nil {
				return err
			}
		}
	}
	return nil
}

// row compares one test and prints what was found.
func (o *options) row(ctx context.Context, p peer, at target, test string, clients int, on cpuset.Set) (err error) {
	// Each of the two does so many transactions on each connection.
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
		if _, err := sides[side](each); err != nil { // the first changes to a table are not like the later ones
			return err
		}
		if idle[side], err = run(side, 1); err != nil {
			return err
		}
	}
	var c comparison
	for round := range o.rounds {
		var did [2]result
		for turn := range did {
			side := (turn + round) % 2 // ABBA
			if did[side], err = run(side, each); err != nil {
				return err
			}
		}
		c.add(did[0].less(idle[0]), did[1].less(idle[1]))
	}
	c.print(p.name(), test, clients, p.limit(test, clients))
	return nil
}

// size returns how many transactions of each connection make a run as long as asked
// for. Both clients do the same number: a page that is changed a thousand times
// may be written once, so what is written depends on how much is done.
func (o *options) size(run func(each int) (result, error), clients int) (each int, err error) {
	const probe = 200
	r, err := run(probe)
	return max(2, int(r.rate()*float64(o.seconds))/clients), err
}

// runPeer measures with a peer. Its CPU and its window are those of the whole process.
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
	r = result{CPU: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), Window: time.Since(begin)}
	r.Transactions, err = p.transactions(output, each)
	if err == nil && r.Transactions == 0 {
		err = fmt.Errorf("%v did nothing:\n%s", cmd, output)
	}
	return r, err
}

// runOwn measures with rumbench's client, in a process of its own.
func runOwn(ctx context.Context, j job, on cpuset.Set) (r result, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	text, err := json.Marshal(j)
	if err != nil {
		return r, err
	}
	output, err := run(ctx, exec.Command(self, "-client", string(text)), on)
	if err != nil {
		return r, err
	}
	err = json.Unmarshal([]byte(output), &r)
	if err == nil && r.Transactions == 0 {
		err = fmt.Errorf("rumbench's client did nothing")
	}
	return r, err
}

// run runs a program on some processors and returns what it prints.
func run(ctx context.Context, cmd *exec.Cmd, on cpuset.Set) (string, error) {
	var out, complaint strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cpuset.Start(cmd, on); err != nil {
		return "", err
	}
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })()
	if err := cmd.Wait(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s%s", cmd, err, out.String(), complaint.String())
	}
	return out.String(), nil
}

// pin keeps all threads of a process, and those that they begin, on some processors.
func pin(pid int, on cpuset.Set) error {
	var mask unix.CPUSet
	for _, cpu := range on {
		mask.Set(cpu)
	}
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return err
	}
	for _, t := range tasks {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			return err
		}
		if err := unix.SchedSetaffinity(tid, &mask); err != nil && err != unix.ESRCH {
			return fmt.Errorf("keep the server on processor %v: %w", on, err)
		}
	}
	return nil
}
