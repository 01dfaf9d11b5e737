// The Matmul high-level API as one block of the machine: this class gathers what a product needs
// and asks for it. On a cube core the product happens there and then; on a vector core it is a
// message to the block's cube core, with what lies in UB passing through the system's workspace.
#pragma once

#include "matmul_policy.h"
#include "matmul_shape.h"

namespace AscendC {

template <class A, class B, class C, class BIAS = C, const auto& CONFIG = CFG_NORM,
          class CALLBACK = void,
          template <const auto&, typename, typename, typename, typename, typename> class POLICY =
              Impl::Detail::MatmulPolicy,
          bool posts = false>
class MatmulImpl : public MatmulShape<A, B, C, BIAS, CONFIG, CALLBACK, posts> {
    static_assert(Impl::Detail::replaces_nothing<POLICY<CONFIG, void, A, B, C, BIAS>>());
    using Base = MatmulShape<A, B, C, BIAS, CONFIG, CALLBACK, posts>;
    using Base::across_m;
    using Base::across_n;
    using Base::block_columns;
    using Base::block_m_;
    using Base::block_n_;
    using Base::block_rows;
    using Base::blocks;
    using Base::columns_of_c;
    using Base::compact;
    using Base::next_;
    using Base::orgKa_;
    using Base::orgKb_;
    using Base::orgM_;
    using Base::orgN_;
    using Base::p_;
    using Base::passage;
    using Base::start_m;
    using Base::start_n;
    using Base::up16;
    using Base::up_to_block;
    using Base::window;

public:
    using TA = typename A::T;
    using TB = typename B::T;
    using TC = typename C::T;

    __aicore__ MatmulImpl() {}
    // Where blocks of C wait that Iterate<false> computes.
    template <class T> __aicore__ void SetWorkspace(GlobalTensor<T>& gm) {
        cache_ = (TC*)gm.address_;
    }
    template <class T> __aicore__ void SetWorkspace(__gm__ const T* gm, int) { cache_ = (TC*)gm; }

    // ---- the whole of C
    template <bool sync = true>
    __aicore__ void IterateAll(const GlobalTensor<TC>& gm, uint8_t add = 0, bool = false,
                               bool = false, bool = false) {
        const DavMatmul whole = window(gm.address_, 0, 0, p_.m, p_.n, columns_of_c());
        ask<sync>(whole, add != 0);
    }
    template <bool sync = true>
    __aicore__ void IterateAll(const LocalTensor<TC>& local, uint8_t add = 0) {
        check_no_sum(add);
        const uint32_t row = C::format == CubeFormat::NZ ? up16(p_.m) : up_to_block(p_.n);
        take_in<sync>(local, 0, 0, p_.m, p_.n, row, DavStep::WHOLE);
    }
    __aicore__ void WaitIterateAll() { wait_for_answer(); }
    __aicore__ void WaitGetTensorC() { wait_for_answer(); }

