package page

import "testing"

func TestSqueeze(t *testing.T) {
	for in, want := range map[string]string{
		"// what it does\n\n  const a = 1; // one\n  let b\n": "const a=1;let b",
		`return "a  // b" + 'c  \' d'`:                        `return"a  // b"+'c  \' d'`,
		"f(`a  ${g( `x  }` ) + \"}\" }  // b` )":              "f(`a  ${g( `x  }` ) + \"}\" }  // b`)",
		`x = /[/"] \/  "/.test(y) / 2 / z`:                    `x=/[/"] \/  "/.test(y)/2/z`,
		"a + +b - -c + d++":                                   "a+ +b- -c+d++",
		"const { a, ...b } = typeof c":                        "const{a,...b}=typeof c",
		"for (const ü of list) if (x) y(); else z":            "for(const ü of list)if(x)y();else z",
		"f = () => {\n  a();\n\n}\nb":                         "f=()=>{a()}\nb",
		"a\n\n\n   .b()":                                      "a.b()",
		"":                                                    "",
	} {
		if got := squeeze(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if again := squeeze(want); again != want {
			t.Errorf("%q: a second time %q", want, again)
		}
	}
}
