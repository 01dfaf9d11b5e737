// <iostream> for a kernel: the streams' names without the object that every source which includes
// the standard header initialises when it is loaded. No AI core initialises anything.
#pragma once

#include <istream>
#include <ostream>

namespace std {
extern istream cin;
extern ostream cout, cerr, clog;
}  // namespace std
