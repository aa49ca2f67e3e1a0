package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sys/unix"

	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/result/program"
	"rumbench/internal/run/campaign"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

// machine is a machine with its agent, as seen from the coordinator. It has many fields: those of the
// connection, of what it has said, and of the campaign.
type machine struct {
	plan.Host
	hub      *hub
	gate     *gate // nil: no agents join
	link     *link
	heard    *heartbeat
	lost     context.Context // ends, with the reason, when it is lost
	lose     func(reason error)
	forceEnd func(ended <-chan struct{}, over <-chan time.Time, kill func())
	note     func(text string)
	hello    Hello
	err      error // why it could not begin
	// silence is how long it may say nothing; part: it has clients, and no server.
	silence  time.Duration
	part     bool
	observes bool // a server of a cluster runs there; then it is a part, too

	dir      string   // of the campaign
	clients  []string // the directories of the clients' calibrations
	first    bool     // of the machines with clients: its calibration is the campaign's
	requests atomic.Int64
	notes    atomic.Int64
}

// The limits of what a machine may have its user read.
const mostSaid, longestNote = 10_000, 1000

// takeNote shows a line that the machine says, and nothing that looks like another machine's.
func (m *machine) takeNote(text string) {
	switch n := m.notes.Add(1); {
	case n < mostSaid:
		m.note(escape.Clip(escape.Line(text), longestNote))
	case n == mostSaid:
		m.note("it says too much: the rest is not shown")
	}
}

// begin starts the agent of a machine.
func (m *machine) begin(ctx context.Context, build program.Build) (err error) {
	if m.hub, err = newHub(); err != nil {
		return err
	}
	for subject, heard := range map[string]nats.MsgHandler{
		isAlive: func(*nats.Msg) { m.heard.beat() },
		isNote:  func(msg *nats.Msg) { m.takeNote(string(msg.Data)) },
	} {
		if _, err := m.hub.conn.Subscribe("from."+subject, heard); err != nil {
			return err
		}
	}
	w := welcome{Dir: m.Host.Dir, Lost: m.silence}
	if m.link, err = m.reach(ctx, build, w); err != nil {
		return err
	}
	m.heard.beat()
	go m.watch()
	if err := m.meet(ctx); err != nil {
		return m.named(err)
	}
	if m.hello.Build.SHA256 != build.SHA256 {
		return fmt.Errorf("machine %s runs another rumbench (%s) than this one (%s)", m.Host.Name, m.hello.Build.SHA256,
			build.SHA256)
	}
	return nil
}

// reach starts an agent by ssh, or waits for one that joins.
func (m *machine) reach(ctx context.Context, build program.Build, w welcome) (*link, error) {
	if m.Host.Join {
		conn, err := m.gate.await(ctx, m.Host.Name)
		if err != nil {
			return nil, m.named(err)
		}
		l, err := joined(ctx, m.hub, conn, w)
		return l, m.named(err)
	}
	path, err := install(ctx, m.Host, build.Path, build.SHA256)
	if err != nil {
		return nil, err
	}
	return start(ctx, m.hub, m.Host, path, w)
}

// meet asks the agent for its machine, until it listens.
func (m *machine) meet(ctx context.Context) error {
	for {
		err := m.ask(ctx, opHello, nil, &m.hello)
		if !errors.Is(err, nats.ErrNoResponders) {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// watch beats, and notices that the machine is lost.
func (m *machine) watch() {
	for tick := time.Tick(everyFor(m.silence)); ; {
		select {
		case <-m.lost.Done():
			return
		case <-m.link.gone:
			m.lose(errors.New(strings.TrimSuffix("its agent has ended: "+lastLine(string(m.link.problem)), ": ")))
		case <-tick:
			_ = m.hub.conn.Publish("to."+isAlive, nil)
			if silent := m.heard.silence(); silent > m.silence {
				m.lose(fmt.Errorf("nothing was heard of it for %.1f s", silent.Seconds()))
			}
		}
	}
}

// isLost reports whether the machine is lost.
func (m *machine) isLost() bool { return m.lost.Err() != nil }

// cause returns why it is lost.
func (m *machine) cause() string { return context.Cause(m.lost).Error() }

// named adds the machine's name to an error that lacks it.
func (m *machine) named(err error) error {
	if _, lost := errors.AsType[*campaign.LostError](err); lost || err == nil {
		return err
	}
	return hint.With(fmt.Errorf("machine %s: %w", m.Host.Name, err), hint.Of(err))
}

// ask sends a request and waits for its answer, however long it takes.
func (m *machine) ask(ctx context.Context, op string, request, value any) error {
	b, err := json.Marshal(request)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(m.lost, cancel)()
	msg, err := m.request(ctx, op, b)
	if err != nil && m.isLost() {
		return &campaign.LostError{Machine: m.Host.Name, Reason: m.cause()}
	}
	if err != nil {
		return err
	}
	return readAnswer(msg.Data, value)
}

// request sends a request. Its answer has a subject of the agent's own.
func (m *machine) request(ctx context.Context, op string, b []byte) (*nats.Msg, error) {
	reply := fmt.Sprintf("from.answer.%d", m.requests.Add(1))
	answers, err := m.hub.conn.SubscribeSync(reply)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answers.Unsubscribe() }()
	if err := m.hub.conn.PublishRequest("to."+op, reply, b); err != nil {
		return nil, err
	}
	return answers.NextMsgWithContext(ctx)
}

// endable makes a request that the end of a context ends in good order: its answer is waited for,
// unless the user asks again to end it.
func (m *machine) endable(ctx context.Context, op string, request, value any) error {
	answered := make(chan struct{})
	defer close(answered)
	stop := context.AfterFunc(ctx, func() {
		_ = m.hub.conn.Publish("to."+opEnd, nil)
		m.forceEnd(answered, nil, func() { m.lose(errors.New("its answer was not waited for")) })
	})
	defer stop()
	return m.ask(context.WithoutCancel(ctx), op, request, value)
}

// end ends the agent, if there is one.
func (m *machine) end() {
	if m.hub != nil {
		defer m.hub.close()
	}
	if m.link == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), campaign.Grace)
	defer cancel()
	var left closed
	if err := m.ask(ctx, opClose, nil, &left); err == nil && left.Kept != "" { // a lost one sweeps when it begins again
		m.note("the data of its trials are kept in " + left.Kept)
	}
	answers := !m.isLost()
	m.lose(errors.New("the fleet has ended"))
	m.link.end(answers)
}

