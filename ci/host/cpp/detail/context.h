// The contexts that the framework hands to tiling, parse and inference functions.
#pragma once

#include "detail/attrs.h"
#include "detail/platform.h"
#include "detail/shape.h"

namespace gert {
// One input or output of the op definition: how many tensors stand for it (0: optional, absent).
class AnchorInstanceInfo {
public:
    AnchorInstanceInfo() = default;
    AnchorInstanceInfo(uint32_t start, uint32_t count) : start_(start), count_(count) {}
    size_t GetInstanceNum() const { return count_; }
    size_t GetInstanceStart() const { return start_; }

private:
    uint32_t start_ = 0;
    uint32_t count_ = 0;
};

class TilingData {
public:
    explicit TilingData(size_t capacity) : bytes_(capacity, 0) {}
    size_t GetCapacity() const { return bytes_.size(); }
    size_t GetDataSize() const { return size_; }
    void SetDataSize(size_t size) { size_ = size; }
    void* GetData() { return bytes_.data(); }
    const void* GetData() const { return bytes_.data(); }
    template <class T> ge::graphStatus Append(const T& value) { return Append(&value, 1); }
    template <class T> ge::graphStatus Append(const T* values, size_t count) {
        if (size_ + count * sizeof(T) > bytes_.size()) return ge::GRAPH_FAILED;
        std::memcpy(bytes_.data() + size_, values, count * sizeof(T));
        size_ += count * sizeof(T);
        return ge::GRAPH_SUCCESS;
    }
    template <class T> T* Expand(size_t count) {
        if (size_ + count * sizeof(T) > bytes_.size()) return nullptr;
        T* first = reinterpret_cast<T*>(bytes_.data() + size_);
        size_ += count * sizeof(T);
        return first;
    }

private:
    std::vector<uint8_t> bytes_;
    size_t size_ = 0;
};

class ComputeNodeInfo {
public:
    const char* GetNodeType() const { return type_.c_str(); }
    const char* GetNodeName() const { return name_.c_str(); }
    size_t GetIrInputsNum() const { return ir_inputs_.size(); }
    size_t GetIrOutputsNum() const { return ir_outputs_.size(); }
    size_t GetInputsNum() const { return inputs_.size(); }
    size_t GetOutputsNum() const { return outputs_.size(); }
    const AnchorInstanceInfo* GetInputInstanceInfo(size_t ir) const {
        return ir < ir_inputs_.size() ? &ir_inputs_[ir] : nullptr;
    }
    const AnchorInstanceInfo* GetOutputInstanceInfo(size_t ir) const {
        return ir < ir_outputs_.size() ? &ir_outputs_[ir] : nullptr;
    }
    const CompileTimeTensorDesc* GetInputTdInfo(size_t i) const {
        return i < inputs_.size() ? &inputs_[i]->desc() : nullptr;
    }
    const CompileTimeTensorDesc* GetOutputTdInfo(size_t i) const {
        return i < outputs_.size() ? &outputs_[i]->desc() : nullptr;
    }
    const RuntimeAttrs* GetAttrs() const { return &attrs_; }

    std::string type_, name_;
    std::vector<AnchorInstanceInfo> ir_inputs_, ir_outputs_;
    std::vector<std::unique_ptr<Tensor>> inputs_, outputs_;
    RuntimeAttrs attrs_;
};

// Everything that one request says and one answer collects; the contexts are views of it.
struct Node {
    ComputeNodeInfo info;
    fe::PlatFormInfos platform;
    bool deterministic = false;
    void* compile_info = nullptr;
    std::vector<TensorRange> output_ranges, input_ranges;

