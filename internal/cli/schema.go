package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"rumbench/internal/plan"
	"rumbench/internal/registry"
)

func newSchemaCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "print the JSON Schema of plan files, for editors",
		Args:  args(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			schema, err := plan.Schema(registry.Catalog{})
			if err != nil {
				return fmt.Errorf("make the schema of plans: %w", err)
			}
			_, err = fmt.Fprintln(a.Stdout, string(schema))
			return err
		},
	}
}
