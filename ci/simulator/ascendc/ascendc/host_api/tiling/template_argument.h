// Template tiling keys on the kernel side: the declaration is read from the source text (see
// ci/host/template_key.py) and the kernel is instantiated with what the tiling chose.
#pragma once

#define ASCENDC_TPL_ARGS_DECL(...)
#define ASCENDC_TPL_SEL(...)
#define ASCENDC_TPL_ARGS_SEL(...)
