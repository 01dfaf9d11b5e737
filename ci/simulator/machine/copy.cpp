// Copies between global memory and the unified buffer (MTE2, MTE3) and within UB (vector unit).
#include <algorithm>
#include <cstring>

#include "atomic.h"
#include "constants.h"
#include "conflicts.h"
#include "cover.h"
#include "gm.h"
#include "hazard.h"
#include "intrinsics_sync_copy.h"
#include "machine.h"
#include "memory.h"
#include "use.h"

namespace dav {
namespace {

// A copy with both sides as bursts; all units are bytes.
struct Bursts {
    uint32_t count;
    uint32_t gm_length;
    uint64_t gm_stride;
    uint32_t ub_length;  // what a burst takes in UB, padding included
    uint32_t ub_stride;
};

uint64_t ub_extent(const Bursts& bursts) {
    return uint64_t(bursts.count - 1) * bursts.ub_stride + bursts.ub_length;
}

template <typename Visit>
void for_each_ub_range(const Bursts& bursts, uint32_t offset, Visit visit) {
    if (bursts.ub_stride == bursts.ub_length)
        return visit(offset, static_cast<uint32_t>(ub_extent(bursts)));
    for (uint32_t burst = 0; burst < bursts.count; ++burst)
        visit(offset + burst * bursts.ub_stride, bursts.ub_length);
}

uint32_t append_transfer(const Transfer& span, const char* mnemonic, const void* site) {
    return append(transfer_record(span, span.write ? MTE3 : MTE2, mnemonic), site);
}

// The field of the instruction that counts bursts has 12 bits.
void check_count(uint32_t count, const char* mnemonic, const void* site) {
    constexpr uint32_t MOST_BURSTS = 4095;
    if (count > MOST_BURSTS)
        warn(site, "burst_count", mnemonic, "%s is given %u bursts; the device takes at most %u.",
             mnemonic, count, MOST_BURSTS);
}

// A copy of nothing is legal and costs its issue.
void append_nothing(int pipe, const char* mnemonic, const void* site) {
    append(Record::compute(pipe, mnemonic, Work::of(Formula::NOTHING, 0)), site);
}

// Fills the padding of one burst. The documentation: with neither padding asked for, the fill up
// to 32 bytes takes the burst's first element; else the padding value, or (unset) any value.
void pad(uint8_t* burst, uint32_t left, uint32_t length, uint32_t right, uint32_t total,
         uint32_t element) {
    uint8_t value[8];
    std::memset(value, launch().poison, sizeof(value));
    if (left == 0 && right == 0) {
        if (length < element) return;
        std::memcpy(value, burst, element);
    } else if (current->copies.pad_set) {
        std::memcpy(value, &current->copies.pad_bits, element);
    }
    for (uint32_t at = 0; at + element <= left; at += element)
        std::memcpy(burst + at, value, element);
    for (uint32_t at = left + length; at + element <= total; at += element)
        std::memcpy(burst + at, value, element);
}

// Padding may be the cause of a wrong sum or maximum.
void note_padding(const Bursts& bursts, bool asked, uint32_t element, const char* mnemonic,
                  const void* site) {
    const uint32_t bytes = bursts.ub_length - bursts.gm_length;
    if (!current->copies.pad_set || !asked) {
        warn(site, "padding_lanes", mnemonic,
             "%s puts %u bytes that its caller has not chosen into the blocks of each %u bytes.",
             mnemonic, bytes, bursts.gm_length);
        return;
    }
    uint64_t value = 0;
    std::memcpy(&value, &current->copies.pad_bits, element);
    warn(site, "filled_lanes", mnemonic,
         "%s fills %u bytes in the blocks of each %u bytes with elements of the bits 0x%llx.",
         mnemonic, bytes, bursts.gm_length, static_cast<unsigned long long>(value));
}

void copy_in(const char* mnemonic, void* dst, void* src, const Bursts& bursts, uint32_t left,
             uint32_t right, uint32_t element, const void* site) {
    if (current->cube) return;  // its compiler leaves copies to and from UB out
    if (bursts.count == 0 || bursts.gm_length == 0) return append_nothing(MTE2, mnemonic, site);
    check_count(bursts.count, mnemonic, site);
    Hazards hazards(MTE2, mnemonic, site);
    src = behind_l2(src);
    Transfer span{reinterpret_cast<uint64_t>(src), bursts.gm_stride, bursts.gm_length, bursts.count,
                  false};
    span.start = table_address(span);
    check_extent(dst, ub_extent(bursts), true, mnemonic, site);
    const uint32_t offset = check_ub(dst, ub_extent(bursts), BLOCK_BYTES, true, mnemonic, site);
    check_gm(span, mnemonic, site);
    if (launch().addresses) return note_cover(span);
    if (launch().checked && bursts.ub_length > bursts.gm_length)
        note_padding(bursts, left + right != 0, element, mnemonic, site);
    if (launch().checked) note_input_read(span, site);
    for_each_ub_range(bursts, offset,
                      [&](uint32_t start, uint32_t bytes) { hazards.write_ub(start, bytes); });
    hazards.read_gm(span);
    hazards.settle();
    const uint32_t record = append_transfer(span, mnemonic, site);
    uint8_t* to = current->ub + offset;
    const auto* from = static_cast<const uint8_t*>(src);
    const bool dense = bursts.gm_stride == bursts.gm_length &&
                       bursts.ub_stride == bursts.ub_length && bursts.ub_length == bursts.gm_length;
    if (dense) {
        std::memcpy(to, from, span.bytes());
    } else {
        for (uint32_t burst = 0; burst < bursts.count; ++burst) {
            uint8_t* place = to + uint64_t(burst) * bursts.ub_stride;
            std::memcpy(place + left, from + burst * bursts.gm_stride, bursts.gm_length);
            if (bursts.ub_length != bursts.gm_length)
                pad(place, left, bursts.gm_length, right, bursts.ub_length, element);
        }
    }
    for_each_ub_range(bursts, offset,
                      [&](uint32_t start, uint32_t bytes) { mark_ub_write(start, bytes, record); });
    mark_gm(MTE2, span, record);
    note_shared(span, false, site);
}

// How many bytes are equal from the front (step 1) or from the back (step -1).
uint64_t equal_bytes(const uint8_t* a, const uint8_t* b, uint64_t bytes, bool from_back) {
    constexpr uint64_t CHUNK = 64;
    uint64_t equal = 0;
    while (bytes - equal >= CHUNK) {
        const uint64_t at = from_back ? bytes - equal - CHUNK : equal;
        if (std::memcmp(a + at, b + at, CHUNK) != 0) break;
        equal += CHUNK;
    }
    while (equal < bytes) {
        const uint64_t at = from_back ? bytes - equal - 1 : equal;
        if (a[at] != b[at]) break;
        ++equal;
    }
    return equal;
}

// A contiguous store. Where cores overlap with equal values, as when each rounds its tail up, the
// later one alters nothing there: the parts are booked apart.
void store(const Transfer& span, uint8_t* to, const uint8_t* from, const void* site) {
    const uint64_t bytes = span.bytes();
    const uint64_t front = equal_bytes(to, from, bytes, false);
    const uint64_t back = front == bytes ? 0 : equal_bytes(to, from, bytes, true);
    const auto book = [&](uint64_t start, uint64_t length, bool changed) {
        if (length == 0) return;
        const auto size = static_cast<uint32_t>(length);
        note_shared({span.start + start, size, size, 1, true}, changed, site);
    };
    book(0, front, false);
    book(front, bytes - front - back, true);
    book(bytes - back, back, false);
    std::memcpy(to, from, bytes);
}

void copy_out(const char* mnemonic, void* dst, void* src, const Bursts& bursts, const void* site) {
    if (current->cube) return;
    if (bursts.count == 0 || bursts.gm_length == 0) return append_nothing(MTE3, mnemonic, site);
    Core& core = *current;
    check_count(bursts.count, mnemonic, site);
    Hazards hazards(MTE3, mnemonic, site);
    dst = behind_l2(dst);
    const Transfer span{reinterpret_cast<uint64_t>(dst),
                        bursts.gm_stride,
                        bursts.gm_length,
                        bursts.count,
                        true,
                        false,
                        Port::FROM_UB};
    check_extent(src, ub_extent(bursts), false, mnemonic, site);
    const uint32_t offset = check_ub(src, ub_extent(bursts), BLOCK_BYTES, false, mnemonic, site);
    check_gm(span, mnemonic, site);
    if (launch().addresses) return note_cover(span);
    for_each_ub_range(bursts, offset, [&](uint32_t start, uint32_t bytes) {
        check_initialised(start, bytes, mnemonic, site);
        hazards.read_ub(start, bytes);
    });
    hazards.write_gm(span);
    hazards.settle();
    const uint32_t record = append_transfer(span, mnemonic, site);
    const uint8_t* from = core.ub + offset;
    auto* to = static_cast<uint8_t*>(dst);
    const bool atomic = core.copies.atomic != AtomicOperation::NONE;
    bool changed = false;
    const bool dense = bursts.gm_stride == bursts.gm_length && bursts.ub_stride == bursts.gm_length;
    const uint32_t count = dense ? 1 : bursts.count;
    const uint64_t length = dense ? span.bytes() : bursts.gm_length;
    for (uint32_t burst = 0; burst < count; ++burst) {
        uint8_t* place = to + burst * bursts.gm_stride;
        const uint8_t* data = from + uint64_t(burst) * bursts.ub_stride;
        if (atomic) {
            warn_unordered_sum(site);
            combine(core.copies.atomic, core.copies.atomic_type, place, data, length);
        } else if (dense) {
            store(span, place, data, site);
        } else if (changed || std::memcmp(place, data, length) != 0) {
            changed = true;
            std::memcpy(place, data, length);
        }
    }
    for_each_ub_range(bursts, offset, [&](uint32_t start, uint32_t bytes) {
        mark_ub_read(MTE3, start, bytes, record);
    });
    mark_gm(MTE3, span, record);
    if (!dense || atomic) note_shared(span, changed || atomic, site, atomic);
}

Bursts block_bursts(uint16_t bursts, uint16_t length, uint32_t gm_gap, uint32_t ub_gap) {
    const uint32_t bytes = uint32_t(length) * BLOCK_BYTES;
    return {bursts, bytes, bytes + uint64_t(gm_gap) * BLOCK_BYTES, bytes,
            bytes + ub_gap * BLOCK_BYTES};
}

uint32_t whole_blocks(uint32_t bytes) {
    return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

void copy_in_aligned(const char* mnemonic, void* dst, void* src, uint16_t count, uint32_t length,
                     uint8_t left, uint8_t right, uint32_t src_gap, uint32_t dst_gap,
                     uint32_t element, const void* site) {
    if (left * element > BLOCK_BYTES || right * element > BLOCK_BYTES)
        fail(Outcome::LAUNCH_ERROR, site, nullptr,
             "%s pads by %u elements left and %u right; either may take at most 32 bytes.",
             mnemonic, left, right);
    const uint32_t taken = whole_blocks(left * element + length + right * element);
    const Bursts bursts{count, length, uint64_t(length) + src_gap, taken,
                        taken + dst_gap * BLOCK_BYTES};
    copy_in(mnemonic, dst, src, bursts, left * element, right * element, element, site);
}

void copy_out_aligned(const char* mnemonic, void* dst, void* src, uint16_t count, uint32_t length,
                      uint32_t src_gap, uint32_t dst_gap, const void* site) {
    const Bursts bursts{count, length, uint64_t(length) + dst_gap, length,
                        whole_blocks(length) + src_gap * BLOCK_BYTES};
    copy_out(mnemonic, dst, src, bursts, site);
}

}  // namespace
}  // namespace dav

using namespace dav;

void copy_gm_to_ubuf(__ubuf__ void* dst, __gm__ void* src, uint8_t, uint16_t bursts,
                     uint16_t length, uint16_t src_gap, uint16_t dst_gap) {
    copy_in("copy_gm_to_ubuf", dst, src, block_bursts(bursts, length, src_gap, dst_gap), 0, 0, 1,
            __builtin_return_address(0));
}

void copy_ubuf_to_gm(__gm__ void* dst, __ubuf__ void* src, uint8_t, uint16_t bursts,
                     uint16_t length, uint16_t src_gap, uint16_t dst_gap) {
    copy_out("copy_ubuf_to_gm", dst, src, block_bursts(bursts, length, dst_gap, src_gap),
             __builtin_return_address(0));
}

#define DAV_COPY_ALIGNED(suffix, element)                                                        \
    void copy_gm_to_ubuf_align_##suffix(__ubuf__ void* dst, __gm__ void* src, uint8_t,           \
                                        uint16_t bursts, uint32_t length, uint8_t left,          \
                                        uint8_t right, uint32_t src_gap, uint32_t dst_gap) {     \
        copy_in_aligned("copy_gm_to_ubuf_align_" #suffix, dst, src, bursts, length, left, right, \
                        src_gap, dst_gap, element, __builtin_return_address(0));                 \
    }                                                                                            \
    void copy_ubuf_to_gm_align_##suffix(__gm__ void* dst, __ubuf__ void* src, uint8_t,           \
                                        uint16_t bursts, uint32_t length, uint8_t, uint8_t,      \
                                        uint32_t src_gap, uint32_t dst_gap) {                    \
        copy_out_aligned("copy_ubuf_to_gm_align_" #suffix, dst, src, bursts, length, src_gap,    \
                         dst_gap, __builtin_return_address(0));                                  \
    }
