// Tuning structs: plain members that a tuning tool would fill. No tool does here.
#pragma once

// A repository's own copy, met by another path, is the same header.
#ifndef __INC_REGISTER_TUNING_TILING_REGISTRY_HEADER__
#define __INC_REGISTER_TUNING_TILING_REGISTRY_HEADER__

#include <memory>
#include <string>

#include "detail/tiling_data.h"

namespace tuningtiling {
class TuningTilingDef {
public:
    virtual ~TuningTilingDef() = default;
    std::string GetClassName() const { return ""; }
};
using TuningTilingDefPtr = std::shared_ptr<TuningTilingDef>;
}  // namespace tuningtiling

#define BEGIN_TUNING_TILING_DEF(name)                        \
    class name : public tuningtiling::TuningTilingDef {      \
    public:                                                  \
        struct FieldHandler {                                \
            FieldHandler(name*, const char*, const char*) {} \
        };                                                   \
        name() = default;
#define TUNING_TILING_DATA_FIELD_DEF(type, field) type field{};
#define END_TUNING_TILING_DEF \
    }                         \
    ;
#define REGISTER_TUNING_TILING_CLASS(type, name)
#define DECLARE_SCHEMA(...)

#endif
