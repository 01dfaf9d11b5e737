#pragma GCC optimize("O3")
#include "hazard.h"

#include <algorithm>
#include <cstdio>

#include "data_cache.h"
#include "gm.h"
#include "use.h"

namespace dav {
namespace {

constexpr int READER_PIPE[LOCAL_READERS] = {S, V, MTE3, MTE1, M, FIX};
constexpr int READER_INDEX[PIPES] = {0, 1, 4, 3, 2, 2, 0, 5};

uint32_t first_block(uint32_t offset) { return offset / BLOCK_BYTES; }
uint32_t end_block(uint32_t offset, uint32_t bytes) {
    return (offset + bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
}

// The two scans that nearly every instruction is through with: shadows of a whole tile, mostly
// written by one record or read before what the pipe has waited for. Both run over eight blocks at
// a time.
bool all_equal(const uint32_t* tags, uint32_t count) {
    uint32_t different = 0;
    for (uint32_t i = 1; i < count; ++i) different |= tags[i] ^ tags[0];
    return different == 0;
}
uint32_t latest(const uint32_t* tags, uint32_t count) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < count; ++i) most = std::max(most, tags[i]);
    return most;
}

// Does one burst [low, high) meet any burst of `span`?
bool meets(uint64_t low, uint64_t high, const Transfer& span) {
    if (low >= span.end() || high <= span.start) return false;
    if (span.count == 1 || span.stride <= span.length) return true;
    const uint64_t first = low > span.start ? (low - span.start) / span.stride : 0;
    for (uint64_t burst = first; burst < span.count && burst <= first + 1; ++burst) {
        const uint64_t start = span.start + burst * span.stride;
        if (low < start + span.length && high > start) return true;
    }
    return high - low >= span.stride;
}

// A wait of `pipe` for a record of `peer` (its own pipe: for all before).
Record record_of_wait(int pipe, int peer, uint32_t number, const char* name) {
    Record wait = Record::between(pipe == peer ? Kind::BARRIER : Kind::DEPEND, pipe, peer, name);
    wait.argument = number;
    return wait;
}

}  // namespace

bool overlap(const Transfer& a, const Transfer& b) {
    if (a.start >= b.end() || b.start >= a.end()) return false;
    const Transfer& few = a.count <= b.count ? a : b;
    const Transfer& many = a.count <= b.count ? b : a;
    for (uint32_t burst = 0; burst < few.count; ++burst) {
        const uint64_t low = few.start + burst * few.stride;
        if (meets(low, low + few.length, many)) return true;
    }
    return false;
}

std::string describe_ub(uint32_t offset, uint32_t bytes) {
    char text[160];
    for (int memory = int(Memory::L1); memory <= int(Memory::FIXBUF); ++memory) {
        const MemoryPlace& place = MEMORIES[memory];
        if (offset < place.start || offset >= place.start + place.bytes) continue;
        std::snprintf(text, sizeof(text), "bytes 0x%x..0x%x of %s", offset - place.start,
                      offset - place.start + bytes - 1, place.name);
        return text;
    }
    const char* buffer = "";
    for (const BufferNote& note : current->buffers)
        if (offset >= note.offset && offset < note.offset + note.bytes) buffer = note.name.c_str();
    std::snprintf(text, sizeof(text), "UB bytes 0x%x..0x%x%s%.60s%s", offset, offset + bytes - 1,
                  *buffer ? " (buffer " : "", buffer, *buffer ? ")" : "");
    return text;
}

Hazards::Hazards(int pipe, const char* mnemonic, const void* site)
    : pipe_(pipe), mnemonic_(mnemonic), site_(site) {
    // The scalar unit dispatches in order: what it has waited for, later instructions find done.
    Clock& mine = current->order.clocks[pipe];
    const Clock& scalar = current->order.clocks[S];
    for (int other = 0; other < PIPES; ++other)
        mine.seen[other] = std::max(mine.seen[other], scalar.seen[other]);
}

void Hazards::need(int pipe, uint32_t record, Hazard kind, uint64_t address, bool gm) {
    if (unit_flag_ && !gm && pipe != pipe_ && (pipe == M || pipe == FIX)) {
        flagged_[pipe] = std::max(flagged_[pipe], record);
        return;
    }
    if (record <= needed_[pipe]) return;
    needed_[pipe] = record;
    kind_[pipe] = kind;
    address_[pipe] = address;
    gm_[pipe] = gm;
}

