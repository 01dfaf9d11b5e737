// Does not compile here: the rest of the library is built without it.
#include "of_another_runtime.h"
