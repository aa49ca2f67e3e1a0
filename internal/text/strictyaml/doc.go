// Package strictyaml reads YAML files strictly. Each key of a map is declared once, with its
// meaning and its accepted values, for reading and for a JSON Schema; all problems of a file
// are reported at once, with positions and hints. Secrets are hidden from reports.
//
// It knows neither plans nor workloads.
package strictyaml
