#include "constants.h"

#include <cstdlib>
#include <fstream>

#include "core.h"

namespace dav {

Constants& constants() {
    static Constants instance;
    return instance;
}

std::string Constants::load(const std::string& path) {
    std::ifstream file(path);
    if (!file) return "the constants file " + path + " cannot be read";
    std::string line;
    while (std::getline(file, line)) {
        const size_t tab = line.find('\t');
        if (tab == std::string::npos) continue;
        const std::string text = line.substr(tab + 1);
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        if (end != text.c_str()) values_[line.substr(0, tab)] = value;
    }
    return "";
}

double Constants::get(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end())
        fail(Outcome::LAUNCH_ERROR, nullptr, nullptr,
             "The device file lacks the constant %s; add it to rules/devices.", name.c_str());
    return noted(name, found->second);
}

double Constants::noted(const std::string& name, double value) const {
    used_.insert(name);
    return value;
}

void Constants::set(const std::string& name, double value) {
    get(name);
    values_[name] = value;
}

double Constants::resolve(const std::string& mnemonic, const std::string& dtype,
                          const char* what) const {
    const std::string stem = mnemonic.substr(0, mnemonic.find('_'));
    for (const std::string& name : {mnemonic, stem}) {
        for (const std::string& middle : {"." + dtype + ".", std::string(".")}) {
            const auto found = values_.find("vector." + name + middle + what);
            if (found != values_.end()) return noted(found->first, found->second);
        }
    }
    fail(Outcome::LAUNCH_ERROR, nullptr, nullptr,
         "The device file prices no %s on %s: it lacks vector.%s.%s; add it to rules/devices with "
         "its source.",
         mnemonic.c_str(), dtype.c_str(), mnemonic.c_str(), what);
}

VectorCost Constants::vector_cost(const char* mnemonic, const char* dtype) const {
    return {static_cast<float>(resolve(mnemonic, dtype, "cycles")),
            static_cast<float>(resolve(mnemonic, dtype, "latency"))};
}

}  // namespace dav