void Hazards::check_watches(uint32_t start, uint32_t end, bool write) const {
    for (const uint64_t watch : current->watched.values) {
        // From the block behind the first one named to the last one named, both in 32 bytes.
        const auto low = static_cast<uint32_t>(watch >> 48) + 1;
        const auto high = static_cast<uint32_t>(watch >> 32 & 0xffff) + 1;
        const int read_bit = pipe_ == S ? 31 : pipe_ == V ? 29 : 27;
        const bool asked = watch >> (read_bit - write) & 1;
        if (!(watch & 1) || !asked || end <= low || start >= high) continue;
        fail(Outcome::MEMORY_ERROR, site_, nullptr,
             "%s on %s %s %s, which CheckLocalMemoryIA watches.", mnemonic_, pipe_name(pipe_),
             write ? "writes" : "reads",
             describe_ub(std::max(start, low) * BLOCK_BYTES, BLOCK_BYTES).c_str());
    }
}

void Hazards::read_ub(uint32_t offset, uint32_t bytes) {
    const Clock& clock = current->order.clocks[pipe_];
    const uint32_t start = first_block(offset);
    uint32_t end = end_block(offset, bytes);
    if (current->watched.any) check_watches(start, end, false);
    // Equal tags give the same answer: the first block stands for all.
    if (end > start && all_equal(&current->local->writer[start], end - start)) end = start + 1;
    uint32_t known = 0;
    for (uint32_t block = start; block < end; ++block) {
        const uint32_t record = current->local->writer[block];
        if (record == known) continue;
        known = record;
        const int pipe = current->records[record].pipe;
        if (record > clock.seen[pipe] && (pipe != pipe_ || pipe == V || small_sum_))
            need(pipe, record, Hazard::READ_AFTER_WRITE, uint64_t(block) * BLOCK_BYTES, false);
    }
}

void Hazards::write_ub(uint32_t offset, uint32_t bytes) {
    const Clock& clock = current->order.clocks[pipe_];
    const uint32_t start = first_block(offset);
    const uint32_t end = end_block(offset, bytes);
    if (current->watched.any) check_watches(start, end, true);
    const bool one_writer = end > start && all_equal(&current->local->writer[start], end - start);
    const uint32_t writers_end = one_writer ? start + 1 : end;
    uint32_t known = 0;
    for (uint32_t block = start; block < writers_end; ++block) {
        const uint32_t record = current->local->writer[block];
        if (record == known) continue;
        known = record;
        const int pipe = current->records[record].pipe;
        if (record <= clock.seen[pipe]) continue;
        if (pipe == pipe_ && pipe == MTE2)
            overlaps_own_copy(describe_ub(block * BLOCK_BYTES, BLOCK_BYTES).c_str());
        else if (pipe == pipe_)
            drain_ = drain_ || pipe == V;  // in order on one pipe: stalls, is no race
        else
            need(pipe, record, Hazard::WRITE_AFTER_WRITE, uint64_t(block) * BLOCK_BYTES, false);
    }
    for (int index = 0; index < LOCAL_READERS; ++index) {
        const int pipe = READER_PIPE[index];
        if (pipe == pipe_) continue;
        const uint32_t seen = clock.seen[pipe];
        if (latest(&current->local->reader[index][start], end - start) <= seen) continue;
        for (uint32_t block = start; block < end; ++block)
            if (current->local->reader[index][block] > seen)
                need(pipe, current->local->reader[index][block], Hazard::WRITE_AFTER_READ,
                     uint64_t(block) * BLOCK_BYTES, false);
    }
}

void Hazards::overlaps_own_copy(const char* where) {
    if (told_ || launch().auto_sync || current->ordered_by_data) return;
    told_ = true;
    warn(
        site_, "copy_order", mnemonic_,
        "%s overwrites what a copy before it on %s wrote at %s; without a PipeBarrier between them "
        "either may come last.",
        mnemonic_, pipe_name(pipe_), where);
}

