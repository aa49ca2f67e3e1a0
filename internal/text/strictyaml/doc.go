// Package strictyaml reads YAML files strictly. Each key of a map is declared once, with its
// meaning and what it accepts, for reading and for a JSON Schema; all that is wrong in
// a file is reported at once, with positions and hints. Secrets are hidden from what is
// reported.
//
// It knows neither plans nor workloads.
package strictyaml
