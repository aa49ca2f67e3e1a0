package plan

import (
	"rumbench/internal/result"
	"rumbench/internal/text/strictyaml"
)

// Profile describes the profiles of the trials. Its zero value means that there
// are none.
type Profile struct {
	Mode  result.Profiling
	Hertz int // samples per second of CPU time
	// In extra trials alone: whether to trace which files the device reads and writes,
	// and how often per second to sample where threads sleep; 0: never.
	Files   bool
	Threads int
}

// usualHertz is the usual frequency of CPU samples: not 100, so that there is no
// beat with timers.
const usualHertz = 99

const (
	keyFiles   = "files"
	keyThreads = "threads"
)

var profileMode = strictyaml.OneOf(result.ProfileExtra, result.ProfileInside, result.ProfileOff)

var profileKeys = strictyaml.Table[Profile]{
	strictyaml.Valued("mode", "extra (the default): one more trial of each target, after all others. inside: in every "+
		"trial. off: none.",
		profileMode, func(p *Profile, v result.Profiling) { p.Mode = v }),
	strictyaml.Valued("cpu", "CPU samples per second of each processor, 10 to 99. Default 99.",
		strictyaml.Integer(10, usualHertz), func(p *Profile, v int) { p.Hertz = v }),
	strictyaml.Valued(keyFiles, "Trace which files are read and written; in extra trials only. Default true.",
		strictyaml.Boolean, func(p *Profile, v bool) { p.Files = v }),
	strictyaml.Valued(keyThreads, "How often per second to look where threads sleep, up to 50, 0 for never; in extra "+
		"trials only. Default 20.",
		strictyaml.Integer(0, 50), func(p *Profile, v int) { p.Threads = v }),
}

// readProfile reads whether the trials are profiled.
func readProfile(b *binder, f strictyaml.Fields, p *Plan) {
	n := f.Value("profile")
	if n == nil {
		return
	}
	const usualLooks = 20
	out := Profile{Mode: result.ProfileExtra, Hertz: usualHertz, Files: true, Threads: usualLooks}
	if n.Kind == strictyaml.Mapping {
		own := b.Fields(n, "profile", profileKeys.Names())
		profileKeys.Bind(own, &out)
		for _, key := range []string{keyFiles, keyThreads} {
			if at := own.Value(key); at != nil && out.Mode == result.ProfileInside {
				b.At(at, key+" are profiled in extra trials only: it costs more than samples do",
					"remove "+key+", or set mode: extra")
			}
		}
	} else {
		strictyaml.Bind(f, "profile", profileMode, func(m result.Profiling) { out.Mode = m })
	}
	if out.Mode != result.ProfileOff {
		p.Profile = out
		b.refuse(profileExclusions(n, p)...)
	}
}
