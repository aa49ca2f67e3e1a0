package report

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/internal/result/redact"
)

// secrets are planted as words, where nothing identifies them; the facts of the
// host and the plan say once who they are.
const planted = ` db7 as alice from 10.1.2.3 and db7.corp.example, [SN12345] in "/srv/verborgen/x" and /srv/verborgen/y.`

var secrets = []string{"db7", "alice", "10.1.2.3", "corp.example", "SN12345", "verborgen", "srv", "geheim"}

func secretFixture(trials int) Input {
	in := fixture(trials)
	in.Plan += "targets: [{name: pg, dsn: \"postgres://alice:geheim@db7:5432/x\"}]\n"
	in.Published = publishedFixture().Published
	in.Notes = map[string]string{"l.i0": "a remark"}
	for i := range in.Trials {
		t := in.Trials[i].Trial
		t.Dir = "/srv/verborgen/results/" + t.Target + ".1"
		t.Host = append(t.Host, observe.Fact{Name: "hostname", Value: "db7"}, observe.Fact{Name: "device serial", Value: "SN12345"})
		t.Warnings, t.Reason, t.Hint = metric.UntypedAll([]string{"a warning"}), "a reason", "a hint"
		t.Settings = append(t.Settings, engine.Setting{Name: "hostname", Value: "vm"})
	}
	return in
}

// No text of what is redacted has a secret, wherever one was, and no page of it has.
func TestRedact(t *testing.T) {
	in := secretFixture(1)
	before, everywhere := secretFixture(1), secretFixture(1)
	for _, place := range texts(reflect.TypeOf(in), "") {
		t.Run(place, func(t *testing.T) {
			in := secretFixture(1)
			in.Trials, in.Trials[0].Steps = in.Trials[:1], in.Trials[0].Steps[2:3] // which has something in most fields
			if n := plant(reflect.ValueOf(&in).Elem(), "", place); n == 0 {
				t.Fatal("the test cannot plant there")
			}
			checkTexts(t, reflect.ValueOf(redacted(in)), "")
			plant(reflect.ValueOf(&everywhere).Elem(), "", place)
		})
	}
	checkSecrets(t, redacted(everywhere))
	checkSecrets(t, redacted(in))
	expect.Equal(t, cmp.Diff(before.Trials[0].Trial, in.Trials[0].Trial), "", "the input was changed")
	expect.Equal(t, before.Plan, in.Plan, "the input was changed")
}

// checkTexts looks for secrets in all texts of a value.
func checkTexts(t *testing.T, v reflect.Value, at string) {
	switch v.Kind() {
	case reflect.String:
		for _, s := range secrets {
			expect.Lacks(t, v.String(), s, at, v)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			checkTexts(t, v.Elem(), at)
		}
	case reflect.Slice:
		for i := range v.Len() {
			checkTexts(t, v.Index(i), at)
		}
	case reflect.Map:
		for k, value := range v.Seq2() {
			checkTexts(t, k, at+" key")
			checkTexts(t, value, at+" value")
		}
	case reflect.Struct:
		for i := range v.NumField() {
			checkTexts(t, v.Field(i), at+"."+v.Type().Field(i).Name)
		}
	}
}

// checkSecrets looks for them in all pages.
func checkSecrets(t *testing.T, in Input) {
	t.Helper()
	for form, page := range forms(t, in) {
		for _, s := range secrets {
			expect.Lacks(t, page, s, form)
		}
		expect.True(t, !(form != "text" && !strings.Contains(page, "Redacted:")), "does not say what was done to it", form)
	}
}

// texts returns all places of texts in a type: a field that is added is among them.
func texts(t reflect.Type, at string) []string {
	switch t.Kind() {
	case reflect.String:
		return []string{at}
	case reflect.Pointer, reflect.Slice:
		return texts(t.Elem(), at)
	case reflect.Map:
		return append(texts(t.Key(), at+" key"), texts(t.Elem(), at+" value")...)
	case reflect.Interface:
		return []string{at}
	case reflect.Struct:
		var out []string
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				out = append(out, texts(f.Type, at+"."+f.Name)...)
			}
		}
		return out
	}
	return nil
}

