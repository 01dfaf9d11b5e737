#include "timeline.h"

#include <cstdio>

#include "machine.h"
#include "report.h"

namespace dav {
namespace {

// A viewer gets slow beyond; about 40 MB of text.
constexpr size_t MOST_LINES = 300000;

const char* kind_of(const Core& core) { return core.cube ? "cube" : "vector"; }

void write_totals(FILE* file, const Core& core, const CoreTimer& timer) {
    const Launch& shared = launch();
    uint64_t read = core.scalar.read_bytes;
    uint64_t written = core.scalar.write_bytes;
    uint64_t copies[PIPES] = {};
    for (const Record& record : core.records) {
        if (record.kind != Kind::TRANSFER) continue;
        const Transfer& transfer = core.transfers[record.argument];
        (transfer.write ? written : read) += transfer.bytes();
        ++copies[record.pipe];
    }
    const size_t each = size_t(shared.cubes_per_block + shared.vectors_per_block);
    std::fprintf(file,
                 "{\"core\": %d, \"kind\": \"%s\", \"block\": %d, \"sub_block\": %zu, "
                 "\"begin\": %.2f, \"end\": %.2f, \"conflict\": %.2f, \"bank\": %.2f, "
                 "\"read_bytes\": %llu, \"write_bytes\": %llu",
                 core.index, kind_of(core), core.block, size_t(core.index) % each,
                 timer.start_time(), timer.end_time(), timer.conflict_cycles(), timer.bank_cycles(),
                 static_cast<unsigned long long>(read), static_cast<unsigned long long>(written));
    std::fprintf(file, ", \"busy\": {");
    const char* comma = "";
    for (int pipe = 0; pipe < PIPES; ++pipe) {
        if (timer.busy(pipe) <= 0) continue;
        std::fprintf(file, "%s\"%s\": %.2f", comma, pipe_name(pipe), timer.busy(pipe));
        comma = ", ";
    }
    std::fprintf(file, "}, \"copies\": {");
    comma = "";
    for (int pipe = 0; pipe < PIPES; ++pipe) {
        if (copies[pipe] == 0) continue;
        std::fprintf(file, "%s\"%s\": %llu", comma, pipe_name(pipe),
                     static_cast<unsigned long long>(copies[pipe]));
        comma = ", ";
    }
    std::fprintf(file, "}, \"waits\": {");
    comma = "";
    for (const auto& [pair, cycles] : timer.waits()) {
        const char* peer = pair.second == CoreTimer::SYNC ? "OTHER_CORES" : pipe_name(pair.second);
        std::fprintf(file, "%s\"%s<-%s\": %.2f", comma, pipe_name(pair.first), peer, cycles);
        comma = ", ";
    }
    std::fprintf(file, "}}\n");
}

void write_spans(FILE* file, const Core& core, const CoreTimer& timer) {
    for (const Span& span : timer.spans()) {
        const Record& record = core.records[span.record];
        const uint64_t bytes =
            record.kind == Kind::TRANSFER ? core.transfers[record.argument].bytes() : 0;
        std::fprintf(file,
                     "{\"core\": %d, \"pipe\": \"%s\", \"name\": \"%s\", \"start\": %.2f, "
                     "\"end\": %.2f, \"site\": \"0x%x\", \"bytes\": %llu}\n",
                     core.index, pipe_name(record.pipe), mnemonic_names()[record.name], span.start,
                     span.end, record.site, static_cast<unsigned long long>(bytes));
    }
    for (const Link& link : timer.links())
        std::fprintf(file,
                     "{\"core\": %d, \"from\": \"%s\", \"to\": \"%s\", \"event\": %d, "
                     "\"set\": %.2f, \"until\": %.2f}\n",
                     core.index, pipe_name(link.from), pipe_name(link.to), link.event, link.set,
                     link.until);
}

}  // namespace

void write_timeline(const std::string& path,
                    const std::vector<std::unique_ptr<CoreTimer>>& timers) {
    FILE* file = std::fopen(path.c_str(), "w");
    if (file == nullptr)
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr, "The timeline %s cannot be written.",
             path.c_str());
    size_t lines = 0;
    for (size_t i = 0; i < timers.size(); ++i) write_totals(file, *launch().cores[i], *timers[i]);
    for (size_t i = 0; i < timers.size(); ++i) {
        const size_t more = timers[i]->spans().size() + timers[i]->links().size();
        if (i > 0 && lines + more > MOST_LINES) break;
        lines += more;
        write_spans(file, *launch().cores[i], *timers[i]);
    }
    std::fclose(file);
}

}  // namespace dav
