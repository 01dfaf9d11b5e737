// Parameter structures as rows of (type, name, default): ASC_FIELDS declares the members, a
// constructor without arguments, and one of all rows in their order.
#pragma once

#include "field.h"

// Applies `row` to each of up to 16 rows in parentheses, with `between()` between them.
#define ASC_PARENTHESES ()
#define ASC_AGAIN(...) ASC_AGAIN_3(ASC_AGAIN_3(ASC_AGAIN_3(ASC_AGAIN_3(__VA_ARGS__))))
#define ASC_AGAIN_3(...) ASC_AGAIN_2(ASC_AGAIN_2(ASC_AGAIN_2(ASC_AGAIN_2(__VA_ARGS__))))
#define ASC_AGAIN_2(...) __VA_ARGS__
#define ASC_EACH(row, between, ...) ASC_AGAIN(ASC_EACH_STEP(row, between, __VA_ARGS__))
#define ASC_EACH_STEP(row, between, first, ...) \
    row first __VA_OPT__(between() ASC_EACH_NEXT ASC_PARENTHESES(row, between, __VA_ARGS__))
#define ASC_EACH_NEXT() ASC_EACH_STEP

#define ASC_COMMA() ,
#define ASC_NOTHING()
#define ASC_FIELD_PARAMETER(type, name, value) const FieldOf<type> name##_
#define ASC_FIELD_INITIALISER(type, name, value) name(name##_)
#define ASC_FIELD_MEMBER(type, name, value) FieldOf<type> name = value;
#define ASC_FIELDS(Struct, ...)                                                        \
    __aicore__ constexpr Struct() {}                                                   \
    __aicore__ constexpr Struct(ASC_EACH(ASC_FIELD_PARAMETER, ASC_COMMA, __VA_ARGS__)) \
        : ASC_EACH(ASC_FIELD_INITIALISER, ASC_COMMA, __VA_ARGS__) {}                   \
    ASC_EACH(ASC_FIELD_MEMBER, ASC_NOTHING, __VA_ARGS__)
