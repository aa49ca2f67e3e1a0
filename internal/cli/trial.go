package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"rumbench/engine"
	"rumbench/engine/all"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/campaign"
	"rumbench/internal/run/divided"
	"rumbench/internal/run/trial"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// newTrialCommand returns the command that a campaign starts for each trial. It ends when its
// standard input ends, so that it never outlives the campaign.
func newTrialCommand(a *App) *cobra.Command {
	c := command("trial CAMPAIGN TRIAL", "run one trial of a campaign (started by rumbench run)",
		args(cobra.ExactArgs(2)), func(c *cobra.Command, args []string) error {
			ctx, cancel := context.WithCancel(c.Context())
			defer cancel()
			// When the campaign was killed, or its terminal closed, no process reads the events
			// any more; the trial must still end cleanly.
			signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP)
			line := campaign.Connect(a.Stdin, a.Stdout, func() {
				cancel()
				// A hanging engine in C does not notice, and no process is left to kill it.
				time.AfterFunc(campaign.Grace, func() { os.Exit(ExitError) })
			})
			s, err := trialSpec(args[0], args[1])
			if err != nil {
				return err
			}
			if s.Build != nil {
				if err := s.Build.CheckSelf(); err != nil {
					return hint.With(err, "rumbench run --resume DIR continues with the new one, after it has measured its client")
				}
			}
			if _, part := campaign.PartOf(args[1]); part {
				return trial.ServePart(ctx, s, line.Load())
			}
			if s.Head != nil {
				s.Head.Line = line.Load()
			}
			if !s.Preflight {
				s.Progress = line.Say
			}
			if s.Order == string(plan.Duet) {
				s.Partner = line
			}
			_, err = trial.Run(ctx, s)
			return err
		})
	c.Hidden = true
	return c
}

func trialSpec(dir, name string) (trial.Spec, error) {
	state, err := result.ReadCampaign(dir)
	if err != nil {
		return trial.Spec{}, err
	}
	for _, f := range state.Programs {
		server.Remember(f) // servers found when the campaign began are not searched for again
	}
	options := []plan.Option{plan.Forced(state.Force)}
	if state.Machine != "" {
		options = append(options, plan.OnMachine())
	}
	p, err := planOf(dir, state, options...)
	if err != nil {
		return trial.Spec{}, err
	}
	s := trial.Spec{Dir: absolute(result.TrialPath(dir, name)), Plan: p, Version: Version(), Began: state.Started,
		Machine: state.Machine,
		Bases:   cmp.Or(p.Start.Bases, absolute(filepath.Join(dir, result.BasesDir)))}
	whole, part := campaign.PartOf(name)
	if name = whole; !part && len(state.Clients) > 0 {
		s.Head = &divided.Head{Machines: state.Clients, Observed: state.Observed}
	}
	if strings.HasPrefix(name, campaign.ClientDir) {
		s.Head = nil
		if b := state.Builds.Of(result.Entry{Dir: name}); b != nil {
			s.Build = &b.Build
		}
		return clientSpec(s), nil
	}
	if target, is := campaign.PreflightTarget(name); is {
		s.Preflight, s.Trial, s.Plan.Keep = true, 1, false
		return s, chooseTarget(&s, target, state.Listen)
	}
	err = choose(&s, state, name)
	client := campaign.ClientDir
	if b := state.Builds.Of(result.Entry{Dir: name, Target: s.Target.Name, Trial: s.Trial}); b != nil {
		client, s.Build = b.Client, &b.Build
	}
	t, rerr := result.ReadTrial(result.TrialPath(dir, client))
	if rerr != nil || t.Status != result.Complete {
		return s, err
	}
	if s.Target.Config.Server.DSN == "" && (s.Target.Data == "" || p.Start.Any()) {
		s.Ceilings = t.Ceilings
	}
	if len(s.Target.Own) == 0 && s.Head == nil {
		s.Client = t // measured with the plan's parameters
	}
	return s, err
}

func choose(s *trial.Spec, state *result.Campaign, name string) error {
	s.Force = state.Force
	if state.Rules < result.Rules {
		s.Plan = s.Plan.Older()
	}
	entries := slices.Concat(state.Trials, state.Profiled)
	i := slices.IndexFunc(entries, func(e result.Entry) bool { return e.Dir == name })
	switch {
	case i < 0:
		return fmt.Errorf("the campaign has no trial %s", name)
	case i >= len(state.Trials):
		s.Profiled = result.ProfileExtra
	default:
		s.Slot, s.Profiled = i+1, s.Plan.Profile.Measured()
	}
	s.Trial, s.Order, s.Resumed = entries[i].Trial, state.Order, state.Resumed
	return chooseTarget(s, entries[i].Target, state.Listen)
}

// chooseTarget finds a target and its engine. Clients on other machines reach a private server at listen.
func chooseTarget(s *trial.Spec, name, listen string) error {
	for _, t := range s.Plan.Targets {
		if t.Name == name {
			s.Target, s.Plan = t, s.Plan.For(&t)
			if s.Head != nil && t.Config.Server.DSN == "" {
				s.Target.Config.Server.Listen = listen
			}
			s.Target.Config.Server.Observed = s.Head != nil && len(s.Head.Observed) > 0
			s.Engine, _ = catalog.Plugins{}.Engine(t.Engine)
			return nil
		}
	}
	return fmt.Errorf("the plan has no target %s", name)
}

// clientSpec measures the client.
func clientSpec(s trial.Spec) trial.Spec {
	s.Calibrate, s.Trial, s.Engine = true, 1, all.Idle()
	config := engine.Config{Durability: model.DurabilityNone, Schema: s.Plan.Run.Schema()}
	s.Target = plan.Target{Name: "client", Engine: s.Engine.Info().Name, Config: config}
	return s
}