    // ---- block by block
    // Has the next block of C computed; its sums stay in L0C until GetTensorC fetches them, or, if
    // `partial`, until another product is added to them. Without sync the first call has all blocks
    // computed, one after another, into the workspace.
    template <bool sync = true> __aicore__ bool Iterate(bool partial = false) {
        static_assert(!(A::ibShare && B::ibShare),
                      "With A and B both of IBSHARE, IterateAll is the only way to C.");
        if (next_ >= blocks()) {
            next_ = 0;
            return false;
        }
        const int32_t number = next_++;
        block_m_ = start_m(number);
        block_n_ = start_n(number);
        if constexpr (!sync && posts && g_coreType == AIV) {
            if (number == 0) compute_all();
        } else {
            DavMatmul p = window(nullptr, block_m_, block_n_, block_rows(), block_columns(), 0);
            p.step = DavStep::PRODUCT;
            p.partial = partial;
            p.has_next = next_ < blocks();
            p.next_m = start_m(next_);
            p.next_n = start_n(next_);
            ask<false>(p, false);
        }
        return true;
    }
    template <bool sync = true>
    __aicore__ void GetTensorC(const GlobalTensor<TC>& gm, uint8_t add = 0,
                               bool sequential = false) {
        const int32_t rows = block_rows();
        const int32_t columns = block_columns();
        DavMatmul p;
        if (sequential) {
            p = compact(gm.address_, C::format == CubeFormat::NZ ? up16(rows) : columns);
        } else {
            p = window(gm.address_, block_m_, block_n_, rows, columns, columns_of_c());
        }
        p.step = DavStep::STORE;
        ask<sync>(p, add != 0);
    }
    template <bool sync = true>
    __aicore__ void GetTensorC(const LocalTensor<TC>& local, uint8_t add = 0, bool = false) {
        check_no_sum(add);
        if constexpr (!sync && posts && g_coreType == AIV) {
            const GlobalTensor<TC> block = GetTensorC<false>();
            copy_in(local, block.address_, local.GetSize());
            return;
        }
        const int32_t rows = block_rows();
        const int32_t columns = block_columns();
        const uint32_t row = C::format == CubeFormat::NZ ? up16(rows) : up_to_block(columns);
        take_in<sync>(local, block_m_, block_n_, rows, columns, row, DavStep::STORE);
    }
    template <bool sync = true>
    __aicore__ void GetTensorC(const GlobalTensor<TC>& gm, const LocalTensor<TC>& local,
                               uint8_t add = 0, bool sequential = false) {
        GetTensorC<sync>(gm, add, sequential);
        if constexpr (g_coreType == AIV && posts) {
            wait_for_answer();
            copy_in(local, gm.address_, local.GetSize());
        }
    }
    // The next block that Iterate<false> had computed, where it waits.
    template <bool sync = false> __aicore__ GlobalTensor<TC> GetTensorC(uint8_t = 0, bool = false) {
        static_assert(!sync, "GetTensorC without a target belongs to Iterate<false>.");
        GlobalTensor<TC> block;
        if constexpr (posts && g_coreType == AIV) {
            const uint64_t size = uint64_t(p_.base_m) * p_.base_n;
            dav_matmul_wait(first_ticket_ + fetched_);
            block.SetGlobalBuffer(cache_ + fetched_ * size, size);
            ++fetched_;
        }
        return block;
    }

    // ---- several products whose operands follow each other
    template <bool sync = true, bool waitIterateBatch = false>
    __aicore__ void IterateBatch(const GlobalTensor<TC>& gm, uint32_t batchA, uint32_t batchB,
                                 bool sequential = false, const uint32_t strideA = 0,
                                 const uint32_t strideB = 0, const uint32_t strideC = 0,
                                 const bool partial = false, const uint8_t add = 0) {
        if (sequential || partial) {
            dav_fail(
                "IterateBatch into global memory writes each block to its place, and keeps no sums "
                "for the next product: enSequentialWrite and enPartialSum must be false.");
        }
        static_assert(follow_each_other<A>() && follow_each_other<B>() && follow_each_other<C>(),
                      "Our IterateBatch takes matrices that follow each other (LayoutMode::NORMAL "
                      "or BNGS1S2)" ASC_REAL_HEADERS);
        const uint32_t batches = batchA > batchB ? batchA : batchB;
        const uint64_t stepA = strideA != 0 ? strideA : uint64_t(orgM_) * orgKa_;
        const uint64_t stepB = strideB != 0 ? strideB : uint64_t(orgN_) * orgKb_;
        const uint64_t stepC = strideC != 0 ? strideC : uint64_t(orgM_) * columns_of_c();
        const DavMatmul kept = p_;
        for (uint32_t batch = 0; batch < batches; ++batch) {
            p_.a = static_cast<const TA*>(kept.a) + (batch * batchA / batches) * stepA;
            p_.b = static_cast<const TB*>(kept.b) + (batch * batchB / batches) * stepB;
            p_.follows = false;
            ask<sync>(window(gm.address_ + batch * stepC, 0, 0, p_.m, p_.n, columns_of_c()),
                      add != 0);
        }
        p_ = kept;
    }
    __aicore__ void SetBatchNum(int32_t, int32_t) {}
    __aicore__ void WaitIterateBatch() { wait_for_answer(); }

