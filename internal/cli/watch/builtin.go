package watch

// Builtins returns the expressions of the built-in derived metrics, which are always
// shown. Busy corresponds to us+sy in vmstat, without iowait and steal time.
func Builtins() []*Expression {
	var all []*Expression
	for _, b := range usual.Derived {
		e, err := ParseExpression("built in", b.Name, b.Text)
		if err != nil {
			panic(err) // a test parses them all
		}
		e.Unit, e.builtin = b.Unit, true
		all = append(all, e)
	}
	return all
}
