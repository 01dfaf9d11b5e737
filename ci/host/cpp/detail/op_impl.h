// Registration of an operator's host functions (IMPL_OP_OPTILING and its family).
#pragma once

#include <initializer_list>

#include "detail/context.h"

#ifndef VAR_UNUSED
#define VAR_UNUSED __attribute__((unused))
#endif

namespace gert {
class OpExecuteContext;
class ExeResGenerationContext;
class OpCheckContext;

// Where a tiling may run; ours runs on the host.
enum class TilingPlacement { TILING_ON_HOST = 0, TILING_ON_AICPU = 1 };

// What is registered under one op type; several registrations of a type add up.
struct OpFunctions {
    using Infer = ge::graphStatus (*)(InferShapeContext*);
    using InferRange = ge::graphStatus (*)(InferShapeRangeContext*);
    using InferType = ge::graphStatus (*)(InferDataTypeContext*);
    using Tile = ge::graphStatus (*)(TilingContext*);
    using Parse = ge::graphStatus (*)(TilingParseContext*);

    Infer infer_shape = nullptr;
    InferType infer_data_type = nullptr;
    bool infer_type_from_first = false;
    Tile tiling = nullptr;
    Parse tiling_parse = nullptr;
    void* (*create_compile_info)() = nullptr;
    std::vector<int32_t> value_inputs;  // IR indices whose values the host side may read
    std::vector<std::string> said;      // names of the other functions and facts registered
};

// By op type, in order of registration.
std::map<std::string, OpFunctions>& registered_functions();

class OpImplRegisterV2 {
public:
    using InferShapeKernelFunc = OpFunctions::Infer;
    using InferShapeRangeKernelFunc = OpFunctions::InferRange;
    using InferDataTypeKernelFunc = OpFunctions::InferType;
    using TilingKernelFunc = OpFunctions::Tile;
    using TilingParseFunc = OpFunctions::Parse;
    using KernelFunc = ge::graphStatus (*)(KernelContext*);
    using OpExecFunc = ge::graphStatus (*)(OpExecuteContext*);

    explicit OpImplRegisterV2(const char* type);
    OpImplRegisterV2& InferShape(InferShapeKernelFunc f) {
        functions_->infer_shape = f;
        return *this;
    }
    OpImplRegisterV2& InferShapeRange(InferShapeRangeKernelFunc) { return say("InferShapeRange"); }
    OpImplRegisterV2& InferDataType(InferDataTypeKernelFunc f) {
        functions_->infer_data_type = f;
        return *this;
    }
    OpImplRegisterV2& InferOutDataTypeSameWithFirstInput() {
        functions_->infer_type_from_first = true;
        return *this;
    }
    OpImplRegisterV2& Tiling(TilingKernelFunc f, size_t = 2048) {
        functions_->tiling = f;
        return *this;
    }
    template <class T> OpImplRegisterV2& TilingParse(TilingParseFunc f) {
        functions_->tiling_parse = f;
        functions_->create_compile_info = []() -> void* { return new T(); };
        return *this;
    }
    template <class T> OpImplRegisterV2& TilingParse(KernelFunc f) {
        return TilingParse<T>(reinterpret_cast<TilingParseFunc>(f));
    }
    OpImplRegisterV2& InputsDataDependency(std::initializer_list<int32_t> inputs);
    OpImplRegisterV2& TilingInputsDataDependency(std::initializer_list<int32_t> inputs) {
        return InputsDataDependency(inputs);
    }
    OpImplRegisterV2& TilingInputsDataDependency(std::initializer_list<int32_t> inputs,
                                                 std::initializer_list<TilingPlacement>) {
        return InputsDataDependency(inputs);
    }
    OpImplRegisterV2& HostInputs(std::initializer_list<int32_t> inputs) {
        return say("HostInputs", inputs);
    }
    OpImplRegisterV2& OutputShapeDependOnCompute(std::initializer_list<int32_t> outputs) {
        return say("OutputShapeDependOnCompute", outputs);
    }
    OpImplRegisterV2& NullableOutputs(std::initializer_list<int32_t> outputs) {
        return say("NullableOutputs", outputs);
    }
    OpImplRegisterV2& OpExecuteFunc(OpExecFunc) { return say("OpExecuteFunc"); }
    OpImplRegisterV2& PrivateAttr(const char* name) { return say(name); }
    template <class T> OpImplRegisterV2& PrivateAttr(const char* name, const T&) {
        return say(name);
    }
    template <class F> OpImplRegisterV2& GenSimplifiedKey(F) { return say("GenSimplifiedKey"); }
    template <class F> OpImplRegisterV2& InferFormat(F) { return say("InferFormat"); }
    template <class F> OpImplRegisterV2& CalcOpParam(F) { return say("CalcOpParam"); }
    template <class F> OpImplRegisterV2& GenerateTask(F) { return say("GenerateTask"); }
    template <class F> OpImplRegisterV2& CheckSupport(F) { return say("CheckSupport"); }
    template <class F> OpImplRegisterV2& OpSelectFormat(F) { return say("OpSelectFormat"); }

private:
    OpImplRegisterV2& say(const char* call, std::initializer_list<int32_t> indices = {});
    OpFunctions* functions_;
};
using OpImplRegister = OpImplRegisterV2;
}  // namespace gert

#define ASCENDOPT_HOST_JOIN_(a, b) a##b
#define ASCENDOPT_HOST_JOIN(a, b) ASCENDOPT_HOST_JOIN_(a, b)
#define IMPL_OP(op_type)                                          \
    static gert::OpImplRegisterV2 VAR_UNUSED ASCENDOPT_HOST_JOIN( \
        op_impl_register_##op_type, __COUNTER__) = gert::OpImplRegisterV2(#op_type)
#define IMPL_OP_INFERSHAPE(op_type) IMPL_OP(op_type)
#define IMPL_OP_OPTILING(op_type) IMPL_OP(op_type)
#define IMPL_OP_DEFAULT() IMPL_OP(DefaultImpl)
// A tiling that the device's own processor may run; ours runs on the host.
#define DEVICE_IMPL_OP_OPTILING(op_type) IMPL_OP(op_type)
#define IMPL_OP_CT(op_type) IMPL_OP(op_type)
