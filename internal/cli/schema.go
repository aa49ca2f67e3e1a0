package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"rumbench/internal/plan"
	"rumbench/internal/registry"
	"rumbench/workload/declared"
)

func newSchemaCommand(a *App) *cobra.Command {
	var workloads bool
	c := &cobra.Command{
		Use:   "schema",
		Short: "print the JSON Schema of plan files, for editors",
		Args:  args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			schemaOf := func() ([]byte, error) { return plan.Schema(registry.Catalog{}) }
			if workloads {
				schemaOf = declared.Schema
			}
			schema, err := schemaOf()
			if err != nil {
				return fmt.Errorf("make the schema: %w", err)
			}
			_, err = fmt.Fprintln(a.Stdout, string(schema))
			return err
		},
	}
	c.Flags().BoolVar(&workloads, "workload", false, "that of workload files")
	return c
}
