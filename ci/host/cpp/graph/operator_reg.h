// The graph's prototype of an operator. Host sources include it; it decides nothing of a tiling, so
// that its words are read and nothing is kept of them. Names: CANN, graph/operator_reg.h.
#pragma once
#include "graph/operator.h"

namespace ascendopt_host {
struct Prototype {
    Prototype& word() { return *this; }
};
}  // namespace ascendopt_host

#define REG_OP(type) \
    static const ::ascendopt_host::Prototype g_prototype_of_##type = ::ascendopt_host::Prototype()
#define INPUT(...) word()
#define OPTIONAL_INPUT(...) word()
#define DYNAMIC_INPUT(...) word()
#define OUTPUT(...) word()
#define DYNAMIC_OUTPUT(...) word()
#define ATTR(...) word()
#define REQUIRED_ATTR(...) word()
#define DATATYPE(...) word()
#define GRAPH(...) word()
#define DYNAMIC_GRAPH(...) word()
#define OP_END_FACTORY_REG(type) word();
