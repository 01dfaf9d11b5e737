// ge::Operator as host sources name it in signatures of check functions.
#pragma once

#include "detail/library_tiling.h"
#include "detail/op_impl.h"

namespace ge {
class Operator {
 public:
  Operator() = default;
  explicit Operator(const char* type) : type_(type) {}
  graphStatus GetName(AscendString& name) const {
    name = AscendString(type_.c_str());
    return GRAPH_SUCCESS;
  }
  graphStatus GetOpType(AscendString& type) const { return GetName(type); }
  std::string GetName() const { return type_; }
  std::string GetOpType() const { return type_; }

 private:
  std::string type_;
};
}  // namespace ge
