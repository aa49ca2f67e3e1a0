// The shim's functions as Go calls them, through pointers that bind sets.
#include "shim/shim.h"

#define PROTOTYPE(result, name, parameters, arguments) result wt_##name parameters;
SHIM(PROTOTYPE)

// bind finds the functions of a library and returns the name of one that it lacks.
const char *wt_bind(void *library);
