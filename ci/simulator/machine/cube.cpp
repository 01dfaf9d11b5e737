#include "cube.h"

#include <algorithm>

#include "gm.h"
#include "intrinsics_cube.h"
#include "use.h"

namespace dav {

bool passed_over(const char* mnemonic, const void* site) {
    if (current->cube) return false;
    if (launch().cubes_per_block == 0)
        warn(site, "cube", mnemonic, "%s does nothing: this launch has vector cores only.",
             mnemonic);
    return true;
}

uint8_t* CubeIssue::operand(Memory memory, const void* address, const Pieces& pieces,
                            uint32_t alignment, const void* tensor, bool write) {
    // The tiles of a product's own steps belong to no tensor of the kernel.
    if (!current->ordered_by_data)
        check_reach(tensor, address, pieces.extent(), write, mnemonic_, site_);
    const uint32_t offset =
        check_local(memory, address, pieces.extent(), alignment, write, mnemonic_, site_);
    operands_[count_++] = {offset, pieces, write};
    const bool dense = pieces.count == 1 || pieces.stride == pieces.length;
    const uint32_t parts = dense ? 1 : pieces.count;
    const uint32_t length = dense ? static_cast<uint32_t>(pieces.extent()) : pieces.length;
    LeftOver rest;
    for (uint32_t part = 0; part < parts; ++part) {
        const uint32_t start = offset + part * pieces.stride;
        if (write) {
            hazards_.write_ub(start, length);
        } else {
            // A product's own steps read whole fractals, of which they keep what they need.
            if (!current->ordered_by_data) check_initialised(start, length, mnemonic_, site_);
            hazards_.read_ub(start, length);
            if (launch().checked && !current->ordered_by_data) rest.read(start, length);
        }
    }
    rest.tell(mnemonic_, site_);
    return current->ub + offset;
}

uint8_t* CubeIssue::read(Memory memory, const void* address, const Pieces& pieces,
                         uint32_t alignment, const void* tensor) {
    return operand(memory, address, pieces, alignment, tensor, false);
}

uint8_t* CubeIssue::write(Memory memory, const void* address, const Pieces& pieces,
                          uint32_t alignment, const void* tensor) {
    return operand(memory, address, pieces, alignment, tensor, true);
}

void CubeIssue::global(const Transfer& span) {
    check_gm(span, mnemonic_, site_);
    if (span.write)
        hazards_.write_gm(span);
    else
        hazards_.read_gm(span);
    span_ = span;
    global_ = true;
}

uint32_t CubeIssue::append_and_mark(Record record) {
    record.drain = hazards_.drain();
    const uint32_t number = append(record, site_);
    for (int i = 0; i < count_; ++i) {
        const Operand& one = operands_[i];
        const bool dense = one.pieces.count == 1 || one.pieces.stride == one.pieces.length;
        const uint32_t parts = dense ? 1 : one.pieces.count;
        const uint32_t length =
            dense ? static_cast<uint32_t>(one.pieces.extent()) : one.pieces.length;
        for (uint32_t part = 0; part < parts; ++part) {
            const uint32_t start = one.offset + part * one.pieces.stride;
            if (one.write)
                mark_ub_write(start, length, number);
            else
                mark_ub_read(pipe_, start, length, number);
        }
    }
    if (global_) mark_gm(pipe_, span_, number);
    return number;
}

uint32_t CubeIssue::book(Formula formula, uint64_t amount, uint64_t second) {
    hazards_.settle();
    return append_and_mark(Record::compute(pipe_, mnemonic_, Work::of(formula, amount, second)));
}

uint32_t CubeIssue::book_transfer(const Work& least) {
    hazards_.settle();
    Record record = transfer_record(span_, pipe_, mnemonic_);
    record.work = works().pipes.number(least);
    return append_and_mark(record);
}

CubeState& cube_state() { return current->cube_state; }

}  // namespace dav

using namespace dav;

void set_fmatrix(uint64_t config) {
    cube_state().feature_map[0] = config;
    issue_scalar(1);
}
void set_fmatrix_b(uint64_t config) {
    cube_state().feature_map[1] = config;
    issue_scalar(1);
}
void set_padding(uint64_t value) {
    cube_state().padding = value;
    issue_scalar(1);
}
void set_l3d_rpt(uint64_t config) {
    cube_state().load_repeat = config;
    issue_scalar(1);
}
void set_l1_3d_size(uint64_t) { issue_scalar(1); }
void set_l0_set_value_h(half value) {
    cube_state().fill_value = 0;
    __builtin_memcpy(&cube_state().fill_value, &value, sizeof(value));
    issue_scalar(1);
}
void set_l0_set_value_bf16(bfloat16_t value) {
    cube_state().fill_value = value.bits;
    issue_scalar(1);
}
void set_quant_pre(uint64_t value) {
    cube_state().quantize = value;
    issue_scalar(1);
}
void set_fpc(uint64_t config) {
    cube_state().fixpipe_config = config;
    issue_scalar(1);
}
void set_nd_para(uint64_t config) {
    cube_state().nd_parameters = config;
    issue_scalar(1);
}
void set_lrelu_alpha(uint64_t) { issue_scalar(1); }
