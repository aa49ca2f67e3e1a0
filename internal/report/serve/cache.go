package serve

import (
	"slices"
	"sync"
)

// mostCached limits the memory of pages that are kept, in bytes.
const mostCached = 64 << 20

// cache keeps pages with the stamp of what they were made of, the last used ones.
type cache struct {
	mu    sync.Mutex
	kept  []cachedPage // the last used last
	bytes int
}

type cachedPage struct {
	at, stamp string
	body      []byte
}

func (c *cache) get(at, stamp string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.index(at)
	if i < 0 || c.kept[i].stamp != stamp {
		return nil
	}
	p := c.kept[i]
	c.kept = append(slices.Delete(c.kept, i, i+1), p)
	return p.body
}

func (c *cache) put(at, stamp string, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.index(at); i >= 0 {
		c.remove(i)
	}
	c.kept, c.bytes = append(c.kept, cachedPage{at, stamp, body}), c.bytes+len(body)
	for c.bytes > mostCached && len(c.kept) > 1 {
		c.remove(0)
	}
}

func (c *cache) index(at string) int {
	return slices.IndexFunc(c.kept, func(p cachedPage) bool { return p.at == at })
}

func (c *cache) remove(i int) {
	c.bytes -= len(c.kept[i].body)
	c.kept = slices.Delete(c.kept, i, i+1)
}
