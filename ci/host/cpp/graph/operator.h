// ge::Operator as host sources name it in signatures of check functions.
#pragma once

#include "detail/ge_shape.h"
#include "detail/op_impl.h"

namespace ge {
class TensorDesc {
public:
    Shape GetShape() const { return shape_; }
    Shape GetOriginShape() const { return shape_; }
    DataType GetDataType() const { return data_type_; }
    Format GetFormat() const { return FORMAT_ND; }
    Format GetOriginFormat() const { return FORMAT_ND; }
    void SetShape(const Shape& shape) { shape_ = shape; }
    void SetDataType(DataType data_type) { data_type_ = data_type; }
    void SetFormat(Format) {}

private:
    Shape shape_;
    DataType data_type_ = DT_FLOAT;
};

class Tensor {
public:
    const uint8_t* GetData() const { return nullptr; }
    size_t GetSize() const { return 0; }
    TensorDesc GetTensorDesc() const { return {}; }
};

// Functions that check support are compiled and never called: the simulator runs what it is given.
class Operator {
public:
    Operator() = default;
    explicit Operator(const char* type) : type_(type) {}
    graphStatus GetName(AscendString& name) const {
        name = AscendString(type_.c_str());
        return GRAPH_SUCCESS;
    }
    graphStatus GetOpType(AscendString& type) const { return GetName(type); }
    TensorDesc GetInputDescByName(const char*) const { return {}; }
    TensorDesc GetOutputDescByName(const char*) const { return {}; }
    TensorDesc GetInputDesc(size_t) const { return {}; }
    TensorDesc GetOutputDesc(size_t) const { return {}; }
    size_t GetInputsSize() const { return 0; }
    size_t GetOutputsSize() const { return 0; }
    template <class T> graphStatus GetAttr(const char*, T&) const { return GRAPH_FAILED; }
    template <class T> graphStatus GetInputConstData(const char*, T&) const { return GRAPH_FAILED; }
    std::string GetName() const { return type_; }
    std::string GetOpType() const { return type_; }

private:
    std::string type_;
};
}  // namespace ge
