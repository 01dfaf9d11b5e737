// What a kernel lets a person see of its tensors. Nobody looks here.
#pragma once

#include "kernel_operator.h"

template <typename T, typename... What> __aicore__ inline void asc_dump(T*, What...) {}
template <typename T, typename... What> __aicore__ inline void asc_dump_gm(T*, What...) {}
template <typename T, typename... What> __aicore__ inline void asc_dump_ubuf(T*, What...) {}
template <typename T, typename... What> __aicore__ inline void asc_dump_cbuf(T*, What...) {}
template <typename T, typename... What> __aicore__ inline void asc_dump_l1buf(T*, What...) {}
