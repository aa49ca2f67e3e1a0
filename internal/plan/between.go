package plan

import (
	"time"

	"rumbench/internal/text/strictyaml"
)

// Between is what happens to the machine between trials.
type Between struct {
	Trim bool          // before each trial, the device learns which blocks of the data's file system are free
	Rest time.Duration // idle time after that; plans may call it cool_down, too
}

const maxRest = 24 * time.Hour

var betweenKeys = strictyaml.Table[Between]{
	strictyaml.Valued("trim", "Before each trial, trim the free blocks of the data's file system, as fstrim does; "+
		"needs root. Default false.",
		strictyaml.Boolean, func(p *Between, v bool) { p.Trim = v }),
	strictyaml.Valued("rest", "Idle time, up to 24h. Default 0.", strictyaml.Duration(0, maxRest),
		func(p *Between, v time.Duration) { p.Rest = v }),
}

// readBetween reads what happens between trials.
func readBetween(b *binder, f strictyaml.Fields, p *Plan) {
	const help = "as in between: {trim: true, rest: 60s}"
	n := f.Value("between")
	if n == nil || !b.Is(n, strictyaml.Mapping, "between is not a map", help) {
		return
	}
	fields, rest := b.Fields(n, "between", betweenKeys.Names()), n.Key("rest")
	if !b.refuse(
		exclusion{rest, rest != nil && f.Of.Key("cool_down") != nil, "rest and cool_down are the same", "remove cool_down"},
		exclusion{n, len(n.Entries) == 0, "between does nothing", help + ", or remove it"},
	) {
		betweenKeys.Bind(fields, &p.Between)
	}
}