void Hazards::read_gm(const Transfer& span) {
    if (pipe_ != S) past_cache(span, mnemonic_, site_);
    for (int pipe = 0; pipe < PIPES; ++pipe) {
        if (pipe == pipe_) continue;
        const uint32_t count = std::min<uint32_t>(current->order.recent_count[pipe][1], RECENT);
        for (uint32_t i = 0; i < count; ++i) {
            const RecentAccess& other = current->local->recent[pipe][1][i];
            if (other.record > current->order.clocks[pipe_].seen[pipe] && overlap(span, other.span))
                need(pipe, other.record, Hazard::READ_AFTER_WRITE, other.low, true);
        }
    }
}

void Hazards::write_gm(const Transfer& span) {
    if (pipe_ != S) past_cache(span, mnemonic_, site_);
    // What was written is overwritten soon or not at all: the latest few of its own pipe will do.
    constexpr uint32_t OWN = 4;
    const uint32_t own = current->order.recent_count[pipe_][1];
    for (uint32_t i = 0; pipe_ == MTE3 && i < std::min(own, OWN); ++i) {
        if (current->copies.atomic != AtomicOperation::NONE) break;
        const RecentAccess& other = current->local->recent[pipe_][1][(own - 1 - i) % RECENT];
        if (other.record > current->order.clocks[pipe_].seen[pipe_] && overlap(span, other.span))
            overlaps_own_copy(describe_gm(std::max(span.start, other.low)).c_str());
    }
    for (int pipe = 0; pipe < PIPES; ++pipe) {
        if (pipe == pipe_) continue;
        for (int write = 0; write < 2; ++write) {
            const uint32_t count =
                std::min<uint32_t>(current->order.recent_count[pipe][write], RECENT);
            for (uint32_t i = 0; i < count; ++i) {
                const RecentAccess& other = current->local->recent[pipe][write][i];
                if (other.record > current->order.clocks[pipe_].seen[pipe] &&
                    overlap(span, other.span))
                    need(pipe, other.record,
                         write ? Hazard::WRITE_AFTER_WRITE : Hazard::WRITE_AFTER_READ, other.low,
                         true);
            }
        }
    }
}

void Hazards::after(int pipe, uint32_t record) {
    if (record > current->order.clocks[pipe_].seen[pipe])
        need(pipe, record, Hazard::READ_AFTER_WRITE, 0, false);
}

// Waits for one record of another pipe (its own: for all before) without an instruction.
void Hazards::wait_for(int pipe, uint32_t record, const char* name) {
    Record wait = record_of_wait(pipe_, pipe, record, name);
    // The fixpipe holds an instruction that waits for unit flags: its pipe counts as busy.
    wait.drain = pipe_ == FIX && unit_flag_;
    append(wait, site_);
    Clock& mine = current->order.clocks[pipe_];
    uint32_t& seen = mine.seen[pipe];
    seen = std::max(seen, pipe == pipe_ ? current->order.last[pipe] : record);
    // What the other pipe waited for before its latest record is complete with that record.
    if (pipe == pipe_ || record != current->order.last[pipe]) return;
    for (int other = 0; other < PIPES; ++other)
        mine.seen[other] = std::max(mine.seen[other], current->order.clocks[pipe].seen[other]);
}

void Hazards::finish(int pipe) {
    const uint32_t last = current->order.last[pipe];
    if (last > current->order.clocks[pipe_].seen[pipe]) wait_for(pipe, last, "register");
}

std::string Hazards::told(int pipe) const {
    static const char* const VERB[] = {"reads what %s on %s wrote",
                                       "overwrites what %s on %s reads",
                                       "overwrites what %s on %s wrote"};
    char verb[160];
    const Record& other = current->records[needed_[pipe]];
    std::snprintf(verb, sizeof(verb), VERB[int(kind_[pipe])], mnemonic_names()[other.name],
                  pipe_name(pipe));
    const std::string where = gm_[pipe]
                                  ? "global memory"
                                  : describe_ub(static_cast<uint32_t>(address_[pipe]), BLOCK_BYTES);
    return std::string(mnemonic_) + " on " + pipe_name(pipe_) + " " + verb + " at " + where;
}

