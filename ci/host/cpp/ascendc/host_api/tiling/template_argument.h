// Template tiling keys: the tiling chooses the kernel's template arguments.
//
// ASCENDC_TPL_ARGS_DECL declares the arguments, ASCENDC_TPL_SEL the choices that the build makes a
// kernel for. A key is coded as in asc-devkit, include/utils/tiling/template_argument.h: a field
// for each argument, the first one lowest; a UINT is the place of its value in the declaration.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "detail/context.h"

namespace ascendopt_host {
// A number, truth value or enumerator that stands for a template argument.
struct TemplateWord {
    template <class T>
    constexpr TemplateWord(const T& given) : value(static_cast<int64_t>(given)) {}
    int64_t value;
};

enum class TemplateKind : uint8_t { kDTYPE, kDATATYPE, kFORMAT, kUINT, kBOOL, kNONE };

// One argument, with the values that a declaration or a selection lists. All of these are plain
// data: operators list hundreds, and a compiler is slow at what has to be taken down again.
struct TemplateParameter {
    const char* name;
    TemplateKind kind;
    uint8_t bits;
    std::initializer_list<TemplateWord> values;
};
using TemplateSelection = std::initializer_list<TemplateParameter>;

struct TemplateDeclaration {
    TemplateDeclaration(std::initializer_list<TemplateParameter> parameters);
    unsigned number;  // among those of the host program
};

struct TemplateSelections {
    TemplateSelections(std::initializer_list<TemplateSelection> selections);
};

// The key for these arguments; all ones where a UINT is none of its declaration.
uint64_t template_key(const TemplateDeclaration& declared,
                      std::initializer_list<TemplateWord> words);
}  // namespace ascendopt_host

#define ASCENDOPT_TPL(name, kind, bits, ...)                                \
    ascendopt_host::TemplateParameter {                                     \
        #name, ascendopt_host::TemplateKind::k##kind, bits, { __VA_ARGS__ } \
    }
#define ASCENDC_TPL_DTYPE_DECL(x, ...) ASCENDOPT_TPL(x, DTYPE, 8, __VA_ARGS__)
#define ASCENDC_TPL_DATATYPE_DECL(x, ...) ASCENDOPT_TPL(x, DATATYPE, 8, __VA_ARGS__)
#define ASCENDC_TPL_FORMAT_DECL(x, ...) ASCENDOPT_TPL(x, FORMAT, 8, __VA_ARGS__)
#define ASCENDC_TPL_UINT_DECL(x, width, ...) ASCENDOPT_TPL(x, UINT, width, __VA_ARGS__)
#define ASCENDC_TPL_BOOL_DECL(x, ...) ASCENDOPT_TPL(x, BOOL, 1, __VA_ARGS__)
#define ASCENDC_TPL_KERNEL_TYPE_DECL(x, ...) ASCENDOPT_TPL(x, NONE, 8, __VA_ARGS__)
#define ASCENDC_TPL_DTYPE_SEL(x, ...) ASCENDOPT_TPL(x, DTYPE, 8, __VA_ARGS__)
#define ASCENDC_TPL_DATATYPE_SEL(x, ...) ASCENDOPT_TPL(x, DATATYPE, 8, __VA_ARGS__)
#define ASCENDC_TPL_FORMAT_SEL(x, ...) ASCENDOPT_TPL(x, FORMAT, 8, __VA_ARGS__)
#define ASCENDC_TPL_UINT_SEL(x, ...) ASCENDOPT_TPL(x, UINT, 0, __VA_ARGS__)
#define ASCENDC_TPL_BOOL_SEL(x, ...) ASCENDOPT_TPL(x, BOOL, 1, __VA_ARGS__)
#define ASCENDC_TPL_KERNEL_TYPE_SEL(...) ASCENDOPT_TPL(, NONE, 0)
#define ASCENDC_TPL_SHARED_KERNEL_TYPE_SEL(...) ASCENDOPT_TPL(, NONE, 0)
#define ASCENDC_TPL_DETERMINISTIC_SEL(...) ASCENDOPT_TPL(, NONE, 0)
#define ASCENDC_TPL_TILING_STRUCT_SEL(...) ASCENDOPT_TPL(, NONE, 0)

#define ASCENDC_TPL_ARGS_DECL(x, ...) \
    static const ascendopt_host::TemplateDeclaration g_tilingDeclareParams { __VA_ARGS__ }
#define ASCENDC_TPL_ARGS_SEL(...) \
    ascendopt_host::TemplateSelection { __VA_ARGS__ }
// A host side of the toolkit does not read selections: they may name what nothing defines.
#ifdef ASCENDOPT_SELECTIONS_UNREAD
#define ASCENDC_TPL_SEL(...)
#else
#define ASCENDC_TPL_SEL(...) \
    static const ascendopt_host::TemplateSelections g_tilingSelectParams { __VA_ARGS__ }
#endif

// A list in braces, as in the toolkit: operators leave a comma behind the last argument.
#define GET_TPL_TILING_KEY(...) ascendopt_host::template_key(g_tilingDeclareParams, {__VA_ARGS__})
#define ASCENDC_TPL_SEL_PARAM(context, ...) (context)->SetTilingKey(GET_TPL_TILING_KEY(__VA_ARGS__))

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
