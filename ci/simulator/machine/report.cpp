#include "report.h"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "cover.h"
#include "decisions.h"
#include "machine.h"

namespace dav {
namespace {

std::string report_path;
std::vector<std::string> warnings;
std::set<std::pair<std::string, uint32_t>> warned;
constexpr size_t MOST_WARNINGS = 50;

std::map<std::string, std::string> taken_as;

struct Race {
    RaceKind kind;
    uint32_t site;
    uint32_t other;
    std::string message;
};
std::vector<Race> races;
constexpr size_t MOST_RACES = 10;  // a launch is not gone on with after so many

std::string hex(uint32_t offset) {
    char text[16];
    std::snprintf(text, sizeof(text), "0x%x", offset);
    return text;
}

// What a product's own steps do is done at the line that asks for the product.
const void* asked_at(const void* site) {
    return current != nullptr && current->site != nullptr ? current->site : site;
}

std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.3f", value);
    return text;
}

std::string seconds(double value) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.6f", value);
    return text;
}

template <typename Map> std::string json_map(const Map& map) {
    std::string text;
    for (const auto& [key, value] : map) {
        if (!text.empty()) text += ", ";
        text += json_string(key) + ": ";
        if constexpr (std::is_floating_point_v<std::decay_t<decltype(value)>>)
            text += number(value);
        else if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>)
            text += json_string(value);
        else
            text += std::to_string(value);
    }
    return "{" + text + "}";
}

void write(const std::string& body) {
    std::string text = "{" + body + ", \"warnings\": [";
    for (size_t i = 0; i < warnings.size(); ++i) text += (i ? ", " : "") + warnings[i];
    text += "], \"races\": [";
    for (size_t i = 0; i < races.size(); ++i)
        text += (i ? ", {\"site\": " : "{\"site\": ") + json_string(hex(races[i].site)) +
                ", \"other_site\": " + json_string(hex(races[i].other)) + ", \"scalar_read\": " +
                (races[i].kind == RaceKind::SCALAR_READ ? "true" : "false") +
                ", \"message\": " + json_string(races[i].message) + "}";
    text += "], \"decisions\": " + decisions::json(site_offset);
    if (!taken_as.empty()) text += ", \"taken_as\": " + json_map(taken_as);
    text += "}\n";
    // Written beside and renamed, so that a killed run leaves no half report.
    const std::string temporary = report_path + ".part";
    FILE* file = std::fopen(temporary.c_str(), "w");
    if (file == nullptr) _exit(3);
    const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    if (std::fclose(file) != 0 || !whole) _exit(3);
    if (std::rename(temporary.c_str(), report_path.c_str()) != 0) _exit(3);
}

}  // namespace

void take_as(const std::string& tensor, const char* dtype) { taken_as.emplace(tensor, dtype); }

void set_report_path(const std::string& path) { report_path = path; }

std::string json_string(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) {
        const unsigned char byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            quoted += '\\';
            quoted += c;
        } else if (byte < 0x20 || byte >= 0x7f) {
            char escape[8];
            std::snprintf(escape, sizeof(escape), "\\u%04x", byte);
            quoted += escape;
        } else {
            quoted += c;
        }
    }
    return quoted + "\"";
}

void fail(Outcome outcome, const void* site, const void* other, const char* format, ...) {
    static const char* const NAMES[] = {"launch_error", "race", "memory_error"};
    site = asked_at(site);
    char message[1200];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    const std::string core = current ? "core " + std::to_string(current->index) : "";
    if (outcome != Outcome::RACE && !races.empty()) {  // what was there before
        warn_pair(site, other, NAMES[int(outcome)], "", "%s", message);
        end_if_racing();
        warnings.pop_back();
    }
    write("\"outcome\": " + json_string(NAMES[int(outcome)]) + ", \"message\": " +
          json_string(message) + ", \"site\": " + json_string(hex(site_offset(site))) +
          ", \"other_site\": " + json_string(hex(site_offset(other))) +
          ", \"details\": " + json_string(core));
    _exit(0);
}

namespace {

bool told_already(const char* kind, const void* site) {
    return warnings.size() >= MOST_WARNINGS || !warned.insert({kind, site_offset(site)}).second;
}

void keep_warning(const void* site, const void* other, const char* kind, const char* subject,
                  const char* format, va_list arguments) {
    char message[600];
    std::vsnprintf(message, sizeof(message), format, arguments);
    warnings.push_back("{\"kind\": " + json_string(kind) + ", \"subject\": " +
                       json_string(subject) + ", \"site\": " + json_string(hex(site_offset(site))) +
                       ", \"other_site\": " + json_string(hex(site_offset(other))) +
                       ", \"message\": " + json_string(message) + "}");
}

bool surer(const Race& a, const Race& b) { return a.kind < b.kind; }

}  // namespace