    static constexpr size_t kTilingCapacity = 1 << 17;
    static constexpr size_t kMaxWorkspaces = 64;
    TilingData tiling{kTilingCapacity};
    std::vector<size_t> workspaces = std::vector<size_t>(kMaxWorkspaces, 0);
    size_t workspace_count = 0;
    uint64_t tiling_key = 0;
    uint32_t block_dim = 0;
    uint32_t schedule_mode = 0;
    bool need_atomic = false;
    int32_t tiling_cond = 0;
    uint32_t local_memory = 0;
};

class KernelContext {
public:
    explicit KernelContext(Node* node = nullptr) : node_(node) {}
    size_t GetInputNum() const { return node_->info.inputs_.size(); }
    size_t GetOutputNum() const { return node_->info.outputs_.size(); }
    const void* GetComputeNodeExtend() const { return &node_->info; }

protected:
    Tensor* in(size_t i) const {
        return i < node_->info.inputs_.size() ? node_->info.inputs_[i].get() : nullptr;
    }
    Tensor* out(size_t i) const {
        return i < node_->info.outputs_.size() ? node_->info.outputs_[i].get() : nullptr;
    }
    Tensor* instance(const std::vector<AnchorInstanceInfo>& irs,
                     const std::vector<std::unique_ptr<Tensor>>& tensors, size_t ir,
                     size_t relative) const {
        if (ir >= irs.size() || relative >= irs[ir].GetInstanceNum()) return nullptr;
        return tensors[irs[ir].GetInstanceStart() + relative].get();
    }
    // The tensor, noting the line that asks for its shape or values.
    Tensor* asked(size_t i, const char* file, int line) const {
        host::note_asked("tensor", i, file, line);
        return in(i);
    }
    Tensor* asked(size_t ir, size_t relative, const char* file, int line) const {
        const auto& irs = node_->info.ir_inputs_;
        if (ir >= irs.size() || relative >= irs[ir].GetInstanceNum()) return nullptr;
        return asked(irs[ir].GetInstanceStart() + relative, file, line);
    }
    Tensor* in(size_t ir, size_t relative) const {
        return instance(node_->info.ir_inputs_, node_->info.inputs_, ir, relative);
    }
    Tensor* out(size_t ir, size_t relative) const {
        return instance(node_->info.ir_outputs_, node_->info.outputs_, ir, relative);
    }
    static const CompileTimeTensorDesc* desc(const Tensor* t) {
        return t == nullptr ? nullptr : &t->desc();
    }
    static const StorageShape* shape(const Tensor* t) {
        return t == nullptr ? nullptr : &t->GetShape();
    }
    template <class T, class Value> static ge::graphStatus set(T& field, Value value) {
        field = value;
        return ge::GRAPH_SUCCESS;
    }
    static ge::graphStatus set_type(Tensor* t, ge::DataType type) {
        if (t == nullptr) return ge::GRAPH_FAILED;
        t->SetDataType(type);
        return ge::GRAPH_SUCCESS;
    }
    Node* node_;
};

class ExtendedKernelContext : public KernelContext {
public:
    using KernelContext::KernelContext;
    const AnchorInstanceInfo* GetIrInputInstanceInfo(size_t ir) const {
        return node_->info.GetInputInstanceInfo(ir);
    }
    const AnchorInstanceInfo* GetIrOutputInstanceInfo(size_t ir) const {
        return node_->info.GetOutputInstanceInfo(ir);
    }
    const CompileTimeTensorDesc* GetInputDesc(size_t i) const { return desc(in(i)); }
    const CompileTimeTensorDesc* GetOptionalInputDesc(size_t ir) const { return desc(in(ir, 0)); }
    const CompileTimeTensorDesc* GetRequiredInputDesc(size_t ir) const { return desc(in(ir, 0)); }
    const CompileTimeTensorDesc* GetDynamicInputDesc(size_t ir, size_t relative) const {
        return desc(in(ir, relative));
    }
    const CompileTimeTensorDesc* GetOutputDesc(size_t i) const { return desc(out(i)); }
    const CompileTimeTensorDesc* GetRequiredOutputDesc(size_t ir) const { return desc(out(ir, 0)); }
    const CompileTimeTensorDesc* GetDynamicOutputDesc(size_t ir, size_t relative) const {
        return desc(out(ir, relative));
    }
    const RuntimeAttrs* GetAttrs() const { return &node_->info.attrs_; }
    const char* GetNodeType() const { return node_->info.GetNodeType(); }
    const char* GetNodeName() const { return node_->info.GetNodeName(); }
    const char* GetKernelName() const { return node_->info.GetNodeName(); }
    const char* GetKernelType() const { return node_->info.GetNodeType(); }
    const ComputeNodeInfo* GetComputeNodeInfo() const { return &node_->info; }
    size_t GetComputeNodeInputNum() const { return node_->info.inputs_.size(); }
    size_t GetComputeNodeOutputNum() const { return node_->info.outputs_.size(); }
};

// Where tensors, with the values that the host side may read, are at hand.
class TensorContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;
    const Tensor* GetInputTensor(size_t i, const char* file = __builtin_FILE(),
                                 int line = __builtin_LINE()) const {
        return asked(i, file, line);
    }
    const Tensor* GetOptionalInputTensor(size_t ir) const { return in(ir, 0); }
    const Tensor* GetRequiredInputTensor(size_t ir, const char* file = __builtin_FILE(),
                                         int line = __builtin_LINE()) const {
        return asked(ir, 0, file, line);
    }
    const Tensor* GetDynamicInputTensor(size_t ir, size_t relative,
                                        const char* file = __builtin_FILE(),
                                        int line = __builtin_LINE()) const {
        return asked(ir, relative, file, line);
    }
};

