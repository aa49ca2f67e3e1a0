package profile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// KernelImage is the image of the kernel's functions.
const KernelImage = "kernel"

// Interrupts is the frame that represents work of the kernel with interrupts
// off. A timer that expires then fires when they come on again, so functions
// that switch them on are charged for work of others, and are no cause.
var Interrupts = Frame{Name: "[switching, interrupts]", Image: KernelImage}

// switchOn are the functions that switch interrupts on when they end, and those
// called from them at that point.
var switchOn = regexp.MustCompile(`^(finish_task_switch|_*raw_(spin|read|write)_unlock_irq(restore)?|irqentry_exit(_to_user_mode|_cond_resched)?|` +
	`(syscall_)?exit_to_user_mode(_loop|_prepare)?|asm_(sysvec|common|exc)_.*|sysvec_.*|common_interrupt|raw_irqentry_exit.*)$`)

// tidy returns a stack with the root first, which was last: leaves that switch
// interrupts on are one frame, and so are the functions that a thread begins with.
func tidy(frames []Frame) []Frame {
	slices.Reverse(frames)
	n := len(frames)
	for n > 0 && frames[n-1].Image == KernelImage && switchOn.MatchString(frames[n-1].Name) {
		n--
	}
	if n < len(frames) {
		frames = append(frames[:n], Interrupts)
	}
	root, begin := "", 0
	for ; begin < len(frames); begin++ {
		next := roots[frames[begin].Name]
		if begin+1 < len(frames) && runsThread(frames[begin], frames[begin+1]) {
			next = startThread
		}
		if next == "" || root != "" && next != root {
			break
		}
		root = next
	}
	if root == "" {
		return frames
	}
	frames[begin-1] = Frame{Name: root}
	return frames[begin-1:]
}

// runsThread reports whether a function without a name is the function of the C
// library that runs a thread: it is the library's only function that calls a
// program's and is called by none.
func runsThread(f, called Frame) bool {
	ofC := strings.HasPrefix(f.Image, "libc.so") || strings.HasPrefix(f.Image, "libc-2") ||
		strings.HasPrefix(f.Image, "libpthread")
	return ofC && strings.HasPrefix(f.Name, f.Image+"@") && called.Image != f.Image && called.Image != KernelImage
}

// clones are the endings of copies of functions that GCC and LLVM make.
var clones = regexp.MustCompile(`(\.(constprop|isra|part|lto_priv|llvm)\.[0-9]+|\.cold|@plt|@@?[A-Z][A-Za-z0-9_.]*)+(\.[0-9]+)*$`)

// readable returns the name of a symbol without parameters, template arguments
// and the endings of copies.
func readable(symbol string, goCode bool) string {
	if goCode {
		return strings.TrimSuffix(withoutBrackets(symbol), ".abi0")
	}
	symbol = clones.ReplaceAllString(symbol, "")
	return demangle.Filter(symbol, demangle.NoParams, demangle.NoTemplateParams, demangle.NoABITags)
}

// withoutBrackets removes type arguments of Go.
func withoutBrackets(name string) string {
	if !strings.Contains(name, "[") {
		return name
	}
	var b strings.Builder
	depth := 0
	for _, c := range name {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth == 0:
			b.WriteRune(c)
		}
	}
	return b.String()
}
