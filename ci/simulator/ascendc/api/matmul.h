// The Matmul high-level API as one block of the machine: this class gathers what a product needs
// and asks for it. On a cube core the product happens there and then; on a vector core it is a
// message to the block's cube core, with what lies in UB passing through the system's workspace.
#pragma once

#include "matmul_types.h"

namespace AscendC {

// The part of the system's workspace that a vector core's tensors pass through.
constexpr uint64_t MATMUL_PASSAGE = 320 * 1024;
constexpr uint64_t MATMUL_PASSAGE_A = 128 * 1024;  // after C's part

template <class A, class B, class C, class BIAS = C, const auto& CONFIG = CFG_NORM,
          class CALLBACK = void, bool posts = false>
class MatmulImpl {
public:
    using AType = A;
    using BType = B;
    using CType = C;
    using BiasType = BIAS;
    using TA = typename A::T;
    using TB = typename B::T;
    using TC = typename C::T;
    using TBias = typename BIAS::T;

    __aicore__ MatmulImpl() {}
    // Whether the compiler knows the tiling.
    static __aicore__ constexpr bool fixed() {
        return IsSameType<std::decay_t<decltype(CONFIG)>, MatmulApiStaticTiling>::value;
    }

    // ---- shapes
    template <typename Tiling> __aicore__ void Init(const Tiling* tiling, TPipe* = nullptr) {
        if (tiling != nullptr) __builtin_memcpy(&tiling_, tiling, sizeof(tiling_));
        merge_fixed();
        orgM_ = tiling_.M;
        orgN_ = tiling_.N;
        orgKa_ = tiling_.Ka;
        orgKb_ = tiling_.Kb;
        orgKc_ = 0;
        p_.m = tiling_.singleCoreM;
        p_.n = tiling_.singleCoreN;
        p_.k = tiling_.singleCoreK;
        p_.type = element_of<TA>();
        p_.result = element_of<TC>();
        p_.large_steps = config_of(CONFIG).doMultiDataLoad;
        p_.unit_flag = config_of(CONFIG).enUnitFlag;
        p_.fixed_tiling = fixed();
        p_.preload = int32_t(config_of(CONFIG).doMTE2Preload);
        p_.reorder_k = config_of(CONFIG).enableKdimReorderLoad;
        p_.a_fractal = A::format == CubeFormat::NZ;
        p_.b_fractal = B::format == CubeFormat::NZ;
        p_.c_fractal = C::format == CubeFormat::NZ;
        p_.half_bias = sizeof(TBias) == 2;
        p_.a_turned = A::isTrans;
        p_.b_turned = B::isTrans;
        p_.base_m = tiling_.baseM;
        p_.base_n = tiling_.baseN;
        p_.base_k = tiling_.baseK;
        p_.depth_a = tiling_.depthA1;
        p_.depth_b = tiling_.depthB1;
        p_.step_m = tiling_.stepM;
        p_.step_n = tiling_.stepN;
        p_.step_ka = tiling_.stepKa > 0 ? tiling_.stepKa : 1;
        p_.step_kb = tiling_.stepKb > 0 ? tiling_.stepKb : 1;
        p_.l0c_buffers = tiling_.dbL0C;
        p_.n_first = tiling_.iterateOrder == 1;
        next_ = 0;
    }
    __aicore__ void SetOrgShape(int m, int n, int k) { SetOrgShape(m, n, k, k); }
    __aicore__ void SetOrgShape(int m, int n, int ka, int kb, int kc = 0) {
        orgM_ = m;
        orgN_ = n;
        orgKa_ = ka;
        orgKb_ = kb;
        orgKc_ = kc;
    }
    __aicore__ void SetSingleShape(int m, int n, int k) { SetTail(m, n, k); }
    __aicore__ void SetTail(int m = -1, int n = -1, int k = -1) {
        if (m != -1) p_.m = m;
        if (n != -1) p_.n = n;
        if (k != -1) p_.k = k;
        next_ = 0;
    }

