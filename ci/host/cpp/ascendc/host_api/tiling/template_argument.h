// Template tiling keys: the tiling chooses the kernel's template arguments.
//
// The declaration of the arguments (ASCENDC_TPL_ARGS_DECL) is read from the source text, see
// ci/host/template_key.py; here a choice becomes a key, and the answer tells what it means.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "detail/context.h"

namespace ascendopt_host {
// A number, truth value or enumerator that stands for a template argument.
struct TemplateWord {
    template <class T> TemplateWord(const T& given) : value(static_cast<int64_t>(given)) {}
    int64_t value;
};

// A key for these arguments, one byte an argument where they fit.
uint64_t template_key(std::initializer_list<TemplateWord> words);
}  // namespace ascendopt_host

// A list in braces, as in the toolkit: operators leave a comma behind the last argument.
#define GET_TPL_TILING_KEY(...) ascendopt_host::template_key({__VA_ARGS__})
#define ASCENDC_TPL_SEL_PARAM(context, ...) \
    (context)->SetTilingKey(ascendopt_host::template_key({__VA_ARGS__}))

#define ASCENDC_TPL_AIV_ONLY 0
#define ASCENDC_TPL_AIC_ONLY 1
#define ASCENDC_TPL_MIX_AIV_1_0 4
#define ASCENDC_TPL_MIX_AIC_1_0 5
#define ASCENDC_TPL_MIX_AIC_1_1 6
#define ASCENDC_TPL_MIX_AIC_1_2 7
#define ASCENDC_TPL_AICORE 8
#define ASCENDC_TPL_VECTORCORE 9
#define ASCENDC_TPL_1_BW 1
#define ASCENDC_TPL_2_BW 2
#define ASCENDC_TPL_4_BW 4
#define ASCENDC_TPL_8_BW 8
#define ASCENDC_TPL_UI_RANGE 0
#define ASCENDC_TPL_UI_LIST 1
#define ASCENDC_TPL_UI_MIX 2
#define ASCENDC_TPL_INPUT(x) (100000000 + (x))
#define ASCENDC_TPL_OUTPUT(x) (900000000 + (x))

#define C_DT_FLOAT 0
#define C_DT_FLOAT16 1
#define C_DT_INT8 2
#define C_DT_INT32 3
#define C_DT_UINT8 4
#define C_DT_INT16 6
#define C_DT_UINT16 7
#define C_DT_UINT32 8
#define C_DT_INT64 9
#define C_DT_UINT64 10
#define C_DT_DOUBLE 11
#define C_DT_BOOL 12
#define C_DT_COMPLEX64 16
#define C_DT_BF16 27

#define ASCENDC_TPL_ARGS_DECL(...)
#define ASCENDC_TPL_SEL(...)
#define ASCENDC_TPL_ARGS_SEL(...)
