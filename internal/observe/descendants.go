package observe

// Descendants finds the processes of trees. A process outside of them is looked at
// only once.
type Descendants struct {
	tree  tree
	roots []int
}

// NewDescendants returns the descendants of roots, including the roots.
func NewDescendants(roots ...int) *Descendants { return &Descendants{newTree("/proc"), roots} }

// Find returns the processes that live now.
func (d *Descendants) Find() ([]int, error) { return d.tree.find(d.roots) }
