// Tuning structs: plain members that a tuning tool fills; here they are data and nothing reads them.
#pragma once

#include "detail/tiling_data.h"

namespace tuningtiling {
class TuningTilingDef {
 public:
  virtual ~TuningTilingDef() = default;
  std::string GetClassName() const { return ""; }
};
}  // namespace tuningtiling

#define BEGIN_TUNING_TILING_DEF(name)                         \
  class name : public tuningtiling::TuningTilingDef {         \
   public:                                                    \
    name() = default;
#define TUNING_TILING_DATA_FIELD_DEF(type, field) type field{};
#define END_TUNING_TILING_DEF \
  }                           \
  ;
#define DECLARE_SCHEMA(name, ...)
#define FIELD(type, field)
#define REGISTER_TUNING_TILING_CLASS(type, name)
