// What a product of the Matmul API is of: shapes, operands, tiling, and windows of its result.
#pragma once

#include "matmul_limits.h"

namespace AscendC {

// The part of the system's workspace that a vector core's tensors pass through.
constexpr uint64_t MATMUL_PASSAGE = 320 * 1024;
constexpr uint64_t MATMUL_PASSAGE_A = 128 * 1024;  // after C's part

template <class A, class B, class C, class BIAS, const auto& CONFIG, class CALLBACK, bool posts>
class MatmulShape {
    static_assert(MatmulLimits<CONFIG>::kept && within_limits<A, B, CALLBACK>({}));

public:
    using AType = A;
    using BType = B;
    using CType = C;
    using BiasType = BIAS;
    using TA = typename A::T;
    using TB = typename B::T;
    using TC = typename C::T;
    using TBias = typename BIAS::T;

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
        p_.large_steps = ToMatmulConfig(CONFIG).doMultiDataLoad;
        p_.unit_flag = ToMatmulConfig(CONFIG).enUnitFlag;
        p_.fixed_tiling = fixed();
        p_.preload = int32_t(ToMatmulConfig(CONFIG).doMTE2Preload);
        p_.reorder_k = ToMatmulConfig(CONFIG).enableKdimReorderLoad;
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
        p_.owner = this;
        p_.share_a = A::ibShare;
        p_.share_b = B::ibShare;
        begin_again();
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
        begin_again();
    }

    // ---- operands
    __aicore__ void SetTensorA(const GlobalTensor<TA>& gm, bool turned = false) {
        p_.a = gm.address_;
        p_.a_turned = turned;
        a_local_ = false;
        begin_again();
    }
    __aicore__ void SetTensorB(const GlobalTensor<TB>& gm, bool turned = false) {
        p_.b = gm.address_;
        p_.b_turned = turned;
        b_local_ = false;
        begin_again();
    }
    __aicore__ void SetTensorA(const LocalTensor<TA>& local, bool turned = false) {
        p_.a_turned = turned;
        a_local_ = true;
        p_.a = pass_out(local, MATMUL_PASSAGE_A);
        begin_again();
    }
    __aicore__ void SetTensorB(const LocalTensor<TB>& local, bool turned = false) {
        p_.b_turned = turned;
        b_local_ = true;
        const uint64_t after = a_local_ ? uint64_t(p_.m) * p_.k * sizeof(TA) : 0;
        p_.b = pass_out(local, MATMUL_PASSAGE_A + (after + 511) / 512 * 512);
        begin_again();
    }
    __aicore__ void SetBias(const GlobalTensor<TBias>& gm) { p_.bias = gm.address_; }
    __aicore__ void ClearBias() { p_.bias = nullptr; }
    __aicore__ void DisableBias() { p_.bias = nullptr; }
    __aicore__ void SetQuantScalar(const uint64_t parameter) {
        p_.quantize_scalar = parameter;
        p_.quantize = nullptr;
    }
    __aicore__ void SetQuantVector(const GlobalTensor<uint64_t>& parameters) {
        p_.quantize = parameters.address_;
    }
    __aicore__ void SetHF32(bool enable = false, int mode = 0) {
        if (enable && mode != 0) dav_fail("Our Matmul rounds HF32 to the nearest: transMode is 0.");
        p_.hf32 = enable;
    }
    __aicore__ void SetLocalWorkspace(const LocalTensor<uint8_t>&) {}
    __aicore__ void SetSubBlockIdx(uint8_t) {}
    template <class T> __aicore__ void SetUserDefInfo(const T) {}
    template <class T> __aicore__ void SetSelfDefineData(T) {}
    __aicore__ void DisableMNIterate() {}

protected:
    __aicore__ void begin_again() {
        next_ = 0;
        p_.follows = false;
    }
    __aicore__ int32_t across_m() const { return (p_.m + p_.base_m - 1) / p_.base_m; }
    __aicore__ int32_t across_n() const { return (p_.n + p_.base_n - 1) / p_.base_n; }
    __aicore__ int32_t blocks() const { return across_m() * across_n(); }
    __aicore__ int32_t start_m(int32_t number) const {
        return (p_.n_first ? number / across_n() : number % across_m()) * p_.base_m;
    }
    __aicore__ int32_t start_n(int32_t number) const {
        return (p_.n_first ? number % across_n() : number / across_m()) * p_.base_n;
    }
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

    DavMatmul p_;
    TCubeTiling tiling_{};
    int32_t orgM_ = 0, orgN_ = 0, orgKa_ = 0, orgKb_ = 0, orgKc_ = 0;
    int32_t next_ = 0;                   // block that Iterate comes to
    int32_t block_m_ = 0, block_n_ = 0;  // where the present one starts
    bool a_local_ = false;
    bool b_local_ = false;
};

}  // namespace AscendC
