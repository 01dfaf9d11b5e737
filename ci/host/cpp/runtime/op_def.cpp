// The parts of the op definition language that handle strings, lists and maps.
#include "detail/op_def.h"

namespace ops {
namespace {
// Elements stay where they are while more are added.
template <class Item> Item& named(std::vector<std::shared_ptr<Item>>& all, const char* name) {
    for (const std::shared_ptr<Item>& one : all) {
        if (one->name_ == name) return *one;
    }
    all.push_back(std::make_shared<Item>(name));
    return *all.back();
}
}  // namespace

void Said::say(const char* call, int64_t argument) {
    said_.push_back(call + ("=" + std::to_string(argument)));
}

OpParamDef::OpParamDef(const char* name) : name_(name) {}
OpParamDef::OpParamDef(const OpParamDef&) = default;
OpParamDef::~OpParamDef() = default;

OpParamDef& OpParamDef::DataType(std::initializer_list<ge::DataType> types) {
    return DataType(std::vector<ge::DataType>(types));
}

OpParamDef& OpParamDef::DataType(std::vector<ge::DataType> types) {
    types_ = std::move(types);
    return *this;
}

OpParamDef& OpParamDef::DataTypeList(std::initializer_list<ge::DataType> types) {
    return DataTypeList(std::vector<ge::DataType>(types));
}

OpParamDef& OpParamDef::DataTypeList(std::vector<ge::DataType> types) {
    is_type_list_ = true;
    return DataType(std::move(types));
}

OpParamDef& OpParamDef::Format(std::initializer_list<ge::Format> formats) {
    return Format(std::vector<ge::Format>(formats));
}

OpParamDef& OpParamDef::Format(std::vector<ge::Format> formats) {
    formats_ = std::move(formats);
    return *this;
}

OpParamDef& OpParamDef::FormatList(std::initializer_list<ge::Format> formats) {
    return FormatList(std::vector<ge::Format>(formats));
}

OpParamDef& OpParamDef::FormatList(std::vector<ge::Format> formats) {
    is_format_list_ = true;
    return Format(std::move(formats));
}

OpParamDef& OpParamDef::InitValue(const std::vector<ScalarVar>& values) {
    return values.empty() ? *this : InitValue(values.front());
}

OpParamDef& OpParamDef::Follow(const char* name) {
    follow_ = name;
    return *this;
}

OpAttrDef::OpAttrDef(const char* name) : name_(name) {}
OpAttrDef::OpAttrDef(const OpAttrDef&) = default;
OpAttrDef::~OpAttrDef() = default;

OpAttrDef& OpAttrDef::String(const char* v) {
    text_ = v;
    has_default_ = true;
    return kind("string");
}

OpAttrDef& OpAttrDef::ListBool(std::vector<bool> v) {
    numbers_.assign(v.begin(), v.end());
    has_default_ = true;
    return kind("list_bool");
}

OpAttrDef& OpAttrDef::ListFloat(std::vector<float> v) {
    numbers_.assign(v.begin(), v.end());
    has_default_ = true;
    return kind("list_float");
}

OpAttrDef& OpAttrDef::ListInt(std::vector<int64_t> v) {
    numbers_.assign(v.begin(), v.end());
    has_default_ = true;
    return kind("list_int");
}

OpAttrDef& OpAttrDef::kind(const char* name) {
    kind_ = name;
    return *this;
}

OpAttrDef& OpAttrDef::number(double v) {
    numbers_.assign(1, v);
    has_default_ = true;
    return *this;
}

OpParams::OpParams() = default;
OpParams::OpParams(const OpParams&) = default;
OpParams::~OpParams() = default;

OpParamDef& OpParams::operator[](const char* name) { return named(all, name); }

OpAICoreConfig::OpAICoreConfig() = default;
OpAICoreConfig::OpAICoreConfig(const char*) {}
OpAICoreConfig::OpAICoreConfig(const OpAICoreConfig&) = default;
OpAICoreConfig::~OpAICoreConfig() = default;

OpAICoreConfig& OpAICoreConfig::ExtendCfgInfo(const char* key, const char* value) {
    said_.push_back(std::string(key) + "=" + value);
    return *this;
}

OpAICoreDef::OpAICoreDef() = default;
OpAICoreDef::OpAICoreDef(const OpAICoreDef&) = default;
OpAICoreDef::~OpAICoreDef() = default;

OpAICoreDef& OpAICoreDef::AddConfig(const char* soc) {
    configs_.emplace_back(soc, OpAICoreConfig());
    return *this;
}

OpAICoreDef& OpAICoreDef::AddConfig(const char* soc, OpAICoreConfig& config) {
    configs_.emplace_back(soc, config);
    return *this;
}

OpDef::OpDef(const char* type) : type_(type) {}
OpDef::OpDef(const OpDef&) = default;
OpDef::~OpDef() = default;

OpAttrDef& OpDef::Attr(const char* name) { return named(attrs_, name); }
}  // namespace ops