void warn(const void* site, const char* kind, const char* subject, const char* format, ...) {
    site = asked_at(site);
    if (told_already(kind, site)) return;
    va_list arguments;
    va_start(arguments, format);
    keep_warning(site, nullptr, kind, subject, format, arguments);
    va_end(arguments);
}

void warn_pair(const void* site, const void* other, const char* kind, const char* subject,
               const char* format, ...) {
    site = asked_at(site);
    if (told_already(kind, site)) return;
    va_list arguments;
    va_start(arguments, format);
    keep_warning(site, other, kind, subject, format, arguments);
    va_end(arguments);
}

void race(RaceKind kind, const void* site, const void* other, const char* format, ...) {
    const uint32_t here = site_offset(site);
    const uint32_t there = site_offset(other);
    for (const Race& known : races)
        if (known.site == here && known.other == there) return;
    char message[1200];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    races.push_back({kind, here, there, message});
    if (races.size() >= MOST_RACES) end_if_racing();
    if (races.size() >= MOST_RACES) races.pop_back();  // all of them may be none
}

void end_if_racing() {
    std::stable_sort(races.begin(), races.end(), surer);
    if (races.empty() || races[0].kind == RaceKind::SCALAR_READ) return;
    const Race& first = races[0];
    write("\"outcome\": \"race\", \"message\": " + json_string(first.message) +
          ", \"site\": " + json_string(hex(first.site)) +
          ", \"other_site\": " + json_string(hex(first.other)) + ", \"details\": \"\"");
    _exit(0);
}

void write_report(const Profile& profile,
                  const std::vector<std::pair<std::string, double>>& members,
                  const std::vector<Unwritten>& unwritten, const HostSeconds& host) {
    std::string holes;
    for (const Unwritten& one : unwritten)
        holes += (holes.empty() ? "[" : ", [") + json_string(one.name) + ", " +
                 std::to_string(one.first) + ", " + std::to_string(one.count) + ", " +
                 std::to_string(one.bytes) + ", " + json_string(hex(one.added)) + ", " +
                 json_string(hex(one.next)) + "]";
    std::string hot;
    for (const auto& [site, cycles] : profile.hot_lines)
        hot += (hot.empty() ? "[\"" : ", [\"") + hex(site) + "\", " + number(cycles) + "]";
    std::string ran;
    for (const uint32_t site : profile.ran) ran += (ran.empty() ? "\"" : ", \"") + hex(site) + "\"";
    write(
        "\"outcome\": \"ok\", \"message\": \"\", \"site\": \"0x0\", \"other_site\": \"0x0\", "
        "\"details\": \"\", \"total_cycles\": " +
        std::to_string(static_cast<int64_t>(profile.total_cycles + 0.5)) + ", \"core_cycles\": " +
        number(profile.core_cycles) + ", \"block_dim\": " + std::to_string(profile.block_dim) +
        ", \"busy_cycles\": " + json_map(profile.busy_cycles) + ", \"wait_cycles\": " +
        json_map(profile.wait_cycles) + ", \"instructions\": " + json_map(profile.instructions) +
        ", \"gm_read_bytes\": " + std::to_string(profile.gm_read_bytes) +
        ", \"gm_write_bytes\": " + std::to_string(profile.gm_write_bytes) +
        ", \"tensor_write_bytes\": " + std::to_string(profile.tensor_write_bytes) +
        ", \"hbm_bytes\": " + std::to_string(profile.hbm_bytes) +
        ", \"first_read_bytes\": " + std::to_string(profile.first_read_bytes) +
        ", \"first_written_bytes\": " + std::to_string(profile.first_written_bytes) +
        ", \"bank_conflict_cycles\": " + number(profile.bank_conflict_cycles) +
        ", \"inserted_waits\": " + std::to_string(profile.inserted_waits) +
        ", \"inserted_barriers\": " + std::to_string(profile.inserted_barriers) +
        ", \"workspace_unused_bytes\": " + std::to_string(profile.workspace_unused_bytes) +
        ", \"ub_peak_bytes\": " + std::to_string(profile.ub_peak_bytes) +
        ", \"imbalance\": " + number(profile.imbalance) + ", \"hot_lines\": [" + hot +
        "], \"ran\": [" + ran + "], \"members\": " + json_map(members) + ", \"unwritten\": [" +
        holes + "], \"host_seconds\": {\"load\": " + seconds(host.load) +
        ", \"execute\": " + seconds(host.execute) + ", \"timing\": " + seconds(host.timing) +
        ", \"members\": " + seconds(host.members) + ", \"store\": " + seconds(host.store) + "}");
}

void write_cover() { write("\"outcome\": \"ok\", \"cover\": " + cover_json()); }

}  // namespace dav
