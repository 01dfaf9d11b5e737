// The constants of the simulated chip, by their dotted names in rules/devices/<device>.toml.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

namespace dav {

// Cost of a vector instruction: cycles a repeat, and cycles from its last issue to its result.
struct VectorCost {
    float cycles;
    float latency;
};

class Constants {
public:
    // Reads `name<TAB>value` lines; values that are not numbers are passed over. Returns a
    // sentence when the file cannot be read, else an empty string.
    std::string load(const std::string& path);
    // The value of a constant; a missing one ends the launch with a sentence that names it.
    double get(const std::string& name) const;
    // Replaces a constant that there is; a missing one ends the launch like `get`.
    void set(const std::string& name, double value);
    // Whether the constant has been asked for since the last `forget_uses`.
    bool used(const std::string& name) const { return used_.count(name) != 0; }
    void forget_uses() { used_.clear(); }
    // vector.<mnemonic>.<dtype>, else vector.<mnemonic>, else the same with the mnemonic cut at
    // its first underscore (vcmp, vcmpv). Without such a row the launch ends with a sentence that
    // names it.
    VectorCost vector_cost(const char* mnemonic, const char* dtype) const;

private:
    double resolve(const std::string& mnemonic, const std::string& dtype, const char* what) const;

    double noted(const std::string& name, double value) const;

    std::unordered_map<std::string, double> values_;
    mutable std::unordered_set<std::string> used_;
};

// Those of the device, which the launch is executed and first timed with.
Constants& constants();

}  // namespace dav
