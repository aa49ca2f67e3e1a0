//go:build native && cgo && linux

#include "binding.h"
#include <dlfcn.h>

#define WRAPPER(result, name, parameters, arguments) \
	static result(*p_##name) parameters; \
	result wt_##name parameters { return p_##name arguments; }
SHIM(WRAPPER)

const char *wt_bind(void *library) {
#define BIND(result, name, parameters, arguments) \
	if (!(p_##name = (result(*) parameters)dlsym(library, "rumbench_wt_" #name))) \
		return "rumbench_wt_" #name;
	SHIM(BIND)
	return NULL;
}
