// Mask, control and result registers of the vector unit.
#include "vector_lanes.h"

using namespace dav;

namespace {

constexpr uint32_t COMPARE_MASK_BYTES = 16;
constexpr uint32_t SET_CYCLES = 1;

VectorOperand register_sized(const void* address, bool write) {
    VectorOperand operand{};
    operand.address = address;
    operand.span = COMPARE_MASK_BYTES;
    operand.alignment = COMPARE_MASK_BYTES;
    operand.write = write;
    return operand;
}

}  // namespace

void set_vector_mask(uint64_t high, uint64_t low) {
    issue_scalar(SET_CYCLES);
    mask().high = high;
    mask().low = low;
    if (!mask().counter) mask().site = nullptr;  // the mode stays
}

void set_mask_norm() {
    issue_scalar(SET_CYCLES);
    mask().counter = false;
    mask().site = nullptr;
    vector_state().control &= ~(1ull << CTRL_COUNTER_MASK);
}

void set_mask_count() {
    issue_scalar(SET_CYCLES);
    mask().counter = true;
    mask().site = nullptr;
    vector_state().control |= 1ull << CTRL_COUNTER_MASK;
}

int64_t get_ctrl() {
    issue_scalar(SET_CYCLES);
    return static_cast<int64_t>(vector_state().control);
}

void set_ctrl(uint64_t value) {
    issue_scalar(SET_CYCLES);
    vector_state().control = value;
    mask().counter = (value >> CTRL_COUNTER_MASK & 1) != 0;
}

int64_t get_acc_val() {
    read_vector_register("ACC_VAL", DAV_SITE);
    return static_cast<int64_t>(vector_state().accumulated);
}

int64_t get_max_min_cnt() {
    read_vector_register("MAX_MIN_CNT", DAV_SITE);
    return static_cast<int64_t>(vector_state().max_min_count);
}

int64_t get_rsvd_cnt() {
    // The public headers read it right behind vreducev2, without a flag between the two.
    read_vector_register("RSVD_CNT", DAV_SITE, true);
    return static_cast<int64_t>(vector_state().reduce_count);
}

int64_t get_vms4_sr() {
    read_vector_register("VMS4_SR", DAV_SITE);
    return static_cast<int64_t>(vector_state().merged_counts);
}

void set_cmpmask(const void* src) {
    const VectorOperand operand = register_sized(src, false);
    issue_vector("set_cmpmask", "b64", 1, &operand, 1, DAV_SITE);
    std::memcpy(vector_state().compare_mask, ub_address(src), COMPARE_MASK_BYTES);
}

void get_cmpmask(void* dst) {
    const VectorOperand operand = register_sized(dst, true);
    issue_vector("get_cmpmask", "b64", 1, &operand, 1, DAV_SITE);
    std::memcpy(ub_address(dst), vector_state().compare_mask, COMPARE_MASK_BYTES);
}

void set_deqscale(half scale) {
    issue_scalar(SET_CYCLES);
    vector_state().dequantize_scale = 0;
    std::memcpy(&vector_state().dequantize_scale, &scale, sizeof(scale));
}

void set_deqscale(uint64_t config) {
    issue_scalar(SET_CYCLES);
    vector_state().dequantize_scale = config;
}

void set_va_reg_sb(ub_addr8_t reg, uint64_t* addresses) {
    issue_scalar(SET_CYCLES);
    std::memcpy(vector_state().va_address[reg], addresses, 8 * sizeof(uint64_t));
}

// The list lies in UB: sixteen 64-bit addresses, of which `part` chooses eight.
void vld_va_reg(ub_addr8_t reg, uint64_t* list, vpart_t part) {
    const uint64_t* const eight = list + (part == H128 ? 8 : 0);
    VectorOperand operand{};
    operand.address = eight;
    operand.span = 8 * sizeof(uint64_t);
    issue_vector("vld_va_reg", "b64", 1, &operand, 1, DAV_SITE);
    std::memcpy(vector_state().va_address[reg], ub_address(eight), 8 * sizeof(uint64_t));
}
