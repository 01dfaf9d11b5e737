#include "message.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "fiber.h"
#include "conflicts.h"
#include "machine.h"
#include "signals.h"

namespace dav {
namespace {

constexpr uint64_t LINE = 64;
constexpr uint64_t LONGEST = 128;  // bytes of a message
constexpr int NOBODY = -1;

uint64_t workspace_start = 0;
uint64_t workspace_end = 0;

// The latest write of a line.
struct Writing {
    int core = NOBODY;
    uint32_t release = 0;
    uint32_t signal = 0;      // in Launch::points
    std::vector<bool> taken;  // by core: it is ordered after the write
};
// By line number; a line without a write was asked for only.
std::unordered_map<uint64_t, Writing> lines;

struct Look {
    uint64_t address;
    uint8_t content[LINE];  // of its line
    uint64_t line() const { return address / LINE; }
    const void* now() const { return reinterpret_cast<const void*>(line() * LINE); }
    bool changed() const { return std::memcmp(content, now(), LINE) != 0; }
};
// What a core has looked at since it did anything else.
struct Poller {
    std::vector<Look> looks;
    size_t records = 0;
};
std::vector<Poller> pollers;

bool any_changed(void* raw) {
    for (const Look& look : static_cast<Poller*>(raw)->looks)
        if (look.changed()) return true;
    return false;
}

bool in_workspace(uint64_t address) {
    return address >= workspace_start && address < workspace_end;
}

void take_message(uint64_t line, const void* site) {
    Writing& writing = lines[line];
    const auto me = static_cast<size_t>(current->index);
    if (writing.core == NOBODY || writing.core == current->index || writing.taken[me]) return;
    writing.taken[me] = true;
    receive_signal(writing.signal, "poll", site);
    order_after({{writing.core, writing.release}});
}

}  // namespace

void set_workspace(uint64_t start, uint64_t bytes) {
    workspace_start = start;
    workspace_end = start + bytes;
}

void poll_line(uint64_t address, const void* site) {
    pollers.resize(launch().cores.size());
    Poller& poller = pollers[current->index];
    // Looking at memory leaves one record, of scalar accesses.
    if (current->records.size() > poller.records + 1) poller.looks.clear();
    if (poller.looks.empty()) poller.records = current->records.size();
    const uint64_t line = address / LINE;
    const bool again = std::any_of(poller.looks.begin(), poller.looks.end(),
                                   [&](const Look& look) { return look.address == address; });
    if (again) {
        // Before others have their turn: what they write is a message, and what was read in vain
        // is no data.
        lines.try_emplace(line);
        for (const Look& look : poller.looks) forget_reads(look.line() * LINE, LINE);
        if (!any_changed(&poller)) {
            give_turn(any_changed, &poller, site);
            if (!any_changed(&poller)) return;
        }
        poller.looks.clear();
    }
    // A line of other tensors is looked at for messages once a core asks in vain.
    if (again || in_workspace(address)) take_message(line, site);
    if (poller.looks.empty()) poller.records = current->records.size();
    Look look{address, {}};
    std::memcpy(look.content, look.now(), LINE);
    poller.looks.push_back(look);
}

void note_message(const Transfer& span, const void* site) {
    if (span.count != 1 || span.length > LONGEST) return;
    const uint64_t first = span.start / LINE;
    const uint64_t last = (span.start + span.length - 1) / LINE;
    bool sent =
        in_workspace(span.start) && launch().cubes_per_block > 0 && launch().vectors_per_block > 0;
    for (uint64_t line = first; line <= last && !sent; ++line) sent = lines.count(line) > 0;
    if (!sent) return;
    Writing writing;
    writing.core = current->index;
    writing.release = release_segment();
    writing.signal = make_point(1, false);
    writing.taken.assign(launch().cores.size(), false);
    const Record& newest = current->records.back();
    const int pipe = newest.kind == Kind::SCALAR ? int(S) : newest.pipe;
    send_signal(pipe, writing.signal, "message", site);
    for (uint64_t line = first; line <= last; ++line) lines[line] = writing;
}

bool is_message_line(uint64_t address) { return lines.count(address / LINE) > 0; }

}  // namespace dav
