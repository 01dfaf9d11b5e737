// The op definition language: class Foo : public OpDef, OP_ADD(Foo).
//
// What handles strings, lists and maps is defined in runtime/op_def.cpp: an operator's own source
// would instantiate all of it again, which was more than half of its compilation.
#pragma once

#include "detail/op_impl.h"

namespace ge {
class Operator;
}

constexpr const char* FUNC_CHECK_SUPPORTED = "check_supported";
constexpr const char* FUNC_OP_SELECT_FORMAT = "op_select_format";

namespace optiling {
using OP_CHECK_FUNC = ge::graphStatus (*)(const ge::Operator&, ge::AscendString&);
// Registers what the compiler asks before a launch; nobody asks here.
struct OpCheckFuncHelper {
    OpCheckFuncHelper(const char*, const char*, OP_CHECK_FUNC) {}
};
using PARAM_GENERALIZE_FUNC = ge::graphStatus (*)(const ge::Operator&, const ge::AscendString&,
                                                  ge::AscendString&);
}  // namespace optiling

namespace ops {
enum Option { IGNORE = 0, OPTIONAL = 1, REQUIRED = 2, DYNAMIC = 3, VIRTUAL = 4 };
enum class FormatCheckOption : uint32_t { DEFAULT = 0, STRICT = 1, MAX };
enum class DependScope : uint32_t { ALL = 0, TILING = 1, INVALID_SCOPE };
enum class FollowType : uint32_t { ALL = 0, DTYPE = 1, FORMAT = 2, SHAPE = 3, INVALID_TYPE };
enum class HcclServerType : uint32_t { AICPU = 0, AICORE = 1, CCU = 2, MAX };
enum class CommentSection : uint32_t {
    CATEGORY = 0,
    BRIEF = 1,
    CONSTRAINTS = 2,
    RESTRICTIONS = 3,
    SEE = 4,
    THIRDPARTYFWKCOMPAT = 5,
    SECTION_MAX
};
enum class ScalarType : uint32_t {
    UINT64,
    INT64,
    UINT32,
    INT32,
    UINT16,
    INT16,
    UINT8,
    INT8,
    FLOAT32,
    FLOAT16,
    INVALID_DTYPE = 0xFFFFFFFFU
};
struct ScalarVar {
    ScalarType type = ScalarType::INVALID_DTYPE;
    double value = 0;
    ScalarVar() = default;
    template <class T> ScalarVar(ScalarType t, T v) : type(t), value(static_cast<double>(v)) {}
};

// What a definition says by calls that decide nothing here, in order: the host gate compares it.
struct Said {
    void say(const char* call, int64_t argument = 1);
    template <class List> void say_each(const char* call, const List& list) {
        for (const auto item : list) {
            say(call, static_cast<int64_t>(item));
        }
    }
    std::vector<std::string> said_;
};

class OpParamDef : public Said {
public:
    explicit OpParamDef(const char* name);
    OpParamDef(const OpParamDef&);
    ~OpParamDef();
    OpParamDef& ParamType(Option type) {
        param_type_ = type;
        return *this;
    }
    // Nearly every definition writes its lists in braces.
    OpParamDef& DataType(std::initializer_list<ge::DataType> types);
    OpParamDef& DataType(std::vector<ge::DataType> types);
    OpParamDef& DataTypeList(std::initializer_list<ge::DataType> types);
    OpParamDef& DataTypeList(std::vector<ge::DataType> types);
    OpParamDef& Format(std::initializer_list<ge::Format> formats);
    OpParamDef& Format(std::vector<ge::Format> formats);
    OpParamDef& FormatList(std::initializer_list<ge::Format> formats);
    OpParamDef& FormatList(std::vector<ge::Format> formats);
    OpParamDef& DataTypeForBinQuery(std::initializer_list<ge::DataType> list) {
        return said_each("DataTypeForBinQuery", list);
    }
    OpParamDef& DataTypeForBinQuery(const std::vector<ge::DataType>& list) {
        return said_each("DataTypeForBinQuery", list);
    }
    OpParamDef& FormatForBinQuery(std::initializer_list<ge::Format> list) {
        return said_each("FormatForBinQuery", list);
    }
    OpParamDef& FormatForBinQuery(const std::vector<ge::Format>& list) {
        return said_each("FormatForBinQuery", list);
    }
    OpParamDef& UnknownShapeFormat(std::initializer_list<ge::Format> list) {
        return said_each("UnknownShapeFormat", list);
    }
    OpParamDef& UnknownShapeFormat(const std::vector<ge::Format>& list) {
        return said_each("UnknownShapeFormat", list);
    }
    OpParamDef& ValueDepend(Option) {
        value_depend_ = true;
        return *this;
    }
    OpParamDef& ValueDepend(Option depend, DependScope) { return ValueDepend(depend); }
    OpParamDef& IgnoreContiguous() { return said("IgnoreContiguous"); }
    OpParamDef& AutoContiguous() { return said("AutoContiguous"); }
    OpParamDef& Scalar() {
        scalar_ = true;
        return *this;
    }
    OpParamDef& ScalarList() { return Scalar(); }
    OpParamDef& To(ge::DataType type) { return said("To", type); }
    OpParamDef& To(const char* name) { return said(name); }
    OpParamDef& Version(uint32_t version) { return said("Version", version); }
    OpParamDef& InitValue(uint64_t value) {
        return InitValue(ScalarVar(ScalarType::UINT64, value));
    }
    OpParamDef& InitValue(const ScalarVar& value) {
        init_ = true;
        init_value_ = value.value;
        return *this;
    }
    OpParamDef& InitValue(const std::vector<ScalarVar>& values);
    OpParamDef& OutputShapeDependOnCompute() { return said("OutputShapeDependOnCompute"); }
    OpParamDef& Follow(const char* name);
    OpParamDef& Follow(const char* name, FollowType type) {
        return Follow(name).said("Follow", static_cast<int64_t>(type));
    }
    OpParamDef& Comment(const char*) { return *this; }