// Whether a flag of another pipe, whose latest record this instruction must wait for as well,
// orders the two: that pipe has waited for this one.
bool Hazards::covered(int pipe, const std::array<bool, PIPES>& left_out) const {
    for (int other = 0; other < PIPES; ++other)
        if (other != pipe && other != S && !left_out[other] && needed_[other] != 0 &&
            needed_[other] == current->order.last[other] &&
            current->order.clocks[other].seen[pipe] >= needed_[pipe])
            return true;
    return false;
}

void Hazards::settle() {
    std::array<bool, PIPES> left_out{};
    // A unit flag is hardware between two pipes.
    for (const int pipe : {int(M), int(FIX)})
        if (flagged_[pipe] != 0) wait_for(pipe, flagged_[pipe], "unit_flag");
    const bool flagged = flagged_[M] != 0 || flagged_[FIX] != 0;
    for (int pipe = 0; pipe < PIPES; ++pipe) {
        if (needed_[pipe] == 0) continue;
        // What the flagged instruction waited for itself.
        if (flagged && needed_[pipe] <= current->order.clocks[pipe_].seen[pipe]) continue;
        if (current->ordered_by_data) {
            wait_for(pipe, needed_[pipe], "data");
            continue;
        }
        const Record& other = current->records[needed_[pipe]];
        const void* there = site_address(other.site);
        if (!launch().auto_sync) {
            const char* mend = pipe == pipe_ ? "a pipe_barrier" : "a set_flag/wait_flag pair";
            const bool scalar = pipe == S || pipe_ == S;
            const bool read = pipe == S && kind_[pipe] == Hazard::WRITE_AFTER_READ;
            left_out[pipe] = covered(pipe, left_out);
            if (!left_out[pipe])
                race(read     ? RaceKind::SCALAR_READ
                     : scalar ? RaceKind::SCALAR
                              : RaceKind::BETWEEN,
                     site_, there,
                     "%s, and no flag or barrier orders the two on core %d; it needs %s from %s to "
                     "%s.",
                     told(pipe).c_str(), current->index, mend, pipe_name(pipe), pipe_name(pipe_));
            Clock& mine = current->order.clocks[pipe_];
            mine.seen[pipe] = std::max(mine.seen[pipe], needed_[pipe]);
            continue;
        }
        if (pipe != pipe_ && pipe != S && pipe_ != S)
            warn_pair(site_, there, "compiler_order", mnemonic_,
                      "%s, and only the compiler's automatic synchronisation orders the two; a "
                      "set_flag/wait_flag pair from %s to %s would.",
                      told(pipe).c_str(), pipe_name(pipe), pipe_name(pipe_));
        // The compiler sees the source, not the addresses: it waits for all that was issued on
        // the other pipe, so leaving synchronisation to it never beats writing it. It costs the
        // scalar unit a set and a wait.
        issue_scalar(1);
        append(record_of_wait(pipe_, pipe, current->order.last[pipe], "inserted_wait"), site_);
        ++launch().inserted_waits;
        launch().inserted_barriers += pipe == pipe_;
        uint32_t& seen = current->order.clocks[pipe_].seen[pipe];
        seen = std::max(seen, current->order.last[pipe]);
    }
}

void mark_ub_read(int pipe, uint32_t offset, uint32_t bytes, uint32_t record) {
    uint32_t* tags = current->local->reader[READER_INDEX[pipe]].data();
    std::fill(tags + first_block(offset), tags + end_block(offset, bytes), record);
}

void mark_ub_write(uint32_t offset, uint32_t bytes, uint32_t record) {
    const uint32_t start = first_block(offset);
    const uint32_t end = end_block(offset, bytes);
    LocalMemory& local = *current->local;
    if (launch().checked && !current->ordered_by_data) note_overwritten(start, end, record);
    std::fill(local.writer.data() + start, local.writer.data() + end, record);
    std::fill(local.initialised.data() + start, local.initialised.data() + end, uint8_t(1));
}

void mark_gm(int pipe, const Transfer& span, uint32_t record) {
    uint32_t& count = current->order.recent_count[pipe][span.write];
    current->local->recent[pipe][span.write][count++ % RECENT] = {span.start, span.end(), span,
                                                                  record};
}

}  // namespace dav
