package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"rumbench/internal/cli/catalog"
	"rumbench/internal/plan"
	"rumbench/workload/declared"
)

func newSchemaCommand(a *App) *cobra.Command {
	var workloads bool
	c := &cobra.Command{
		Use:   "schema",
		Short: "print the JSON Schema of plan files, for editors",
		Args:  args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			schemaOf := func() ([]byte, error) { return plan.Schema(catalog.Plugins{}) }
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