    std::string name_, follow_;
    Option param_type_ = REQUIRED;
    std::vector<ge::DataType> types_;
    std::vector<ge::Format> formats_;
    bool scalar_ = false, value_depend_ = false, init_ = false;
    // Given by DataTypeList and FormatList: combined with all others, not column by column.
    bool is_type_list_ = false, is_format_list_ = false;
    double init_value_ = 0;

private:
    OpParamDef& said(const char* call, int64_t argument = 1) {
        say(call, argument);
        return *this;
    }
    template <class List> OpParamDef& said_each(const char* call, const List& list) {
        say_each(call, list);
        return *this;
    }
};

class OpAttrDef {
public:
    explicit OpAttrDef(const char* name);
    OpAttrDef(const OpAttrDef&);
    ~OpAttrDef();
    OpAttrDef& AttrType(Option type) {
        required_ = type == REQUIRED;
        return *this;
    }
    OpAttrDef& Bool() { return kind("bool"); }
    OpAttrDef& Bool(bool v) { return kind("bool").number(v ? 1 : 0); }
    OpAttrDef& Float() { return kind("float"); }
    OpAttrDef& Float(float v) { return kind("float").number(v); }
    OpAttrDef& Int() { return kind("int"); }
    OpAttrDef& Int(int64_t v) { return kind("int").number(static_cast<double>(v)); }
    OpAttrDef& String() { return kind("string"); }
    OpAttrDef& String(const char* v);
    OpAttrDef& ListBool() { return kind("list_bool"); }
    OpAttrDef& ListBool(std::vector<bool> v);
    OpAttrDef& ListFloat() { return kind("list_float"); }
    OpAttrDef& ListFloat(std::vector<float> v);
    OpAttrDef& ListInt() { return kind("list_int"); }
    OpAttrDef& ListInt(std::vector<int64_t> v);
    OpAttrDef& ListListInt() { return kind("list_list_int"); }
    OpAttrDef& ListListInt(std::vector<std::vector<int64_t>>) { return kind("list_list_int"); }
    OpAttrDef& Version(uint32_t) { return *this; }
    OpAttrDef& Comment(const char*) { return *this; }
    bool IsRequired() const { return required_; }