    // ---- operands
    __aicore__ void SetTensorA(const GlobalTensor<TA>& gm, bool turned = false) {
        p_.a = gm.address_;
        p_.a_turned = turned;
        a_local_ = false;
        next_ = 0;
    }
    __aicore__ void SetTensorB(const GlobalTensor<TB>& gm, bool turned = false) {
        p_.b = gm.address_;
        p_.b_turned = turned;
        b_local_ = false;
        next_ = 0;
    }
    __aicore__ void SetTensorA(const LocalTensor<TA>& local, bool turned = false) {
        p_.a_turned = turned;
        a_local_ = true;
        p_.a = pass_out(local, MATMUL_PASSAGE_A);
        next_ = 0;
    }
    __aicore__ void SetTensorB(const LocalTensor<TB>& local, bool turned = false) {
        p_.b_turned = turned;
        b_local_ = true;
        const uint64_t after = a_local_ ? uint64_t(p_.m) * p_.k * sizeof(TA) : 0;
        p_.b = pass_out(local, MATMUL_PASSAGE_A + (after + 511) / 512 * 512);
        next_ = 0;
    }
    __aicore__ void SetBias(const GlobalTensor<TBias>& gm) { p_.bias = gm.address_; }
    __aicore__ void ClearBias() { p_.bias = nullptr; }
    __aicore__ void DisableBias() { p_.bias = nullptr; }
    __aicore__ void SetQuantScalar(const uint64_t parameter) {
        p_.quantize_scalar = parameter;
        p_.quantize = nullptr;
        quantized_ = true;
    }
    __aicore__ void SetQuantVector(const GlobalTensor<uint64_t>& parameters) {
        p_.quantize = parameters.address_;
        quantized_ = true;
    }
    __aicore__ void SetHF32(bool enable = false, int = 0) { p_.hf32 = enable; }
    template <class T> __aicore__ void SetWorkspace(GlobalTensor<T>&) {}
    template <class T> __aicore__ void SetWorkspace(__gm__ const T*, int) {}
    __aicore__ void SetLocalWorkspace(const LocalTensor<uint8_t>&) {}
    __aicore__ void SetSubBlockIdx(uint8_t) {}
    template <class T> __aicore__ void SetUserDefInfo(const T) {}
    template <class T> __aicore__ void SetSelfDefineData(T) {}
    __aicore__ void DisableMNIterate() {}

    // ---- the whole of C
    template <bool sync = true>
    __aicore__ void IterateAll(const GlobalTensor<TC>& gm, uint8_t add = 0, bool = false,
                               bool wait = false, bool = false) {
        const DavMatmul whole = window(gm.address_, 0, 0, p_.m, p_.n, columns_of_c());
        ask<sync>(whole, add != 0);
        waits_ = wait;
    }
    template <bool sync = true>
    __aicore__ void IterateAll(const LocalTensor<TC>& local, uint8_t add = 0) {
        const uint32_t row = C::format == CubeFormat::NZ ? up16(p_.m) : up_to_block(p_.n);
        take_in<sync>(local, 0, 0, p_.m, p_.n, row, add);
    }
    __aicore__ void WaitIterateAll() { wait_for_answer(); }
    __aicore__ void WaitGetTensorC() { wait_for_answer(); }

    // ---- block by block
    template <bool sync = true> __aicore__ bool Iterate(bool = false) {
        const int32_t across_m = (p_.m + p_.base_m - 1) / p_.base_m;
        const int32_t across_n = (p_.n + p_.base_n - 1) / p_.base_n;
        if (next_ >= across_m * across_n) {
            next_ = 0;
            return false;
        }
        const int32_t i = p_.n_first ? next_ / across_n : next_ % across_m;
        const int32_t j = p_.n_first ? next_ % across_n : next_ / across_m;
        ++next_;
        block_m_ = i * p_.base_m;
        block_n_ = j * p_.base_n;
        return true;
    }
    template <bool sync = true>
    __aicore__ void GetTensorC(const GlobalTensor<TC>& gm, uint8_t add = 0,
                               bool sequential = false) {
        const int32_t rows = block_rows();
        const int32_t columns = block_columns();
        if (sequential) {
            const int32_t row = C::format == CubeFormat::NZ ? up16(rows) : columns;
            ask<sync>(compact(gm.address_, row), add != 0);
        } else {
            ask<sync>(window(gm.address_, block_m_, block_n_, rows, columns, columns_of_c()),
                      add != 0);
        }
    }
    template <bool sync = true>
    __aicore__ void GetTensorC(const LocalTensor<TC>& local, uint8_t add = 0, bool = false) {
        const int32_t rows = block_rows();
        const int32_t columns = block_columns();
        const uint32_t row = C::format == CubeFormat::NZ ? up16(rows) : up_to_block(columns);
        take_in<sync>(local, block_m_, block_n_, rows, columns, row, add);
    }
    template <bool sync = true>
    __aicore__ void GetTensorC(const GlobalTensor<TC>& gm, const LocalTensor<TC>& local,
                               uint8_t add = 0, bool sequential = false) {
        GetTensorC<sync>(gm, add, sequential);
        GetTensorC<sync>(local, 0, sequential);
    }