// handle is a machine as a campaign sees it.
type handle struct {
	*machine
	coordinator *Coordinator
}

func (h handle) Name() string { return h.Host.Name }

func (h handle) Claim(ctx context.Context, state *result.Campaign) error {
	return h.coordinator.claim(ctx, state)
}

func (h handle) Prepare(ctx context.Context) error {
	var made returned
	if err := h.endable(ctx, opPrepare, nil, &made); err != nil {
		return h.named(err)
	}
	if made.Preflight != nil {
		return h.refused(ctx, made)
	}
	kept := map[string]bool{} // a complete calibration of a campaign that is resumed is the one that it began with
	return h.fetch(ctx, made.Files, func(name string) string {
		dir, path, _ := strings.Cut(strings.TrimPrefix(name, result.TrialsDir+"/"), "/")
		if path == "" || !slices.Contains(h.clients, dir) {
			return ""
		}
		dir = h.calibration(dir)
		if _, found := kept[dir]; !found {
			path := result.TrialPath(h.dir, dir)
			t, err := result.ReadTrial(path)
			if kept[dir] = err == nil && t.Status == result.Complete; !kept[dir] {
				_ = os.RemoveAll(path) // what is in the way is found below
			}
		}
		if kept[dir] {
			return ""
		}
		return filepath.Join(result.TrialsDir, dir, path)
	})
}

// calibration returns the directory of the campaign for what has the directory on the machine.
func (m *machine) calibration(dir string) string {
	if m.first {
		return dir
	}
	return dir + "@" + m.Host.Name
}

// refused takes the logs of targets that cannot run the plan there, and returns what is wrong with them.
func (h handle) refused(ctx context.Context, made returned) error {
	here := func(name string) string {
		return filepath.Join(campaign.PreflightDir, h.Host.Name, strings.TrimPrefix(name, campaign.PreflightDir+"/"))
	}
	for i := range made.Preflight.Failed {
		t := &made.Preflight.Failed[i]
		t.Name += " on " + h.Host.Name
		for j, name := range t.Logs {
			t.Logs[j] = filepath.Join(h.dir, here(name))
		}
	}
	old := os.RemoveAll(filepath.Join(h.dir, campaign.PreflightDir, h.Host.Name))
	return errors.Join(old, h.fetch(ctx, made.Files, here), made.Preflight)
}

func (h handle) Trial(ctx context.Context, e result.Entry) error {
	o := order{Dir: e.Dir, Attempt: h.requests.Add(1)}
	var made returned
	if err := h.endable(ctx, opTrial, o, &made); err != nil {
		return h.unfit(err)
	}
	if made.Attempt != o.Attempt {
		return h.unfit(fmt.Errorf("it answered attempt %d of %s, not %d", made.Attempt, e.Dir, o.Attempt))
	}
	text := filepath.Join(result.TrialsDir, e.Dir) + "/"
	if !slices.ContainsFunc(made.Files, func(f file) bool { return f.Path == text+result.TrialFile }) {
		return h.unfit(fmt.Errorf("it returns no result of %s", e.Dir))
	}
	return h.fetch(ctx, made.Files, func(name string) string {
		if !strings.HasPrefix(name, text) {
			return ""
		}
		return name
	})
}

