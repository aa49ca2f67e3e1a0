package fleet

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"rumbench/internal/plan"
	"rumbench/internal/result/regular"
	"rumbench/internal/run/campaign"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/hint"
)

// SSHVariable is the environment variable with the command that is run as ssh, as in ssh -F FILE.
const SSHVariable = "RUMBENCH_SSH"

// ssh returns the command that runs a shell script on a machine.
func ssh(ctx context.Context, h plan.Host, script string) *exec.Cmd {
	words := command()
	// A connection that is cut for a minute is not given up: it may be mute for twice as long. Nothing is asked, as
	// nobody would answer, and nothing of this user's is lent to the machine.
	args := append(words[1:], "-T", "-a", "-x", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=20",
		"-o", "ServerAliveCountMax=8", "-o", "ClearAllForwardings=yes", "-o", "RemoteCommand=none", "-e", "none", "--", h.SSH,
		"exec /bin/sh -c "+escape.Argument(script))
	return exec.CommandContext(ctx, words[0], args...)
}

// command returns the words that run ssh.
func command() []string {
	if words := strings.Fields(os.Getenv(SSHVariable)); len(words) > 0 {
		return words
	}
	return []string{"ssh"}
}

// sshError is an ssh that failed.
func sshError(h plan.Host, err error, message string) error {
	if errors.Is(err, exec.ErrNotFound) {
		return hint.Errorf("apt-get install openssh-client", "machine %s: %w", h.Name, err)
	}
	return hint.Errorf(strings.Join(append(command(), h.SSH), " ")+" true must work without a question: a key that "+
		"needs no passphrase, or an agent that holds it, and a known host", "machine %s: ssh %s: %w: %s", h.Name, h.SSH, err,
		lastLine(message))
}

// lastLine returns the last line of what ssh has said, a banner comes before it; of an error with a hint both.
func lastLine(message string) string {
	lines := strings.Split(strings.TrimSpace(message), "\n")
	last := len(lines) - 1
	if strings.HasPrefix(lines[last], "hint: ") && last > 0 {
		return lines[last-1] + "; " + lines[last]
	}
	return lines[last]
}

// run runs a script on a machine and returns what it prints.
func run(ctx context.Context, h plan.Host, script string, input io.Reader) (string, error) {
	cmd := ssh(ctx, h, script)
	var out, problem tail // a machine may print without end
	cmd.Stdin, cmd.Stdout, cmd.Stderr = input, &out, &problem
	if err := cmd.Run(); err != nil {
		return "", sshError(h, err, string(problem))
	}
	return string(out), nil
}

// programDir is where programs are kept on a machine, each in a directory of its digest.
const (
	programsPath = ".cache/rumbench/programs"
	programDir   = `"$HOME"/` + programsPath + "/"
	programName  = "rumbench"
)

// install copies a program to a machine, unless it is there, and returns its path in a script. A
// connection that ends in the middle leaves nothing that looks like the program.
func install(ctx context.Context, h plan.Host, path, digest string) (remote string, err error) {
	dir := programDir + digest
	remote = dir + "/" + programName
	const marker = "absent" // others may print lines before it
	whole := func(file string) string {
		return fmt.Sprintf(`echo "%s  "%s | sha256sum -c >/dev/null 2>&1`, digest, file)
	}
	out, err := run(ctx, h, whole(remote)+" || echo "+marker, nil)
	if err != nil || !strings.HasSuffix(strings.TrimSpace(out), marker) {
		return remote, err
	}
	f, err := regular.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	temp := remote + ".$$"
	_, err = run(ctx, h, fmt.Sprintf(`umask 077; mkdir -p %s && cat >%s && %s && chmod 700 %s && mv %s %s && exit
code=$?; rm -f %s; echo "the program did not arrive whole" >&2; exit $code`, dir, temp, whole(temp), temp, temp, remote,
		temp), f)
	return remote, err
}

// link is the connection to an agent: an ssh, or one that it has made.
type link struct {
	stdin   io.WriteCloser
	kill    func()        // ends it by force
	wait    func() error  // until it has ended
	problem tail          // what ssh has said, complete when it is gone
	gone    chan struct{} // closed when it has ended
}

// tail keeps the end of what was written to it.
type tail []byte

func (t *tail) Write(b []byte) (int, error) {
	const enough = 4096
	*t = append(*t, b...)
	*t = (*t)[max(0, len(*t)-enough):]
	return len(b), nil
}

// mostChatter limits what a login may print before the agent's greeting.
const mostChatter = 64 << 10

// greetingTimeout is how long a login may take until the agent greets.
const greetingTimeout = 2 * time.Minute

// start starts an agent on a machine and joins it to the hub.
func start(ctx context.Context, h *hub, m plan.Host, program string, w welcome) (*link, error) {
	cmd := ssh(context.Background(), m, "exec "+program+" agent --stdio")
	l := &link{gone: make(chan struct{}), kill: func() { _ = cmd.Process.Kill() }, wait: cmd.Wait}
	cmd.Stderr = &l.problem
	var err error
	if l.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	// Ctrl-C reaches only the coordinator, which ends the agents in good order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, sshError(m, err, "")
	}
	if err := l.join(ctx, h, bufio.NewReader(out), w); err != nil {
		return nil, sshError(m, err, string(l.problem))
	}
	return l, nil
}

// join welcomes the agent and passes on what it and the hub say.
func (l *link) join(ctx context.Context, h *hub, in *bufio.Reader, w welcome) error {
	err := l.greet(ctx, in, w)
	conn := net.Conn(nil)
	if err == nil {
		conn, err = h.admit()
	}
	if err != nil {
		return l.abandon(err)
	}
	go func() {
		_, _ = io.Copy(l.stdin, conn)
		_ = l.stdin.Close()
	}()
	go func() {
		_, _ = io.Copy(conn, in)
		_ = conn.Close()
		_ = l.wait()
		close(l.gone)
	}()
	return nil
}

// greet welcomes the agent and waits for its greeting.
func (l *link) greet(ctx context.Context, in *bufio.Reader, w welcome) error {
	ctx, cancel := context.WithTimeoutCause(ctx, greetingTimeout, fmt.Errorf("no agent greets within %v", greetingTimeout))
	defer cancel()
	stop := context.AfterFunc(ctx, l.kill)
	defer stop()
	err := json.NewEncoder(l.stdin).Encode(w)
	for read := 0; err == nil; {
		var line []byte
		line, err = in.ReadSlice('\n')
		if strings.TrimSpace(string(line)) == greeting {
			return context.Cause(ctx)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil
		}
		if read += len(line); read > mostChatter {
			err = errors.New("it prints other things than an agent")
		}
	}
	return cmp.Or(context.Cause(ctx), err)
}

// abandon ends a connection without an agent, and returns why there is none.
func (l *link) abandon(err error) error {
	_ = l.stdin.Close()
	if !errors.Is(err, io.EOF) { // it still runs
		l.kill()
		_ = l.wait()
		return err
	}
	const enough = 10 * time.Second
	late := time.AfterFunc(enough, l.kill)
	defer late.Stop()
	return cmp.Or(l.wait(), err)
}

// end closes the connection. The agent ends by itself, after what it has started; one that does
// not answer is not waited for.
func (l *link) end(answers bool) {
	_ = l.stdin.Close()
	wait := time.Duration(0)
	if answers {
		wait = campaign.Grace + silenceTimeout
	}
	select {
	case <-l.gone:
	case <-time.After(wait):
		l.kill()
		<-l.gone
	}
}