    __aicore__ void End() {
        wait_for_answer();
        next_ = 0;
    }

private:
    // Only global memory has atomic sums.
    static __aicore__ void check_no_sum(uint8_t add) {
        if (add != 0) dav_fail("A block of C for UB is not added to anything: enAtomic must be 0.");
    }
    template <class M> static __aicore__ constexpr bool follow_each_other() {
        return M::layout == LayoutMode::NONE || M::layout == LayoutMode::NORMAL ||
               M::layout == LayoutMode::BNGS1S2;
    }
    // All blocks, each compact and base_m * base_n elements after the one before.
    __aicore__ void compute_all() {
        if (cache_ == nullptr) dav_fail("Iterate<false> needs a workspace (SetWorkspace).");
        fetched_ = 0;
        for (int32_t number = 0; number < blocks(); ++number) {
            block_m_ = start_m(number);
            block_n_ = start_n(number);
            const int32_t row = C::format == CubeFormat::NZ ? up16(block_rows()) : block_columns();
            ask<false>(compact(cache_ + uint64_t(number) * p_.base_m * p_.base_n, row), false);
            if (number == 0) first_ticket_ = ticket_;
        }
        ticket_ = -1;
    }
    template <bool sync> __aicore__ void ask(DavMatmul p, bool add) {
        p.add = add;
        p_.follows = true;
        if constexpr (g_coreType == AIC) {
            dav_matmul(p);
        } else if constexpr (posts) {
            ticket_ = dav_matmul_post(p);
            if constexpr (sync) wait_for_answer();
        }
    }
    __aicore__ void wait_for_answer() {
        if (ticket_ < 0) return;
        dav_matmul_wait(ticket_);
        ticket_ = -1;
    }
    // A part of C to UB by way of the workspace, rows (fractal columns) `row` elements apart.
    template <bool sync>
    __aicore__ void take_in(const LocalTensor<TC>& local, int32_t first_m, int32_t first_n,
                            int32_t rows, int32_t columns, uint32_t row, DavStep step) {
        block_m_ = first_m;
        block_n_ = first_n;
        if constexpr (g_coreType == AIV && posts) {
            constexpr int64_t group = sizeof(TC) == 1 ? 32 : 16;
            TC* gm = reinterpret_cast<TC*>(passage(0));
            const int64_t before = C::format == CubeFormat::NZ
                                       ? (int64_t(first_n) / group * row + first_m) * group
                                       : int64_t(first_m) * row + first_n;
            DavMatmul p = window(gm - before, first_m, first_n, rows, columns, int32_t(row));
            p.step = step;
            ask<true>(p, false);
            const uint64_t elements =
                C::format == CubeFormat::NZ ? uint64_t(up16(columns)) * row : uint64_t(rows) * row;
            if (elements * sizeof(TC) > MATMUL_PASSAGE_A) {
                dav_fail("A block of C for UB is larger than 128 KiB.");
            }
            copy_in(local, gm, elements);
        }
    }
    __aicore__ void copy_in(const LocalTensor<TC>& local, TC* gm, uint64_t elements) {
        order_pipes<HardEvent::V_MTE2>();
        order_pipes<HardEvent::MTE3_MTE2>();
        copy_gm_to_ubuf(local.pointer(), gm, 0, 1, uint16_t(elements * sizeof(TC) / ONE_BLK_SIZE),
                        0, 0);
        order_pipes<HardEvent::MTE2_V>();
    }

    TC* cache_ = nullptr;        // the workspace of Iterate<false>
    int32_t first_ticket_ = -1;  // of its blocks
    int32_t fetched_ = 0;        // how many of them have been taken
    int32_t ticket_ = -1;        // of the latest message that nobody has waited for
};

// A kernel's connection to its cube core, while the kernel's function lasts.
struct MatmulClient {
    __aicore__ ~MatmulClient() {
        if constexpr (g_coreType == AIV) dav_matmul_quit();
    }
};
__aicore__ inline bool serve_matmul() {
    if constexpr (g_coreType == AIC) return dav_matmul_serve();
    return false;
}
__aicore__ inline void start_matmul(TPipe*) {}
template <class M> __aicore__ inline void start_matmul(TPipe*, M&) {}
template <class M, typename Tiling, typename... Rest>
__aicore__ inline void start_matmul(TPipe* pipe, M& object, Tiling* tiling, Rest&&... rest) {
    // Without one the configuration may fix the tiling; another is given to Init later.
    if (tiling != nullptr || M::fixed()) object.Init(tiling, pipe);
    start_matmul(pipe, rest...);
}
template <class M, typename... Rest>
__aicore__ inline void start_matmul(TPipe* pipe, M& object, decltype(nullptr), Rest&&... rest) {
    start_matmul(pipe, object, static_cast<const TCubeTiling*>(nullptr), rest...);
}

}  // namespace AscendC
