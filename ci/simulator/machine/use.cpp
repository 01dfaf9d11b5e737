#include "use.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "cover.h"
#include "gm_allocations.h"

namespace dav {
namespace {

constexpr size_t MOST_TOLD = 3;

// What instructions of one line wrote into UB, in bytes.
struct Written {
    uint64_t bytes = 0;
    uint64_t unused = 0;
    uint32_t writer = 0;  // a record
    uint32_t reader = 0;  // the latest of the rest, or 0
    int core = 0;         // of both
};
std::map<uint32_t, Written> written;      // by site
std::map<uint64_t, const void*> readers;  // of an input, by its start: the latest copy

// The record that last read a block.
uint32_t latest_reader(const LocalMemory& local, uint32_t block) {
    uint32_t latest = 0;
    for (const auto& tags : local.reader) latest = std::max(latest, tags[block]);
    return latest;
}

const char* name_of(const Record& record) { return mnemonic_names()[record.name]; }

}  // namespace

void note_overwritten(uint32_t first_block, uint32_t end_block, uint32_t record) {
    const LocalMemory& local = *current->local;
    Written* one = nullptr;
    uint32_t known = 0;
    for (uint32_t block = first_block; block < end_block; ++block) {
        const uint32_t writer = local.writer[block];
        if (writer == 0 || writer == record) continue;
        if (writer != known || one == nullptr) {
            known = writer;
            const Record& by = current->records[writer];
            // One record stands for many scalar stores.
            one = by.kind == Kind::SCALAR ? nullptr : &written[by.site];
            if (one != nullptr) one->writer = writer, one->core = current->index;
        }
        if (one == nullptr) continue;
        one->bytes += BLOCK_BYTES;
        // An instruction reads what it writes over before it writes.
        const uint32_t reader = latest_reader(local, block);
        if (reader <= writer)
            one->unused += BLOCK_BYTES;
        else
            one->reader = reader;
    }
}

void LeftOver::read(uint32_t offset, uint32_t bytes) {
    const LocalMemory& local = *current->local;
    const uint32_t end = (offset + bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
    for (uint32_t block = offset / BLOCK_BYTES; block < end; ++block) {
        const uint32_t writer = local.writer[block];
        if (writer == 0) continue;
        const int pipe = current->records[writer].pipe;
        if (pipe != MTE2 && pipe != MTE1) continue;
        (latest_reader(local, block) > writer ? old_ : fresh_) += BLOCK_BYTES;
    }
}

void LeftOver::tell(const char* mnemonic, const void* site) const {
    if (fresh_ != 0 && old_ != 0)
        warn(site, "left_over", mnemonic,
             "%s reads %llu bytes that were copied since, and with them %llu bytes of an earlier "
             "copy, which were read already.",
             mnemonic, static_cast<unsigned long long>(fresh_),
             static_cast<unsigned long long>(old_));
}

void note_left() { note_overwritten(0, current->local->blocks, 0); }

void note_input_read(const Transfer& span, const void* site) {
    const Allocation* one = find_allocation(span.start);
    if (one == nullptr || one->role != GmRole::INPUT) return;
    if (span.end() > one->start + one->bytes)
        warn(site, "behind", "", "%llu bytes behind the %llu bytes of %s are read here.",
             static_cast<unsigned long long>(span.end() - one->start - one->bytes),
             static_cast<unsigned long long>(one->bytes), one->name.c_str());
    note_cover(span);
    readers[one->start] = site;
}

void warn_unused() {
    std::vector<std::pair<uint32_t, Written>> most;
    for (const auto& one : written)
        if (one.second.unused != 0) most.push_back(one);
    std::sort(most.begin(), most.end(),
              [](const auto& a, const auto& b) { return a.second.unused > b.second.unused; });
    for (size_t i = 0; i < std::min(most.size(), MOST_TOLD); ++i) {
        const auto& [site, one] = most[i];
        const std::vector<Record>& records = launch().cores[one.core]->records;
        const Record& writer = records[one.writer];
        const Record& reader = one.reader == 0 ? writer : records[one.reader];
        const std::string part =
            one.reader == 0 ? "them"
                            : "the rest, which " + std::string(name_of(reader)) + " leaves out";
        warn_pair(site_address(reader.site), site_address(site), "unused", name_of(reader),
                  "Of the %llu bytes that %s writes, %llu are read; nothing reads %s.",
                  static_cast<unsigned long long>(one.bytes), name_of(writer),
                  static_cast<unsigned long long>(one.bytes - one.unused), part.c_str());
    }
    for (const auto& [start, site] : readers) {
        const Allocation& one = *find_allocation(start);
        const Hole hole = unread(one);
        if (hole.bytes == 0) continue;
        warn(site, "unread", "",
             "Of the %llu bytes of %s the kernel reads all but %llu; the first of these is byte "
             "%llu. The latest copy of it is here.",
             static_cast<unsigned long long>(one.bytes), one.name.c_str(),
             static_cast<unsigned long long>(hole.bytes),
             static_cast<unsigned long long>(hole.first));
    }
}

}  // namespace dav
