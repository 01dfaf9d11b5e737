// Host sources name this class in declarations of their own and never parse with it here: the
// compile information that it would read is empty for operators written in AscendC.
#pragma once

#include <string>

namespace nlohmann {
class json {
public:
    template <class T> static json parse(const T&) { return {}; }
    template <class T> static bool accept(const T&) { return true; }
    bool empty() const { return true; }
    bool is_array() const { return false; }
    bool is_object() const { return true; }
    size_t size() const { return 0; }
    template <class T> bool contains(const T&) const { return false; }
    template <class T> size_t count(const T&) const { return 0; }
    template <class T> T get() const { return T(); }
    template <class T> const json& operator[](const T&) const { return *this; }
    template <class T> const json& at(const T&) const { return *this; }
    template <class T> operator T() const { return T(); }
    std::string dump() const { return "{}"; }
    const json* begin() const { return nullptr; }
    const json* end() const { return nullptr; }
};
}  // namespace nlohmann
