// AscendC::Std: the part of C++'s standard library that the device has, by the same names
// (utils/std of asc-devkit), and what that adds.
#pragma once

#include <cmath>
#include <cstdlib>
#include <tuple>
#include <type_traits>
#include <utility>

#include "constants.h"

namespace AscendC {
namespace Std {
using std::add_const;
using std::add_const_t;
using std::add_cv;
using std::add_cv_t;
using std::add_lvalue_reference;
using std::add_lvalue_reference_t;
using std::add_pointer;
using std::add_pointer_t;
using std::add_rvalue_reference;
using std::add_rvalue_reference_t;
using std::add_volatile;
using std::add_volatile_t;
using std::bool_constant;
using std::conditional;
using std::conditional_t;
using std::decay;
using std::decay_t;
using std::declval;
using std::enable_if;
using std::enable_if_t;
using std::false_type;
using std::forward;
using std::forward_as_tuple;
using std::get;
using std::ignore;
using std::index_sequence;
using std::integer_sequence;
using std::integral_constant;
using std::is_array;
using std::is_array_v;
using std::is_base_of;
using std::is_base_of_v;
using std::is_class;
using std::is_class_v;
using std::is_const;
using std::is_const_v;
using std::is_convertible;
using std::is_convertible_v;
using std::is_function;
using std::is_function_v;
using std::is_integral;
using std::is_integral_v;
using std::is_lvalue_reference;
using std::is_lvalue_reference_v;
using std::is_pointer;
using std::is_pointer_v;
using std::is_reference;
using std::is_reference_v;
using std::is_rvalue_reference;
using std::is_rvalue_reference_v;
using std::is_same;
using std::is_same_v;
using std::is_union;
using std::is_union_v;
using std::is_void;
using std::is_void_v;
using std::is_volatile;
using std::is_volatile_v;
using std::make_index_sequence;
using std::make_tuple;
using std::move;
using std::remove_const;
using std::remove_const_t;
using std::remove_cv;
using std::remove_cv_t;
using std::remove_extent;
using std::remove_extent_t;
using std::remove_pointer;
using std::remove_pointer_t;
using std::remove_reference;
using std::remove_reference_t;
using std::remove_volatile;
using std::remove_volatile_t;
using std::tie;
using std::true_type;
using std::tuple;
using std::tuple_cat;
using std::tuple_element;
using std::tuple_element_t;
using std::tuple_size;
using std::tuple_size_v;

template <typename T> struct remove_cvref : remove_cv<remove_reference_t<T>> {};
template <typename T> using remove_cvref_t = typename remove_cvref<T>::type;

template <typename T, typename... Others>
struct is_one_of : bool_constant<(is_same_v<T, Others> || ...)> {};
template <typename T, typename... Others>
inline constexpr bool is_one_of_v = is_one_of<T, Others...>::value;
template <typename T, T value, T... others>
struct is_one_of_value : bool_constant<((value == others) || ...)> {};
template <typename T, T value, T... others>
inline constexpr bool is_one_of_value_v = is_one_of_value<T, value, others...>::value;

// Half is one, bfloat16 is not.
template <typename T>
struct is_floating_point : is_one_of<remove_cv_t<T>, float, double, long double, half> {};
template <typename T> inline constexpr bool is_floating_point_v = is_floating_point<T>::value;

template <typename T> struct is_tuple : false_type {};
template <typename T> struct is_tuple<const T> : is_tuple<T> {};
template <typename... T> struct is_tuple<tuple<T...>> : true_type {};
template <typename T> inline constexpr bool is_tuple_v = is_tuple<T>::value;

template <typename T, typename U> __aicore__ constexpr T max(const T& a, const U& b) {
    return a < T(b) ? T(b) : a;
}
template <typename T, typename U> __aicore__ constexpr T min(const T& a, const U& b) {
    return T(b) < a ? T(b) : a;
}
template <typename T, typename U> __aicore__ constexpr auto ceil_division(const T& a, const U& b) {
    return (a + b - 1) / b;
}
template <typename T, typename U> __aicore__ constexpr auto ceil_align(const T& a, const U& b) {
    return ceil_division(a, b) * b;
}
template <typename T, typename U> __aicore__ constexpr auto divide(const T& a, const U& b) {
    return a / b;
}
template <typename T> __aicore__ inline T abs(const T number) {
    return number < 0 ? T(-number) : number;
}
template <typename T> __aicore__ inline T sqrt(const T number) { return T(std::sqrt(number)); }
}  // namespace Std
}  // namespace AscendC
