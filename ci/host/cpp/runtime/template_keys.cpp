// Template tiling keys: from arguments to a key, and what a key that the tiling sets stands for.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "ascendc/host_api/tiling/template_argument.h"
#include "detail/log.h"
#include "runtime/runtime.h"

namespace {
using ascendopt_host::TemplateKind;

constexpr uint64_t kInvalid = ~uint64_t{0};
constexpr unsigned kKeyBits = 64;
constexpr int64_t kSomeTensors = 100000000;  // ASCENDC_TPL_INPUT(0): the dtype of that tensor

struct Parameter {
    std::string name;
    TemplateKind kind;
    unsigned bits;
    std::vector<int64_t> values;
    bool operator==(const Parameter& o) const {
        return name == o.name && kind == o.kind && bits == o.bits && values == o.values;
    }
};
using Parameters = std::vector<Parameter>;
using Values = std::vector<int64_t>;

struct Choice {
    unsigned declaration;
    Values values;
};

std::vector<Parameters>& declarations() {
    static std::vector<Parameters> all;
    return all;
}

std::vector<Parameters>& selections() {
    static std::vector<Parameters> all;
    return all;
}

std::map<uint64_t, Choice>& choices() {
    static std::map<uint64_t, Choice> all;
    return all;
}

// The values of a UINT: ASCENDC_TPL_UI_LIST before them, or ranges with their number, or both.
Values numbers(const Values& listed) {
    if (listed.empty() || listed[0] == ASCENDC_TPL_UI_LIST)
        return Values(listed.begin() + !listed.empty(), listed.end());
    constexpr size_t kFirst = 2;
    constexpr int64_t kMost = 1 << 16;
    const size_t ranges = listed.size() > 1 ? static_cast<size_t>(listed[1]) : 0;
    Values all;
    size_t at = kFirst;
    for (size_t i = 0; i < ranges && at + 1 < listed.size(); ++i, at += 2) {
        for (int64_t v = listed[at]; v <= listed[at + 1] && v - listed[at] < kMost; ++v)
            all.push_back(v);
    }
    if (listed[0] == ASCENDC_TPL_UI_MIX)
        for (; at < listed.size(); ++at) all.push_back(listed[at]);
    return all;
}

Parameters read(std::initializer_list<ascendopt_host::TemplateParameter> given) {
    Parameters all;
    for (const auto& one : given) {
        Values values;
        for (const auto& word : one.values) values.push_back(word.value);
        if (one.kind == TemplateKind::kUINT) values = numbers(values);
        all.push_back({one.name, one.kind, one.bits, values});
    }
    return all;
}

bool holds(const Values& values, int64_t value) {
    return std::any_of(values.begin(), values.end(),
                       [value](int64_t v) { return v == value || v >= kSomeTensors; });
}

// Whether a selection speaks of these arguments.
bool of(const Parameters& selection, const Parameters& declared) {
    return std::all_of(declared.begin(), declared.end(), [&selection](const Parameter& p) {
        return std::any_of(selection.begin(), selection.end(),
                           [&p](const Parameter& s) { return s.name == p.name; });
    });
}

// Whether the build makes a kernel for a choice; where nothing is selected nobody knows.
bool selected(const Choice& choice) {
    const Parameters& declared = declarations()[choice.declaration];
    bool some = false;
    for (const Parameters& selection : selections()) {
        if (!of(selection, declared)) continue;
        some = true;
        bool all = true;
        for (size_t i = 0; i < choice.values.size(); ++i)
            for (const Parameter& p : selection)
                if (p.name == declared[i].name) all = all && holds(p.values, choice.values[i]);
        if (all) return true;
    }
    return !some;
}

// What a key that the tiling did not ask for stands for, by the only declaration.
bool decode(uint64_t key, Choice* choice) {
    if (declarations().size() != 1 || key == kInvalid) return false;
    unsigned at = 0;
    for (const Parameter& p : declarations()[0]) {
        const uint64_t field = at < kKeyBits ? key >> at : 0;
        const uint64_t word = p.bits < kKeyBits ? field & ((uint64_t{1} << p.bits) - 1) : field;
        if (p.kind == TemplateKind::kUINT && word >= p.values.size()) return false;
        choice->values.push_back(p.kind == TemplateKind::kUINT ? p.values[word]
                                                               : static_cast<int64_t>(word));
        at += p.bits;
    }
    choice->declaration = 0;
    return at >= kKeyBits || key >> at == 0;
}

const char* word_of(TemplateKind kind) {
    static const char* const words[] = {"DTYPE", "DATATYPE", "FORMAT", "UINT", "BOOL", "NONE"};
    return words[static_cast<size_t>(kind)];
}
}  // namespace

ascendopt_host::TemplateDeclaration::TemplateDeclaration(
    std::initializer_list<TemplateParameter> parameters) {
    auto& all = declarations();
    const Parameters mine = read(parameters);
    const auto known = std::find(all.begin(), all.end(), mine);
    number = static_cast<unsigned>(known - all.begin());
    if (known == all.end()) all.push_back(mine);
}

ascendopt_host::TemplateSelections::TemplateSelections(
    std::initializer_list<TemplateSelection> given) {
    for (const TemplateSelection& one : given) selections().push_back(read(one));
}

uint64_t ascendopt_host::template_key(const TemplateDeclaration& declared,
                                      std::initializer_list<TemplateWord> words) {
    const Parameters& parameters = declarations()[declared.number];
    uint64_t key = 0;
    unsigned at = 0;
    Choice choice{declared.number, {}};
    for (const TemplateWord& word : words) {
        if (choice.values.size() == parameters.size()) break;
        const Parameter& p = parameters[choice.values.size()];
        uint64_t code = static_cast<uint64_t>(word.value);
        if (p.kind == TemplateKind::kUINT) {
            const auto place = std::find(p.values.begin(), p.values.end(), word.value);
            if (place == p.values.end()) {
                ascendopt_log(DLOG_ERROR, "ASCENDC_TPL_UINT_DECL of %s has no value %lld.",
                              p.name.c_str(), static_cast<long long>(word.value));
                return kInvalid;
            }
            code = static_cast<uint64_t>(place - p.values.begin());
        }
        if (at < kKeyBits) key |= code << at;
        at += p.bits;
        choice.values.push_back(word.value);
    }
    if (at > kKeyBits) {
        ascendopt_log(DLOG_ERROR, "A template tiling key of %u bits does not fit 64.", at);
        return kInvalid;
    }
    choices()[key] = choice;
    return key;
}

std::string host::template_choice(uint64_t key) {
    const auto found = choices().find(key);
    Choice choice{0, {}};
    if (found != choices().end()) {
        choice = found->second;
    } else if (!decode(key, &choice)) {
        return "\"template_arguments\":null,\"template_selected\":" +
               std::string(declarations().empty() ? "true" : "false");
    }
    std::string all;
    for (size_t i = 0; i < choice.values.size(); ++i) {
        const Parameter& p = declarations()[choice.declaration][i];
        if (p.kind == TemplateKind::kNONE) continue;
        all += (all.empty() ? "[\"" : ",[\"") + std::string(word_of(p.kind)) + "\"," +
               std::to_string(choice.values[i]) + "]";
    }
    return "\"template_arguments\":[" + all +
           "],\"template_selected\":" + (selected(choice) ? "true" : "false");
}
