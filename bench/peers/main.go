// Peers compares what rumbench's own client costs with what the programs cost
// that others measure with: client CPU per transaction and throughput, on the
// same server, tables and transactions. The server has one processor, the client
// another; both clients take turns. Run it by make bench-peers.
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
	"rumbench/internal/stat"
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
	// tests are what is compared, in the words of the workload sysbench.
	tests() []string
	// command measures for some seconds; none: it only begins and ends, which
	// tells what that costs.
	command(test string, clients, seconds int) *exec.Cmd
	// transactions reads how many there were.
	transactions(output string) (int64, error)
	// limit is how much client CPU per transaction rumbench may take, relative
	// to the peer; 0: no bound is promised.
	limit(test string, clients int) float64
}

// target is a server as rumbench attaches to it.
type target struct {
	Engine, DSN, Schema string
	PID                 int // of the server
}

// rows of the table.
const rows = 100_000

// result is what a run of a client did.
type result struct {
	Transactions int64
	CPU          time.Duration // of the client
	Window       time.Duration
}

func (r result) perTransaction() float64 {
	return float64(r.CPU.Nanoseconds()) / 1e3 / float64(r.Transactions)
}
func (r result) rate() float64 { return float64(r.Transactions) / r.Window.Seconds() }

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 4, "rounds of each comparison; each has both clients once, in turns of who begins")
	flag.IntVar(&o.seconds, "seconds", 5, "length of a run")
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
	fmt.Printf("server on processor %v, client on %v; client CPU per transaction in µs, median of %d rounds of %d s, lowest and highest\n", server, client, o.rounds, o.seconds)
	fmt.Printf("%-10s %-20s %7s  %-24s %-24s %-18s %9s %9s  %s\n", "peer", "test", "clients", "peer", "rumbench", "ratio", "peer/s", "rumb./s", "")
	for _, p := range []peer{&sysbench{}, &pgbench{}} {
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
			if err := o.row(ctx, p, at, test, clients, client); err != nil {
				return err
			}
		}
	}
	return nil
}

// row compares one test and prints what was found.
func (o *options) row(ctx context.Context, p peer, at target, test string, clients int, on cpuset.Set) (err error) {
	idle, err := runPeer(ctx, p, test, clients, 0, on)
	if err != nil {
		return err
	}
	var theirs, ours, ratios, theirRate, ourRate []float64
	for round := range o.rounds {
		var t, r result
		for turn := range 2 {
			if (turn+round)%2 == 0 { // ABBA
				if t, err = runPeer(ctx, p, test, clients, o.seconds, on); err == nil {
					t.CPU -= idle.CPU
				}
			} else {
				r, err = runOwn(ctx, at, test, clients, o.seconds, on)
			}
			if err != nil {
				return err
			}
		}
		theirs, theirRate = append(theirs, t.perTransaction()), append(theirRate, t.rate())
		ours, ourRate = append(ours, r.perTransaction()), append(ourRate, r.rate())
		ratios = append(ratios, r.perTransaction()/t.perTransaction())
	}
	verdict := ""
	if limit := p.limit(test, clients); limit > 0 {
		verdict = fmt.Sprintf("held: at most %g", limit)
		if !(stat.Median(ratios) <= limit) { // in words only: a machine may be busy
			verdict = fmt.Sprintf("NOT HELD: at most %g", limit)
		}
	}
	fmt.Printf("%-10s %-20s %7d  %-24s %-24s %-18s %9.0f %9.0f  %s\n", p.name(), test, clients,
		spread(theirs), spread(ours), spread(ratios), stat.Median(theirRate), stat.Median(ourRate), verdict)
	return nil
}

// spread is a median with what it lies between.
func spread(v []float64) string {
	return fmt.Sprintf("%.2f (%.2f–%.2f)", stat.Median(v), slices.Min(v), slices.Max(v))
}

// runPeer measures with a peer. Its CPU is that of the whole process.
func runPeer(ctx context.Context, p peer, test string, clients, seconds int, on cpuset.Set) (r result, err error) {
	cmd := p.command(test, clients, seconds)
	output, err := run(ctx, cmd, on)
	if err != nil {
		return r, err
	}
	r = result{CPU: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), Window: time.Duration(seconds) * time.Second}
	if seconds == 0 {
		return r, nil
	}
	r.Transactions, err = p.transactions(output)
	if err == nil && r.Transactions == 0 {
		err = fmt.Errorf("%v did nothing:\n%s", cmd, output)
	}
	return r, err
}

// runOwn measures with rumbench's client, in a process of its own.
func runOwn(ctx context.Context, at target, test string, clients, seconds int, on cpuset.Set) (r result, err error) {
	self, err := os.Executable()
	if err != nil {
		return r, err
	}
	job, err := json.Marshal(job{at, test, clients, seconds})
	if err != nil {
		return r, err
	}
	output, err := run(ctx, exec.Command(self, "-client", string(job)), on)
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