    // ---- several products whose operands follow each other
    template <bool sync = true, bool waitIterateBatch = false>
    __aicore__ void IterateBatch(const GlobalTensor<TC>& gm, uint32_t batchA, uint32_t batchB,
                                 bool = false, const uint32_t strideA = 0,
                                 const uint32_t strideB = 0, const uint32_t strideC = 0,
                                 const bool = true, const uint8_t add = 0) {
        const uint32_t batches = batchA > batchB ? batchA : batchB;
        const uint64_t stepA = strideA != 0 ? strideA : uint64_t(orgM_) * orgKa_;
        const uint64_t stepB = strideB != 0 ? strideB : uint64_t(orgN_) * orgKb_;
        const uint64_t stepC = strideC != 0 ? strideC : uint64_t(orgM_) * columns_of_c();
        const DavMatmul kept = p_;
        for (uint32_t batch = 0; batch < batches; ++batch) {
            p_.a = static_cast<const TA*>(kept.a) + (batch * batchA / batches) * stepA;
            p_.b = static_cast<const TB*>(kept.b) + (batch * batchB / batches) * stepB;
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
    static __aicore__ int32_t up16(int32_t value) { return (value + 15) / 16 * 16; }
    static __aicore__ int32_t up_to_block(int32_t columns) {
        constexpr int32_t block = ONE_BLK_SIZE / sizeof(TC);
        return (columns + block - 1) / block * block;
    }
    __aicore__ int32_t columns_of_c() const {
        if (C::format == CubeFormat::NZ) return up16(orgM_);
        return orgKc_ > 0 ? orgKc_ : orgN_;
    }
    __aicore__ int32_t block_rows() const {
        return p_.m - block_m_ < p_.base_m ? p_.m - block_m_ : p_.base_m;
    }
    __aicore__ int32_t block_columns() const {
        return p_.n - block_n_ < p_.base_n ? p_.n - block_n_ : p_.base_n;
    }
    template <typename S> __aicore__ static void take(S& to, int32_t fixed) {
        if (fixed != -1) to = fixed;
    }
    // What the configuration fixes at compile time stands before the host's tiling.
    __aicore__ void merge_fixed() {
        if constexpr (IsSameType<std::decay_t<decltype(CONFIG)>, MatmulApiStaticTiling>::value) {
#define ASC_TAKE(field) take(tiling_.field, CONFIG.field);
            ASC_CUBE_TILING(ASC_TAKE)
#undef ASC_TAKE
        } else if constexpr (CONFIG.doBasicBlock) {
            tiling_.baseM = int32_t(CONFIG.basicM);
            tiling_.baseN = int32_t(CONFIG.basicN);
            tiling_.baseK = int32_t(CONFIG.basicK);
        }
    }
    __aicore__ static GM_ADDR passage(uint64_t at) {
        return g_sysWorkspaceReserved + uint64_t(GetBlockIdx()) * MATMUL_PASSAGE + at;
    }

    // A product that writes [first_m.., first_n..] of C to where these elements lie in `gm`.
    __aicore__ DavMatmul window(TC* gm, int32_t first_m, int32_t first_n, int32_t count_m,
                                int32_t count_n, int32_t c_stride) const {
        DavMatmul p = p_;
        p.c = gm;
        p.first_m = first_m;
        p.first_n = first_n;
        p.count_m = count_m;
        p.count_n = count_n;
        p.c_stride = c_stride;
        const int32_t m = A::format == CubeFormat::NZ ? up16(orgM_) : orgM_;
        const int32_t ka = A::format == CubeFormat::NZ ? up16(orgKa_) : orgKa_;
        const int32_t n = B::format == CubeFormat::NZ ? up16(orgN_) : orgN_;
        const int32_t kb = B::format == CubeFormat::NZ ? up16(orgKb_) : orgKb_;
        // Row-major operands are strided by what runs within a row, fractal ones by their rows.
        const bool a_by_k = p.a_turned == (A::format == CubeFormat::NZ);
        const bool b_by_k = p.b_turned != (B::format == CubeFormat::NZ);
        p.a_stride = a_by_k ? ka : m;
        p.b_stride = b_by_k ? kb : n;
        if (a_local_ && A::format != CubeFormat::NZ) p.a_stride = p.a_turned ? p.m : p.k;
        if (b_local_ && B::format != CubeFormat::NZ) p.b_stride = p.b_turned ? p.k : p.n;
        p.quantize_mode = quantize_mode();
        return p;
    }
    // The present block alone, rows `row` elements apart (fractal columns: of so many rows).
    __aicore__ DavMatmul compact(TC* gm, int32_t row) const {
        constexpr int64_t group = sizeof(TC) == 1 ? 32 : 16;
        const int64_t before = C::format == CubeFormat::NZ
                                   ? (int64_t(block_n_) / group * row + block_m_) * group
                                   : int64_t(block_m_) * row + block_n_;
        return window(gm - before, block_m_, block_n_, block_rows(), block_columns(), row);
    }
    __aicore__ uint32_t quantize_mode() const {
        const bool by_column = p_.quantize != nullptr;
        if constexpr (IsSameType<TA, int8_t>::value) {
            if constexpr (IsSameType<TC, half>::value) return by_column ? VDEQF16 : DEQF16;
            if constexpr (sizeof(TC) == 1) return by_column ? VREQ8 : REQ8;
            return NoQuant;
        } else {
            if constexpr (IsSameType<TC, half>::value) return F322F16;
            if constexpr (IsSameType<TC, bfloat16_t>::value) return F322BF16;
            if constexpr (sizeof(TC) == 1) return by_column ? VQF322B8_PRE : QF322B8_PRE;
            return NoQuant;
        }
    }

    template <bool sync> __aicore__ void ask(DavMatmul p, bool add) {
        p.add = add;
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
    // From UB to the workspace; a tensor in L1 has to be put there by the cube core's own code.
    template <typename T>
    __aicore__ const void* pass_out(const LocalTensor<T>& local, uint64_t at) {
        if constexpr (g_coreType == AIV && posts) {
            if (memory_of(local) != Hardware::UB) {
                dav_fail("Matmul takes operands from global memory or UB, not from L1.");
            }
            GM_ADDR to = passage(at);
            order_pipes<HardEvent::V_MTE3>();
            copy_ubuf_to_gm(to, local.pointer(), 0, 1,
                            uint16_t((local.GetLength() + ONE_BLK_SIZE - 1) / ONE_BLK_SIZE), 0, 0);
            return to;
        }
        return nullptr;
    }
    // A part of C to UB by way of the workspace, rows (fractal columns) `row` elements apart.
    template <bool sync>
    __aicore__ void take_in(const LocalTensor<TC>& local, int32_t first_m, int32_t first_n,
                            int32_t rows, int32_t columns, uint32_t row, uint8_t) {
        block_m_ = first_m;
        block_n_ = first_n;
        if constexpr (g_coreType == AIV && posts) {
            constexpr int64_t group = sizeof(TC) == 1 ? 32 : 16;
            TC* gm = reinterpret_cast<TC*>(passage(0));
            const int64_t before = C::format == CubeFormat::NZ
                                       ? (int64_t(first_n) / group * row + first_m) * group
                                       : int64_t(first_m) * row + first_n;
            ask<true>(window(gm - before, first_m, first_n, rows, columns, int32_t(row)), false);
            const uint64_t elements =
                C::format == CubeFormat::NZ ? uint64_t(up16(columns)) * row : uint64_t(rows) * row;
            if (elements * sizeof(TC) > MATMUL_PASSAGE_A) {
                dav_fail("A block of C for UB is larger than 128 KiB.");
            }
            order_pipes<HardEvent::V_MTE2>();
            order_pipes<HardEvent::MTE3_MTE2>();
            copy_gm_to_ubuf(local.pointer(), gm, 0, 1,
                            uint16_t(elements * sizeof(TC) / ONE_BLK_SIZE), 0, 0);
            order_pipes<HardEvent::MTE2_V>();
        }
    }

    DavMatmul p_;
    TCubeTiling tiling_{};
    int32_t orgM_ = 0, orgN_ = 0, orgKa_ = 0, orgKb_ = 0, orgKc_ = 0;
    int32_t next_ = 0;                   // block that Iterate comes to
    int32_t block_m_ = 0, block_n_ = 0;  // where the present one starts
    int32_t ticket_ = -1;                // of the latest message that nobody has waited for
    bool a_local_ = false;
    bool b_local_ = false;
    bool quantized_ = false;
    bool waits_ = false;
};

template <class A, class B, class C, class BIAS = C, const auto& CONFIG = CFG_NORM,
          class CALLBACK = void, typename... POLICY>
using Matmul = MatmulImpl<A, B, C, BIAS, CONFIG, CALLBACK, true>;

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

namespace matmul {
using namespace AscendC;
}

// On the cube core of a block with vector cores the kernel ends here: it serves them.
#define REGIST_MATMUL_OBJ(pipe, workspace, ...)    \
    ASC_MATMUL_MARK;                               \
    AscendC::MatmulClient ascendopt_matmul_client; \
    if (AscendC::serve_matmul()) return;           \
    AscendC::start_matmul(pipe, __VA_ARGS__)
#define REGIST_CUBE_OBJ REGIST_MATMUL_OBJ
