// The describe answer: definitions and tiling data layouts, as JSON.
#include <cstdio>

#include "detail/tiling_data.h"
#include "runtime/runtime.h"

namespace host {
std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
            out += code;
        } else {
            out += c;
        }
    }
    return out + "\"";
}

namespace {
std::string truth(bool value) { return value ? "true" : "false"; }

std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    const std::string plain = text;
    return plain.find("inf") != std::string::npos || plain.find("nan") != std::string::npos ? "null"
                                                                                            : plain;
}

std::string param(const ops::OpParamDef& p) {
    constexpr const char* kTypes[] = {"ignore", "optional", "required", "dynamic", "virtual"};
    const auto type = static_cast<size_t>(p.param_type_);
    return "{\"name\":" + quoted(p.name_) +
           ",\"param_type\":" + quoted(kTypes[type < 5 ? type : 2]) + ",\"dtypes\":" +
           list(p.types_, [](ge::DataType t) { return std::to_string(static_cast<int>(t)); }) +
           ",\"formats\":" +
           list(p.formats_, [](ge::Format f) { return std::to_string(static_cast<int>(f)); }) +
           ",\"dtype_list\":" + truth(p.is_type_list_) +
           ",\"format_list\":" + truth(p.is_format_list_) + ",\"scalar\":" + truth(p.scalar_) +
           ",\"value_depend\":" + truth(p.value_depend_) + ",\"follow\":" + quoted(p.follow_) +
           ",\"init_value\":" + (p.init_ ? number(p.init_value_) : "null") +
           ",\"said\":" + list(p.said_, quoted) + "}";
}

std::string params(const ops::OpParams& all) {
    return list(all.all, [](const auto& p) { return param(*p); });
}

std::string attr(const ops::OpAttrDef& a) {
    return "{\"name\":" + quoted(a.name_) + ",\"type\":" + quoted(a.kind_) +
           ",\"required\":" + truth(a.required_) + ",\"has_default\":" + truth(a.has_default_) +
           ",\"numbers\":" + list(a.numbers_, number) + ",\"text\":" + quoted(a.text_) + "}";
}

std::string definition(const ops::OpDef& def) {
    const auto configs = list(def.aicore_.configs_, [](const auto& c) {
        return "{\"soc\":" + quoted(c.first) + ",\"inputs\":" + params(c.second.inputs_) +
               ",\"outputs\":" + params(c.second.outputs_) +
               ",\"said\":" + list(c.second.said_, quoted) + "}";
    });
    return "{\"op_type\":" + quoted(def.type_) + ",\"inputs\":" + params(def.inputs_) +
           ",\"outputs\":" + params(def.outputs_) +
           ",\"attrs\":" + list(def.attrs_, [](const auto& a) { return attr(*a); }) +
           ",\"configs\":" + configs + ",\"said\":" + list(def.said_, quoted) +
           ",\"aicore\":" + list(def.aicore_.said_, quoted) + "}";
}

std::string structure(const optiling::TilingDef& def) {
    return "{\"name\":" + quoted(def.GetTilingClassName()) +
           ",\"bytes\":" + std::to_string(def.GetDataSize()) + ",\"fields\":" +
           list(def.fields(),
                [](const optiling::FieldInfo& f) {
                    return "{\"name\":" + quoted(f.name) + ",\"ctype\":" + quoted(f.dtype) +
                           ",\"bytes\":" + std::to_string(f.bytes) +
                           ",\"count\":" + std::to_string(f.count) +
                           ",\"offset\":" + std::to_string(f.offset) +
                           ",\"nested\":" + (f.nested == nullptr ? "null" : structure(*f.nested)) +
                           "}";
                }) +
           "}";
}
}  // namespace

std::string describe() {
    return "{\"definitions\":" +
           list(ops::registered_definitions(), [](const auto& d) { return definition(*d); }) +
           ",\"tilings\":" +
           list(optiling::registered_tiling_order(),
                [](const std::string& name) {
                    const auto made =
                        optiling::CTilingDataClassFactory::GetInstance().CreateTilingDataInstance(
                            name.c_str());
                    return "{\"registered\":" + quoted(name) + ",\"struct\":" + structure(*made) +
                           "}";
                }) +
           ",\"registered\":" +
           list(gert::registered_functions(),
                [](const auto& entry) {
                    const gert::OpFunctions& f = entry.second;
                    return "{\"op_type\":" + quoted(entry.first) +
                           ",\"tiling\":" + truth(f.tiling != nullptr) + ",\"value_inputs\":" +
                           list(f.value_inputs, [](int32_t i) { return std::to_string(i); }) +
                           ",\"said\":" + list(f.said, quoted) + "}";
                }) +
           "}\n";
}
}  // namespace host