    std::string name_, kind_ = "int", text_;
    bool required_ = true, has_default_ = false;
    std::vector<double> numbers_;

private:
    OpAttrDef& kind(const char* name);
    OpAttrDef& number(double v);
};

// Named parameters whose references stay valid while more are added.
class OpParams {
public:
    OpParams();
    OpParams(const OpParams&);
    ~OpParams();
    OpParamDef& operator[](const char* name);
    std::vector<std::shared_ptr<OpParamDef>> all;
};

class OpAICoreConfig : public Said {
public:
    OpAICoreConfig();
    explicit OpAICoreConfig(const char*);
    OpAICoreConfig(const OpAICoreConfig&);
    ~OpAICoreConfig();
    OpParamDef& Input(const char* name) { return inputs_[name]; }
    OpParamDef& Output(const char* name) { return outputs_[name]; }
    OpAICoreConfig& DynamicCompileStaticFlag(bool flag) {
        return said("DynamicCompileStaticFlag", flag);
    }
    OpAICoreConfig& DynamicFormatFlag(bool flag) { return said("DynamicFormatFlag", flag); }
    OpAICoreConfig& DynamicRankSupportFlag(bool flag) {
        return said("DynamicRankSupportFlag", flag);
    }
    OpAICoreConfig& DynamicShapeSupportFlag(bool flag) {
        return said("DynamicShapeSupportFlag", flag);
    }
    OpAICoreConfig& NeedCheckSupportFlag(bool flag) { return said("NeedCheckSupportFlag", flag); }
    OpAICoreConfig& PrecisionReduceFlag(bool flag) { return said("PrecisionReduceFlag", flag); }
    OpAICoreConfig& ExtendCfgInfo(const char* key, const char* value);
    OpParams inputs_, outputs_;

private:
    OpAICoreConfig& said(const char* call, bool flag) {
        say(call, flag);
        return *this;
    }
};

class OpAICoreDef : public Said {
public:
    OpAICoreDef();
    OpAICoreDef(const OpAICoreDef&);
    ~OpAICoreDef();
    OpAICoreDef& SetTiling(gert::OpImplRegisterV2::TilingKernelFunc f) {
        tiling_ = f;
        return *this;
    }
    OpAICoreDef& SetCheckSupport(optiling::OP_CHECK_FUNC f) {
        check_support_ = f;
        return said("SetCheckSupport");
    }
    optiling::OP_CHECK_FUNC& GetCheckSupport() { return check_support_; }
    OpAICoreDef& SetOpSelectFormat(optiling::OP_CHECK_FUNC) { return said("SetOpSelectFormat"); }
    OpAICoreDef& SetOpSupportInfo(optiling::OP_CHECK_FUNC) { return said("SetOpSupportInfo"); }
    OpAICoreDef& SetOpSpecInfo(optiling::OP_CHECK_FUNC) { return said("SetOpSpecInfo"); }
    OpAICoreDef& SetParamGeneralize(optiling::PARAM_GENERALIZE_FUNC) {
        return said("SetParamGeneralize");
    }
    OpAICoreDef& LaunchWithZeroEleOutputTensors(bool flag) {
        return said("LaunchWithZeroEleOutputTensors", flag);
    }
    OpAICoreDef& AddConfig(const char* soc);
    OpAICoreDef& AddConfig(const char* soc, OpAICoreConfig& config);
    gert::OpImplRegisterV2::TilingKernelFunc tiling_ = nullptr;
    optiling::OP_CHECK_FUNC check_support_ = nullptr;
    std::vector<std::pair<std::string, OpAICoreConfig>> configs_;

private:
    OpAICoreDef& said(const char* call, bool flag = true) {
        say(call, flag);
        return *this;
    }
};

// Other engines are declared by the same classes; nothing of them concerns the AI core.
class OpOtherEngineDef {
public:
    template <class T> OpOtherEngineDef& Engine(T) { return *this; }
    OpOtherEngineDef& FlagPartial(bool) { return *this; }
    OpOtherEngineDef& ComputeCost(const char*) { return *this; }
    OpOtherEngineDef& FlagAsync(bool) { return *this; }
    OpOtherEngineDef& OpKernelLib(const char*) { return *this; }
    OpOtherEngineDef& KernelSo(const char*) { return *this; }
    OpOtherEngineDef& FunctionName(const char*) { return *this; }
    OpOtherEngineDef& UserDefined(bool) { return *this; }
    OpOtherEngineDef& ExtendCfgInfo(const char*, const char*) { return *this; }
    OpOtherEngineDef& HcclGroup(const char*) { return *this; }
    OpOtherEngineDef& HcclGroup(std::vector<const char*>) { return *this; }
    void HcclServerType(enum HcclServerType, const char* = nullptr) {}
};
using OpAICPUDef = OpOtherEngineDef;
using OpMC2Def = OpOtherEngineDef;

class OpDef : public Said {
public:
    explicit OpDef(const char* type);
    OpDef(const OpDef&);
    ~OpDef();
    OpParamDef& Input(const char* name) { return inputs_[name]; }
    OpParamDef& Output(const char* name) { return outputs_[name]; }
    OpAttrDef& Attr(const char* name);
    OpDef& Comment(CommentSection, const char*) { return *this; }
    OpDef& SetInferShape(gert::OpImplRegisterV2::InferShapeKernelFunc f) {
        infer_shape_ = f;
        return *this;
    }
    OpDef& SetInferShapeRange(gert::OpImplRegisterV2::InferShapeRangeKernelFunc) {
        return said("SetInferShapeRange");
    }
    OpDef& SetInferDataType(gert::OpImplRegisterV2::InferDataTypeKernelFunc f) {
        infer_type_ = f;
        return *this;
    }
    OpAICoreDef& AICore() { return aicore_; }
    OpAICPUDef& AICPU() { return other_; }
    OpOtherEngineDef& HostCPU() { return other_; }
    OpMC2Def& MC2() { return other_; }
    OpDef& FormatMatchMode(FormatCheckOption option) {
        return said("FormatMatchMode", static_cast<int64_t>(option));
    }
    OpDef& EnableFallBack() { return said("EnableFallBack"); }

    std::string type_;
    OpParams inputs_, outputs_;
    std::vector<std::shared_ptr<OpAttrDef>> attrs_;
    OpAICoreDef aicore_;
    OpOtherEngineDef other_;
    gert::OpImplRegisterV2::InferShapeKernelFunc infer_shape_ = nullptr;
    gert::OpImplRegisterV2::InferDataTypeKernelFunc infer_type_ = nullptr;

private:
    OpDef& said(const char* call, int64_t argument = 1) {
        say(call, argument);
        return *this;
    }
};

// Every definition that OP_ADD added, in order. They live as long as the program.
std::vector<const OpDef*>& registered_definitions();
int add_definition(const OpDef* definition);
}  // namespace ops

#define OP_ADD(op_type, ...) \
    static int VAR_UNUSED g_ascendopt_##op_type##_add = ops::add_definition(new op_type(#op_type))
