package plan

import (
	"fmt"

	"rumbench/internal/form"
	"rumbench/internal/result"
)

// Profile is what the trials' profiles are of. Its zero value means that there are
// none.
type Profile struct {
	Mode  result.Profiling
	Hertz int // samples per second of CPU time
}

// usualHertz is the usual frequency of CPU samples: not 100, so that there is no
// beat with timers.
const usualHertz = 99

var profileMode = form.OneOf(result.ProfileExtra, result.ProfileInside, result.ProfileOff)

var profileKeys = form.Table[Profile]{
	form.Valued("mode", "extra (the default): one more trial of each target, after all others. inside: in every trial. off: none.",
		profileMode, func(p *Profile, v result.Profiling) { p.Mode = v }),
	form.Valued("cpu", "CPU samples per second of each processor, 10 to 99. Default 99.", form.Integer(10, usualHertz), func(p *Profile, v int) { p.Hertz = v }),
}

// readProfile reads whether the trials are profiled.
func readProfile(b *binder, f form.Fields, p *Plan) {
	n := f.Value("profile")
	if n == nil {
		return
	}
	out := Profile{Mode: result.ProfileExtra, Hertz: usualHertz}
	if n.Kind == form.Mapping {
		profileKeys.Bind(b.Fields(n, "profile", profileKeys.Names()), &out)
	} else {
		form.Bind(f, "profile", profileMode, func(m result.Profiling) { out.Mode = m })
	}
	if out.Mode == result.ProfileOff {
		return
	}
	p.Profile = out
	if out.Mode == result.ProfileExtra && p.Order == Duet {
		b.At(n, "an extra trial runs alone, on all processors, and says nothing about a duet", "set profile: inside, or order: interleaved")
	}
}

// checkProfile refuses a trial more of a target that can have only one.
func checkProfile(b *binder, f form.Fields, p *Plan, targets []*bound) {
	for _, t := range targets {
		if p.Profile.Mode == result.ProfileExtra && t.Data != "" {
			b.At(f.Value("profile"),
				fmt.Sprintf("target %s works on a data directory in place, and one more trial would begin with what the others have changed", t.Name),
				"set profile: inside, or remove data from the target")
		}
	}
}
