package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"rumbench/internal/compare/history"
	"rumbench/internal/page"
	"rumbench/internal/report"
	"rumbench/internal/report/serve"
	"rumbench/internal/report/trend"
	"rumbench/internal/result"
	"rumbench/internal/result/redact"
	"rumbench/internal/text/hint"
)

// defaultListen is where pages are served if that port is free, and else at another port.
const defaultListen = "127.0.0.1:7860"

func newServeCommand(a *App) *cobra.Command {
	listen := ""
	c := command("serve [DIR]",
		"show the campaigns in a folder as pages: a list, reports, comparisons, history, and what runs now",
		args(cobra.MaximumNArgs(1)), func(c *cobra.Command, dirs []string) error {
			dir := folder(dirs)
			if _, err := os.Stat(dir); err != nil {
				return usage(result.Missing(dir, "name a folder with campaigns, as rumbench run makes them"))
			}
			s, err := startServer(c.Context(), dir, "", listen)
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Stderr, "%s is shown at this address, to whoever has the link; Ctrl-C ends it\n", dir)
			fmt.Fprintln(a.Stdout, s.link(""))
			return s.wait(c.Context())
		})
	c.Flags().StringVar(&listen, "listen", "", "`address` and port to serve at (default "+defaultListen+", or another port)")
	return c
}

// pageServer serves pages until its context ends.
type pageServer struct {
	http  *http.Server
	at    net.Addr
	token string
	ended chan error
}

// startServer begins to serve the campaigns in a folder, with only that one alone.
func startServer(ctx context.Context, dir, only, listen string) (*pageServer, error) {
	l, err := listenAt(listen)
	if err != nil {
		return nil, err
	}
	site := siteOf(absolute(dir), false)
	site.Only = only
	s := &pageServer{at: l.Addr(), token: serve.NewToken(), ended: make(chan error, 1)}
	s.http = &http.Server{
		Handler:           serve.NewGuard(serve.New(ctx, site), l.Addr(), s.token),
		ConnContext:       serve.WithConnection,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      2 * time.Minute,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
	}
	go func() { s.ended <- s.http.Serve(serve.Limit(l)) }()
	return s, nil
}

// link returns the first link to a page.
func (s *pageServer) link(name string) string {
	return "http://" + s.at.String() + "/" + name + "?token=" + s.token
}

// wait returns when the context or the server ends.
func (s *pageServer) wait(ctx context.Context) error {
	select {
	case err := <-s.ended:
		return err
	case <-ctx.Done():
		return s.http.Close()
	}
}

// listenAt listens at an address, or at the default.
func listenAt(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(cmp.Or(address, defaultListen))
	if err != nil {
		return nil, usage(hint.Errorf("such as 127.0.0.1:8000", "--listen %s: %w", address, err))
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return nil, usage(hint.Errorf("name the one that others use, such as 10.0.0.5:8000",
			"--listen %s stands for every address, and a link needs one", address))
	}
	l, err := net.Listen("tcp", cmp.Or(address, defaultListen))
	if address == "" && errors.Is(err, syscall.EADDRINUSE) {
		l, err = net.Listen("tcp", net.JoinHostPort(host, "0"))
	}
	return l, err
}

// maxCampaigns is the number of campaigns that the page of the history is about: it is to be there within seconds.
const maxCampaigns = 1000

// siteOf returns what the pages about a folder are made of.
func siteOf(dir string, redacted bool) serve.Config {
	known := &positions{}
	var names func(rel string) string
	if redacted {
		names = numbered()
	}
	return serve.Config{
		Dir: dir, Formats: rowFormats, Where: known.position, Names: names, Marked: history.JudgedFile,
		Report: func(dirs ...string) (report.Input, error) {
			in, err := reportInput(dirs...)
			if err == nil && redacted {
				in = redact.Copy(in, in.Plan)
			}
			return in, err
		},
		Rows: func(w io.Writer, dir, format string) error { return writeRows(w, dir, format, redacted) },
		History: func(dir string, link func(base, other string) string) ([]page.Block, error) {
			runs, left, err := history.Newest(maxCampaigns, dir)
			if err != nil {
				return nil, err
			}
			if info, err := os.Lstat(filepath.Join(dir, history.JudgedFile)); err == nil && !info.Mode().IsRegular() {
				return nil, fmt.Errorf("%s is no regular file", history.JudgedFile)
			}
			judged, err := history.ReadJudged(dir)
			if err != nil {
				return nil, err
			}
			shown := make([]string, len(runs)) // as pages name them
			for i, r := range runs {
				if shown[i], err = filepath.Rel(dir, r.Dir); err != nil {
					return nil, err
				}
			}
			if redacted {
				var plans []string
				for i, r := range runs {
					plans, shown[i] = append(plans, planText(r.Dir)), names(shown[i])
				}
				runs = redact.Copy(runs, plans...) // the same by the same in all
			}
			families := history.Families(runs, history.Pick{})
			tested := history.Detect(families)
			findings := history.Findings(families, judged)
			for i, r := range runs {
				r.Dir = shown[i]
			}
			blocks := trend.Pictures(families, findings, tested, trend.View{Least: 1}, link)
			if left > 0 {
				blocks = append([]page.Block{page.Prose("about", fmt.Sprintf("Of the %d campaigns that were written last; "+
					"rumbench history looks at the %d others, too.", maxCampaigns, left))}, blocks...)
			}
			return blocks, nil
		},
	}
}

// numbered returns a function that numbers the campaigns that it is asked for.
func numbered() func(rel string) string {
	seen := map[string]string{}
	return func(rel string) string {
		if seen[rel] == "" {
			seen[rel] = fmt.Sprintf("campaign-%d", len(seen)+1)
		}
		return seen[rel]
	}
}

func newSiteCommand(a *App) *cobra.Command {
	var out string
	var force, redacted bool
	c := command("site DIR", "write the pages about the campaigns in a folder as files, for a web server",
		args(cobra.ExactArgs(1)), func(c *cobra.Command, dirs []string) error {
			if out == "" {
				return usageErrorf("site wants --out DIR")
			}
			if err := result.CheckEmpty(out); err != nil && !force {
				return hint.With(err, "choose another --out, or say --force to replace the pages in it")
			}
			n, err := serve.Write(siteOf(absolute(dirs[0]), redacted), func(name string, body []byte) error {
				path := filepath.Join(out, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return err
				}
				return result.Replace(path, 0o644, func(w io.Writer) error { _, err := w.Write(body); return err })
			}, func(text string) { fmt.Fprintln(a.Stderr, text) })
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Stderr, "%d pages\n", n)
			fmt.Fprintln(a.Stdout, filepath.Join(out, "index.html"))
			return nil
		})
	f := c.Flags()
	f.StringVar(&out, "out", "", "the directory to write to")
	f.BoolVar(&force, "force", false, "replace pages that --out holds already")
	f.BoolVar(&redacted, "redact", false, "leave out names of hosts and users, paths and addresses")
	return c
}