class TilingContext : public TensorContext {
public:
    using TensorContext::TensorContext;
    const StorageShape* GetInputShape(size_t i, const char* file = __builtin_FILE(),
                                      int line = __builtin_LINE()) const {
        return shape(asked(i, file, line));
    }
    const StorageShape* GetOptionalInputShape(size_t ir) const { return shape(in(ir, 0)); }
    const StorageShape* GetRequiredInputShape(size_t ir, const char* file = __builtin_FILE(),
                                              int line = __builtin_LINE()) const {
        return shape(asked(ir, 0, file, line));
    }
    const StorageShape* GetDynamicInputShape(size_t ir, size_t relative,
                                             const char* file = __builtin_FILE(),
                                             int line = __builtin_LINE()) const {
        return shape(asked(ir, relative, file, line));
    }
    const StorageShape* GetOutputShape(size_t i) const { return shape(out(i)); }
    const StorageShape* GetDynamicOutputShape(size_t ir, size_t relative) const {
        return shape(out(ir, relative));
    }
    fe::PlatFormInfos* GetPlatformInfo() const { return &node_->platform; }
    const void* GetCompileInfo() const { return node_->compile_info; }
    template <class T> const T* GetCompileInfo() const {
        return static_cast<const T*>(node_->compile_info);
    }
    TilingData* GetRawTilingData() const { return &node_->tiling; }
    template <class T> T* GetTilingData() const {
        node_->tiling.SetDataSize(sizeof(T));
        return sizeof(T) <= node_->tiling.GetCapacity() ? static_cast<T*>(node_->tiling.GetData())
                                                        : nullptr;
    }
    size_t* GetWorkspaceSizes(size_t count) const {
        if (count > Node::kMaxWorkspaces) return nullptr;
        node_->workspace_count = count;
        return node_->workspaces.data();
    }
    size_t GetWorkspaceNum() const { return node_->workspace_count; }
    ge::graphStatus SetTilingKey(uint64_t key) { return set(node_->tiling_key, key); }
    uint64_t GetTilingKey() const { return node_->tiling_key; }
    ge::graphStatus SetBlockDim(uint32_t dim, const char* file = __builtin_FILE(),
                                int line = __builtin_LINE()) {
        if (dim == 0) host::note_odd("block_dim", "SetBlockDim is given 0.", file, line);
        return set(node_->block_dim, dim);
    }
    uint32_t GetBlockDim() const { return node_->block_dim; }
    ge::graphStatus SetNumBlocks(uint32_t dim) { return SetBlockDim(dim); }
    uint32_t GetNumBlocks() const { return node_->block_dim; }
    ge::graphStatus SetSimdNumBlocks(uint32_t dim) { return SetBlockDim(dim); }
    uint32_t GetSimdNumBlocks() const { return node_->block_dim; }
    ge::graphStatus SetAicpuBlockDim(uint32_t) { return ge::GRAPH_SUCCESS; }
    ge::graphStatus SetNeedAtomic(bool need) { return set(node_->need_atomic, need); }
    bool NeedAtomic() const { return node_->need_atomic; }
    ge::graphStatus SetScheduleMode(uint32_t mode) { return set(node_->schedule_mode, mode); }
    uint32_t GetScheduleMode() const { return node_->schedule_mode; }
    ge::graphStatus SetTilingCond(int32_t cond) { return set(node_->tiling_cond, cond); }
    int32_t GetTilingCond() const { return node_->tiling_cond; }
    ge::graphStatus SetLocalMemorySize(uint32_t size) { return set(node_->local_memory, size); }
    uint32_t GetLocalMemorySize() const { return node_->local_memory; }
    int32_t GetDeterministic() const { return node_->deterministic ? 1 : 0; }
    int32_t GetDeterministicLevel() const { return GetDeterministic(); }
    // Every tensor of a case is laid out without gaps.
    bool InputIsView(size_t) const { return false; }
    bool OutputIsView(size_t) const { return false; }
    const Stride* GetInputStride(size_t) const { return nullptr; }
    const Stride* GetOptionalInputStride(size_t) const { return nullptr; }
    const Stride* GetRequiredInputStride(size_t) const { return nullptr; }
    const Stride* GetDynamicInputStride(size_t, size_t) const { return nullptr; }
    const Stride* GetOutputStride(size_t) const { return nullptr; }
};

class TilingParseContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;
    const char* GetCompiledJson() const { return "{}"; }
    template <class T> T* GetCompiledInfo() const { return static_cast<T*>(node_->compile_info); }
    fe::PlatFormInfos* GetPlatformInfo() const { return &node_->platform; }
};

class InferShapeContext : public TensorContext {
public:
    using TensorContext::TensorContext;
    const Shape* GetInputShape(size_t i) const { return origin(in(i)); }
    const Shape* GetOptionalInputShape(size_t ir) const { return origin(in(ir, 0)); }
    const Shape* GetRequiredInputShape(size_t ir) const { return origin(in(ir, 0)); }
    const Shape* GetDynamicInputShape(size_t ir, size_t relative) const {
        return origin(in(ir, relative));
    }
    Shape* GetOutputShape(size_t i) {
        return out(i) == nullptr ? nullptr : &out(i)->MutableOriginShape();
    }
    Shape* GetDynamicOutputShape(size_t ir, size_t relative) {
        Tensor* t = out(ir, relative);
        return t == nullptr ? nullptr : &t->MutableOriginShape();
    }
    // The inference functions of some repositories ask for dtypes through the descriptors.
    ge::graphStatus SetOutputDataType(size_t i, ge::DataType type) {
        return set_type(out(i), type);
    }

private:
    static const Shape* origin(const Tensor* t) {
        return t == nullptr ? nullptr : &t->GetOriginShape();
    }
};

class InferShapeRangeContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;
    const Range<Shape>* GetInputShapeRange(size_t) const { return nullptr; }
    const Range<Shape>* GetOptionalInputShapeRange(size_t) const { return nullptr; }
    const TensorRange* GetInputTensorRange(size_t) const { return nullptr; }
    Range<Shape>* GetOutputShapeRange(size_t) { return nullptr; }
};

class InferDataTypeContext : public ExtendedKernelContext {
public:
    using ExtendedKernelContext::ExtendedKernelContext;
    ge::DataType GetInputDataType(size_t i) const { return type(in(i)); }
    ge::DataType GetOptionalInputDataType(size_t ir) const { return type(in(ir, 0)); }
    ge::DataType GetRequiredInputDataType(size_t ir) const { return type(in(ir, 0)); }
    ge::DataType GetDynamicInputDataType(size_t ir, size_t relative) const {
        return type(in(ir, relative));
    }
    ge::DataType GetOutputDataType(size_t i) const { return type(out(i)); }
    ge::graphStatus SetOutputDataType(size_t i, ge::DataType type) {
        return set_type(out(i), type);
    }
    ge::graphStatus SetDynamicOutputDataType(size_t ir, size_t relative, ge::DataType type) {
        return set_type(out(ir, relative), type);
    }

private:
    static ge::DataType type(const Tensor* t) {
        return t == nullptr ? ge::DT_UNDEFINED : t->GetDataType();
    }
};
}  // namespace gert