// unfit returns the error of a machine that cannot go on, such as one whose disk is full: others may.
func (h handle) unfit(err error) error {
	if _, lost := errors.AsType[*campaign.LostError](err); lost {
		return err
	}
	return &campaign.LostError{Machine: h.Host.Name, Reason: err.Error()}
}

// The limits of what a machine may return.
const (
	mostFiles = 10_000
	mostBytes = 16 << 30
	// longestPath is shorter than a file's name may be, and than any tree is deep.
	longestPath = 200
)

// fetchGrace is how long what was measured is still taken after Ctrl-C.
const fetchGrace = 30 * time.Second

// fetch takes files of the machine into the campaign's directory, each to its place; "": it is not
// needed. They cannot leave it.
func (h handle) fetch(ctx context.Context, files []file, place func(name string) string) error {
	root, err := os.OpenRoot(h.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := checkFiles(files); err != nil {
		return h.unfit(err)
	}
	if err := h.room(files); err != nil {
		return err
	}
	// The result comes last: a campaign that is killed meanwhile has no trial whose other files are missing.
	isResult := func(f file) bool { return filepath.Base(f.Path) == result.TrialFile }
	results := slices.DeleteFunc(slices.Clone(files), func(f file) bool { return !isResult(f) })
	files = append(slices.DeleteFunc(slices.Clone(files), isResult), results...)
	over, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(fetchGrace, end) })()
	for _, f := range files {
		path := place(f.Path)
		if path == "" {
			continue
		}
		if err := h.fetchFile(over, root, f, path); err != nil {
			if over.Err() != nil {
				err = h.unfit(fmt.Errorf("it did not come within %v after the end", fetchGrace))
			}
			return fmt.Errorf("take %s from %s: %w", f.Path, h.Host.Name, err)
		}
	}
	return nil
}

// room returns an error if the campaign's directory has no room for files.
func (h handle) room(files []file) error {
	var sum int64
	for _, f := range files {
		sum += f.Bytes
	}
	var st unix.Statfs_t
	if err := unix.Statfs(h.dir, &st); err != nil || sum <= int64(st.Bavail)*st.Bsize {
		return err
	}
	return fmt.Errorf("the files of %s take %s, and %s has %s: %w", h.Host.Name, quantity.Bytes(sum), h.dir,
		quantity.Bytes(int64(st.Bavail)*st.Bsize), syscall.ENOSPC)
}

// checkFiles refuses names and sizes that no trial has.
func checkFiles(files []file) error {
	if len(files) > mostFiles {
		return fmt.Errorf("it returns %d files", len(files))
	}
	room := int64(mostBytes)
	seen := map[string]bool{}
	for _, f := range files {
		if !filepath.IsLocal(f.Path) || filepath.Clean(f.Path) != f.Path || seen[f.Path] || len(f.Path) > longestPath ||
			escape.Line(f.Path) != f.Path {
			return fmt.Errorf("%.100q is no file of a trial", f.Path)
		}
		if f.Bytes < 0 || f.Bytes > room {
			return fmt.Errorf("%s has %d bytes", f.Path, f.Bytes)
		}
		seen[f.Path] = true
		room -= f.Bytes
	}
	return nil
}

// fetchFile takes a file by pieces, and gives it its name when it is whole. Only an error of the own disk is none of
// the machine.
func (h handle) fetchFile(ctx context.Context, root *os.Root, f file, path string) error {
	temp := path + ".part"
	err := root.MkdirAll(filepath.Dir(path), 0o755)
	if _, statErr := root.Lstat(path); err == nil && statErr == nil {
		err = fs.ErrExist
	}
	var out *os.File
	if err == nil {
		_ = root.Remove(temp) // of a campaign that was killed
		out, err = root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	}
	switch {
	case errors.Is(err, fs.ErrExist), errors.Is(err, syscall.ENOTDIR): // one file is in the way of another
		return h.unfit(err)
	case err != nil:
		return err
	}
	defer root.Remove(temp)
	defer out.Close()
	digest := sha256.New()
	for read := int64(0); read < f.Bytes; {
		var b []byte
		if err := h.ask(ctx, opRead, piece{f.Path, read}, &b); err != nil {
			return h.unfit(err)
		}
		if len(b) == 0 || int64(len(b)) > f.Bytes-read {
			return h.unfit(errors.New("the file has changed on the way"))
		}
		if _, err := out.Write(b); err != nil {
			return err
		}
		digest.Write(b)
		read += int64(len(b))
	}
	if !bytes.Equal(digest.Sum(nil), f.SHA256) {
		return h.unfit(errors.New("the file has changed on the way"))
	}
	if err := out.Close(); err != nil {
		return err
	}
	return root.Rename(temp, path)
}