// plant adds the secrets to all texts of a place, and returns the number of
// texts. What is empty on the way to the place gets something in it.
func plant(v reflect.Value, at, place string) (n int) {
	switch v.Kind() {
	case reflect.String:
		if at == place {
			v.SetString(v.String() + planted)
			return 1
		}
	case reflect.Pointer:
		if v.IsNil() && strings.HasPrefix(place, at) {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if !v.IsNil() {
			return plant(v.Elem(), at, place)
		}
	case reflect.Slice:
		if v.Len() == 0 && strings.HasPrefix(place, at) {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			n += plant(v.Index(i), at, place)
		}
	case reflect.Map:
		if v.Len() == 0 && strings.HasPrefix(place, at) {
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.Zero(v.Type().Key()), reflect.Zero(v.Type().Elem()))
		}
		for _, k := range v.MapKeys() {
			value := v.MapIndex(k)
			key, changed := reflect.New(k.Type()).Elem(), reflect.New(value.Type()).Elem()
			key.Set(k)
			changed.Set(value)
			n += plant(key, at+" key", place)
			if value.Kind() == reflect.Interface && at+" value" == place {
				changed.Set(reflect.ValueOf([]any{planted, map[string]any{planted: planted}}))
				n++
			} else {
				n += plant(changed, at+" value", place)
			}
			v.SetMapIndex(k, reflect.Value{})
			v.SetMapIndex(key, changed)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				n += plant(v.Field(i), at+"."+f.Name, place)
			}
		}
	}
	return n
}

// redacted returns the input as it can be published.
func redacted(in Input) Input {
	in = redact.Copy(in, in.Plan)
	in.Warnings = append(in.Warnings, redact.Notice)
	return in
}

func TestRedactTexts(t *testing.T) {
	in := secretFixture(2)
	for _, c := range []struct{ text, want string }{
		{"nothing to hide, 12 rows/s and/or 3 KB/s", "nothing to hide, 12 rows/s and/or 3 KB/s"},
		{"on db7, on db70, on xdb7, DB7.lan and old_db7-2", "on host-1, on db70, on xdb7, host-1 and old_host-1-2"},
		{"fe80::12:9 and std::sort at 12:30", "host-2 and std::sort at 12:30"},
		{"jdbc:x://db7/y?user=carol&ssl=1", "jdbc:x://host-1/y?user=user-2&ssl=1"},
		{"made by rumbench, process 77 on pg5, today", "made by rumbench, process 77 on host-2, today"},
		{"vm.swappiness on vm", "vm.swappiness on vm"},
		{"see https://example.org/a/b and 8.0.44", "see https://example.org/a/b and 8.0.44"},
		{"/proc/1/io and /sys/block, but /data/mine/x.", "/proc/1/io and /sys/block, but /path-5."},
		{"bob:word@tcp(mysql9.lan:3306)/test", "user-2:***@tcp(host-2:3306)/test"},
		{"host=pg5.lan user=carol password=geheim dbname=x", "host=host-2 user=user-2 password=*** dbname=x"},
		{"file:///tmp/x y", "file:///path-5 y"},
		{"open ~joe/x/y: no such file", "open /path-5: no such file"},
		{"user=insert", "user=insert"}, // what an operation is called
	} {
		in.Warnings = []string{c.text}
		expect.Equal(t, redacted(in).Warnings[0], c.want, c.text)
	}
}

// The same is replaced by the same, and trials of a campaign stay together.
func TestRedactKeepsTogether(t *testing.T) {
	in := secretFixture(2)
	for i := range in.Trials {
		t := in.Trials[i].Trial
		t.Rename("/srv/verborgen/results/" + t.Target)
	}
	out := redacted(in)
	a, b := out.Trials[0], out.Trials[3]
	expect.True(t, a.Target == b.Target && strings.HasSuffix(a.Target, "/pebble") && a.Steps[0].Rows[0].Target == a.Target, a.Target, b.Target, a.Steps[0].Rows[0].Target)
	expect.True(t, a.Dir == b.Dir && strings.HasPrefix(a.Dir, "/path-") &&
		strings.HasSuffix(a.Dir, "/pebble.1"), "directories are and", a.Dir, b.Dir)
	got := out.Trials[0].Settings[len(out.Trials[0].Settings)-1].Value
	expect.True(t, strings.HasPrefix(got, "host-"), "the setting hostname is", got)
	for form, page := range map[string]string{"first": render(t, redacted(in)), "second": render(t, redacted(in))} {
		expect.Equal(t, page, render(t, out), "the redaction is another", form)
	}
	var lines, charted int
	out.Trials[0].Series(func(l result.Line) error { lines++; return nil })
	for _, s := range out.Trials[0].Steps {
		charted += len(s.Name)
	}
	expect.True(t, lines != 0 && charted != 0, "the series are lost")
}