DAV_COPY_ALIGNED(b8, 1)
DAV_COPY_ALIGNED(b16, 2)
DAV_COPY_ALIGNED(b32, 4)

void set_mov_pad_val(uint64_t bits) {
    current->copies.pad_bits = bits;
    current->copies.pad_set = true;
    current->copies.pad_stays = false;
    issue_scalar(1);
}
void dav_bypass_l2() { current->copies.bypass_l2 = true; }
void dav_pad_value_stays() { current->copies.pad_stays = true; }
void dav_no_pad_value() {
    if (!current->copies.pad_stays) current->copies.pad_set = false;
}

void copy_ubuf_to_ubuf(__ubuf__ void* dst, __ubuf__ void* src, uint8_t, uint16_t bursts,
                       uint16_t length, uint16_t src_gap, uint16_t dst_gap) {
    const void* site = __builtin_return_address(0);
    if (current->cube) return;
    if (bursts == 0 || length == 0) return append_nothing(V, "copy_ubuf_to_ubuf", site);
    check_count(bursts, "copy_ubuf_to_ubuf", site);
    const Bursts from = block_bursts(bursts, length, 0, src_gap);
    const Bursts to = block_bursts(bursts, length, 0, dst_gap);
    Hazards hazards(V, "copy_ubuf_to_ubuf", site);
    if (launch().addresses) return;
    check_extent(src, ub_extent(from), false, "copy_ubuf_to_ubuf", site);
    check_extent(dst, ub_extent(to), true, "copy_ubuf_to_ubuf", site);
    const uint32_t source =
        check_ub(src, ub_extent(from), BLOCK_BYTES, false, "copy_ubuf_to_ubuf", site);
    const uint32_t target =
        check_ub(dst, ub_extent(to), BLOCK_BYTES, true, "copy_ubuf_to_ubuf", site);
    for_each_ub_range(from, source, [&](uint32_t start, uint32_t bytes) {
        check_initialised(start, bytes, "copy_ubuf_to_ubuf", site);
        hazards.read_ub(start, bytes);
    });
    for_each_ub_range(to, target,
                      [&](uint32_t start, uint32_t bytes) { hazards.write_ub(start, bytes); });
    hazards.settle();
    Record record = Record::compute(V, "copy_ubuf_to_ubuf",
                                    Work::of(Formula::UB_COPY, uint64_t(bursts) * from.gm_length));
    record.drain = hazards.drain();
    const uint32_t number = append(record, site);
    for (uint32_t burst = 0; burst < bursts; ++burst)
        std::memmove(current->ub + target + uint64_t(burst) * to.ub_stride,
                     current->ub + source + uint64_t(burst) * from.ub_stride, from.gm_length);
    for_each_ub_range(from, source, [&](uint32_t start, uint32_t bytes) {
        mark_ub_read(V, start, bytes, number);
    });
    for_each_ub_range(to, target,
                      [&](uint32_t start, uint32_t bytes) { mark_ub_write(start, bytes, number); });
}
