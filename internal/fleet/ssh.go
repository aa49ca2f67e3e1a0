package fleet

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	words := strings.Fields(os.Getenv(SSHVariable))
	if len(words) == 0 {
		words = []string{"ssh"}
	}
	// A connection that is cut for a minute is not given up. Nothing is asked: nobody would answer.
	args := append(words[1:], "-T", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=20", "-o", "ServerAliveCountMax=3",
		"-o", "ClearAllForwardings=yes", "-e", "none", "--", h.SSH, "exec /bin/sh -c "+escape.Argument(script))
	return exec.CommandContext(ctx, words[0], args...)
}

// sshError is an ssh that failed.
func sshError(h plan.Host, err error, said string) error {
	if errors.Is(err, exec.ErrNotFound) {
		return hint.Errorf("apt-get install openssh-client", "machine %s: %w", h.Name, err)
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	return hint.Errorf("ssh "+h.SSH+" true must work without a question: a key that needs no passphrase, or an agent "+
		"that holds it, and a known host", "machine %s: ssh %s: %w: %s", h.Name, h.SSH, err, lines[len(lines)-1])
}

// run runs a script on a machine and returns what it prints.
func run(ctx context.Context, h plan.Host, script string, input io.Reader) (string, error) {
	cmd := ssh(ctx, h, script)
	var problem bytes.Buffer
	cmd.Stdin, cmd.Stderr = input, &problem
	out, err := cmd.Output()
	if err != nil {
		return "", sshError(h, err, problem.String())
	}
	return string(out), nil
}

// programDir is where programs are kept on a machine, each in a directory of its digest.
const (
	programDir  = `"$HOME"/.cache/rumbench/programs/`
	programName = "rumbench"
)

// install copies a program to a machine, unless it is there, and returns its path in a script.
func install(ctx context.Context, h plan.Host, path, digest string) (remote string, err error) {
	dir := programDir + digest
	remote = dir + "/" + programName
	const marker = "absent" // others may print lines before it
	out, err := run(ctx, h, "test -x "+remote+" || echo "+marker, nil)
	if err != nil || !strings.HasSuffix(strings.TrimSpace(out), marker) {
		return remote, err
	}
	f, err := regular.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = run(ctx, h, fmt.Sprintf(`umask 077; mkdir -p %s && cat >%s.$$ && chmod 700 %s.$$ && mv %s.$$ %s`, dir, remote, remote,
		remote, remote), f)
	return remote, err
}

// link is an agent's process, as seen from here.
type link struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	problem tail          // what ssh has said, complete when it is gone
	gone    chan struct{} // closed when the process has ended
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

// start starts an agent on a machine and joins it to the hub.
func start(h *hub, m plan.Host, program string, w welcome) (*link, error) {
	cmd := ssh(context.Background(), m, "exec "+program+" agent --stdio")
	l := &link{cmd: cmd, gone: make(chan struct{})}
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
	fail := func(err error) (*link, error) {
		_ = l.stdin.Close()
		_ = cmd.Process.Kill()
		ended := cmd.Wait()
		if err == nil {
			err = ended
		}
		return nil, sshError(m, err, string(l.problem))
	}
	if err := json.NewEncoder(l.stdin).Encode(w); err != nil {
		return fail(err)
	}
	in := bufio.NewReader(out)
	for read := 0; ; {
		line, err := in.ReadString('\n')
		if strings.TrimSpace(line) == greeting {
			break
		}
		if read += len(line); err != nil || read > mostChatter {
			return fail(nil)
		}
	}
	conn, err := h.admit()
	if err != nil {
		return fail(err)
	}
	go func() {
		_, _ = io.Copy(l.stdin, conn)
		_ = l.stdin.Close()
	}()
	go func() {
		_, _ = io.Copy(conn, in)
		_ = conn.Close()
		_ = cmd.Wait()
		close(l.gone)
	}()
	return l, nil
}

// end closes the connection. The agent ends by itself, after what it has started.
func (l *link) end() {
	_ = l.stdin.Close()
	select {
	case <-l.gone:
	case <-time.After(campaign.Grace + patience):
		_ = l.cmd.Process.Kill()
		<-l.gone
	}
}
