// The graph engine as a program sees it that makes a graph of operators: nothing is compiled or
// run, and each operator of a graph that would run is written down with what it is given
// (written.h). Names: CANN, graph/operator.h, graph/operator_reg.h, graph/tensor.h, ge_api.h.
#pragma once

#include <functional>

#include "detail/ge_shape.h"
#include "runtime.h"

namespace ge {
using std::function;
using std::string;
using std::vector;

inline int GetSizeByDataType(DataType dtype) {
    return aclDataTypeSize(static_cast<aclDataType>(dtype));
}

enum Placement { kPlacementHost, kPlacementDevice };

class TensorDesc {
public:
    TensorDesc() = default;
    explicit TensorDesc(Shape shape, Format format = FORMAT_ND, DataType dtype = DT_FLOAT)
        : is_set(true), shape_(std::move(shape)), format_(format), dtype_(dtype) {}
    void Update(const Shape& shape, Format format = FORMAT_ND, DataType dtype = DT_FLOAT) {
        *this = TensorDesc(shape, format, dtype);
    }
    Shape GetShape() const { return shape_; }
    Shape GetOriginShape() const { return shape_; }
    Format GetFormat() const { return format_; }
    Format GetOriginFormat() const { return format_; }
    DataType GetDataType() const { return dtype_; }
    void SetShape(const Shape& shape) { shape_ = shape, is_set = true; }
    void SetDataType(DataType dtype) { dtype_ = dtype; }
    void SetFormat(Format format) { format_ = format; }
    // What else it can be told changes nothing of what an operator is given.
    void SetOriginShape(const Shape&) {}
    void SetOriginFormat(Format) {}
    void SetRealDimCnt(int64_t) {}
    void SetPlacement(Placement) {}
    void SetName(const AscendString&) {}
    void SetSize(int64_t) {}
    graphStatus SetShapeRange(const DimsRange&) { return GRAPH_SUCCESS; }

    bool is_set = false;

private:
    Shape shape_;
    Format format_ = FORMAT_ND;
    DataType dtype_ = DT_FLOAT;
};

class Tensor {
public:
    Tensor() = default;
    explicit Tensor(TensorDesc desc) : desc_(std::move(desc)) {}
    Tensor(TensorDesc desc, const uint8_t* data, size_t bytes) : desc_(std::move(desc)) {
        SetData(data, bytes);
    }
    Tensor(TensorDesc desc, std::vector<uint8_t> data)
        : desc_(std::move(desc)), data_(std::move(data)) {}
    TensorDesc GetTensorDesc() const { return desc_; }
    graphStatus SetTensorDesc(const TensorDesc& desc) {
        desc_ = desc;
        return GRAPH_SUCCESS;
    }
    uint8_t* GetData() { return data_.data(); }
    const uint8_t* GetData() const { return data_.data(); }
    size_t GetSize() const { return data_.size(); }
    template <typename... Deleter>
    graphStatus SetData(const uint8_t* data, size_t bytes, Deleter&&...) {
        if (data) data_.assign(data, data + bytes);
        return GRAPH_SUCCESS;
    }
    graphStatus SetData(std::vector<uint8_t> data) {
        data_ = std::move(data);
        return GRAPH_SUCCESS;
    }

private:
    TensorDesc desc_;
    std::vector<uint8_t> data_;
};

struct NamedAttrs {};
using OpInt = int64_t;
using OpFloat = float;
using OpString = std::string;
using OpAscendString = AscendString;
using OpBool = bool;
using OpTensor = Tensor;
using OpType = DataType;
using OpNamedAttrs = NamedAttrs;
using OpListInt = std::vector<int64_t>;
using OpListFloat = std::vector<float>;
using OpListString = std::vector<std::string>;
using OpListAscendString = std::vector<AscendString>;
using OpListBool = std::vector<bool>;
using OpListTensor = std::vector<Tensor>;
using OpBytes = std::vector<uint8_t>;
using OpListListInt = std::vector<std::vector<int64_t>>;
using OpListType = std::vector<DataType>;
using OpListNamedAttrs = std::vector<NamedAttrs>;

// What is known of one operator of a graph; handles to it are copied about.
struct Node {
    struct Input {
        std::string name;
        TensorDesc desc;
        std::shared_ptr<Node> from;
        std::string output;
    };
    struct Port {
        std::string name;
        bool is_list;
        std::vector<Input> given;
    };
    std::string name, type;
    std::vector<Port> inputs;
    std::vector<std::pair<std::string, TensorDesc>> outputs;
    std::vector<std::pair<std::string, std::string>> attrs;
    std::map<std::string, Tensor> tensors;

    Port* port(const std::string& wanted) {
        for (Port& one : inputs)
            if (one.name == wanted) return &one;
        return nullptr;
    }
    Input& place(const std::string& wanted, size_t index = 0) {
        Port* found = port(wanted);
        if (!found) found = &inputs.emplace_back(Port{wanted, false, {}});
        if (found->given.size() <= index) found->given.resize(index + 1);
        return found->given[index];
    }
    TensorDesc& output(const std::string& wanted) {
        for (auto& [known, desc] : outputs)
            if (known == wanted) return desc;
        return outputs.emplace_back(wanted, TensorDesc()).second;
    }
};

class Operator {
public:
    Operator() : Operator("", "") {}
    explicit Operator(const char* type) : Operator(type, type) {}
    Operator(const char* name, const char* type) : node(std::make_shared<Node>()) {
        node->name = name ? name : "";
        node->type = type ? type : "";
    }
    std::string GetName() const { return node->name; }
    std::string GetOpType() const { return node->type; }
    template <typename... Place>
    Operator& SetInput(const std::string& name, const Operator& from, Place&&...) {
        node->place(name).from = from.node;
        return *this;
    }
    Operator& AddControlInput(const Operator&) { return *this; }
    graphStatus UpdateInputDesc(const std::string& name, const TensorDesc& desc) {
        node->place(name).desc = desc;
        return GRAPH_SUCCESS;
    }
    graphStatus UpdateOutputDesc(const std::string& name, const TensorDesc& desc) {
        node->output(name) = desc;
        return GRAPH_SUCCESS;
    }
    graphStatus UpdateDynamicInputDesc(const std::string& name, uint32_t index,
                                       const TensorDesc& desc) {
        node->place(name, index).desc = desc;
        return GRAPH_SUCCESS;
    }
    graphStatus UpdateDynamicOutputDesc(const std::string& name, uint32_t index,
                                        const TensorDesc& desc) {
        node->output(name + std::to_string(index)) = desc;
        return GRAPH_SUCCESS;
    }
    TensorDesc GetInputDesc(const std::string& name) const { return node->place(name).desc; }
    TensorDesc GetOutputDesc(const std::string& name) const { return node->output(name); }

    template <typename Value> Operator& SetAttr(const std::string& name, const Value& value) {
        ascendopt::Row row;
        if constexpr (std::is_same_v<Value, Tensor>) {
            node->tensors[name] = value;
            return *this;
        } else if constexpr (std::is_same_v<Value, AscendString>) {
            row.key("text"), row.word(value.GetString());
        } else if constexpr (std::is_convertible_v<Value, std::string>) {
            row.key("text"), row.word(value);
        } else if constexpr (std::is_arithmetic_v<Value>) {
            row.key("number"), row.number(value);
        } else if constexpr (std::is_enum_v<Value>) {
            row.key("number"), row.number(int64_t(value));
        } else {
            list(row, value);
        }
        if (!row.text.empty()) node->attrs.emplace_back(name, row.text);
        return *this;
    }

    std::shared_ptr<Node> node;

private:
    template <typename Element>
    static void list(ascendopt::Row& row, const std::vector<Element>& of) {
        if constexpr (std::is_arithmetic_v<Element>) row.key("array"), row.list(of);
        if constexpr (std::is_enum_v<Element>)
            row.key("array"), row.list(std::vector<int64_t>(of.begin(), of.end()));
    }
    static void list(ascendopt::Row&, ...) {}
};

class Graph {
public:
    Graph() = default;
    explicit Graph(const char*) {}
    explicit Graph(const std::string&) {}
    explicit Graph(const AscendString&) {}
    graphStatus AddOp(const Operator& one) {
        nodes.push_back(one.node);
        return GRAPH_SUCCESS;
    }
    Graph& SetInputs(const std::vector<Operator>& given) {
        for (auto& one : given) inputs.push_back(one.node);
        return *this;
    }
    Graph& SetOutputs(const std::vector<Operator>& given) {
        for (auto& one : given) nodes.push_back(one.node);
        return *this;
    }
    template <typename Which>
    Graph& SetOutputs(const std::vector<std::pair<Operator, Which>>& given) {
        for (auto& one : given) nodes.push_back(one.first.node);
        return *this;
    }
    Graph& SetTargets(const std::vector<Operator>& given) { return SetOutputs(given); }
    bool IsValid() const { return true; }

    std::vector<std::shared_ptr<Node>> nodes, inputs;
};

// The operators of a graph in the order in which they run; each is written once.
class Writer {
public:
    Writer(const Graph& graph, const std::vector<Tensor>& fed) {
        std::vector<std::shared_ptr<Node>> sources = graph.inputs;
        for (auto& one : graph.nodes)
            if (sources.size() < fed.size() && graph.inputs.empty() && is_source(*one))
                sources.push_back(one);
        for (size_t i = 0; i < sources.size() && i < fed.size(); ++i)
            fed_[sources[i].get()] = &fed[i];
        for (auto& one : graph.nodes) write(one);
    }

private:
    std::map<const Node*, const Tensor*> fed_;
    std::vector<const Node*> done_;

    static bool is_source(const Node& one) { return one.type == "Data"; }

    void write(const std::shared_ptr<Node>& one) {
        if (std::find(done_.begin(), done_.end(), one.get()) != done_.end()) return;
        done_.push_back(one.get());
        bool has_source = false;
        for (auto& port : one->inputs)
            for (auto& given : port.given)
                if (given.from) has_source = true, write(given.from);
        if (!has_source && (is_source(*one) || one->tensors.count("value"))) return;
        ascendopt::Row row;
        row.text += '{';
        row.key("name"), row.word(one->type);
        row.key("arguments"), row.text += '[';
        for (auto& port : one->inputs) {
            begin(row, port.name);
            if (port.given.empty()) {
                row.key("null"), row.number(true);
            } else if (port.is_list) {
                row.key("tensors"), row.separate(), row.text += '[';
                for (auto& given : port.given) put(row, given);
                row.text += ']';
            } else {
                row.key("tensor"), put(row, port.given[0]);
            }
            row.text += '}';
        }
        for (auto& [name, value] : one->attrs)
            begin(row, name), row.separate(), row.text += value + '}';
        for (auto& [name, desc] : one->outputs) {
            if (!desc.is_set) continue;
            begin(row, name);
            row.key("is_output"), row.number(true);
            row.key("tensor"), put(row, desc, nullptr);
            row.text += '}';
        }
        row.text += "]}";
        ascendopt::write(row);
    }

    static void begin(ascendopt::Row& row, const std::string& name) {
        row.separate();
        row.text += '{';
        row.key("name"), row.word(name);
    }

    void put(ascendopt::Row& row, const Node::Input& given) {
        const Tensor* held = nullptr;
        TensorDesc desc = given.desc;
        if (given.from) {
            auto fed = fed_.find(given.from.get());
            auto constant = given.from->tensors.find("value");
            if (fed != fed_.end()) held = fed->second;
            if (constant != given.from->tensors.end()) held = &constant->second;
            for (auto& [name, one] : given.from->outputs)
                if (!desc.is_set) desc = one;
            for (auto& port : given.from->inputs)
                if (!desc.is_set && is_source(*given.from) && !port.given.empty())
                    desc = port.given[0].desc;
        }
        if (held && held->GetTensorDesc().is_set) desc = held->GetTensorDesc();
        if (!desc.is_set) return row.null();
        put(row, desc, held);
    }

    static void put(ascendopt::Row& row, const TensorDesc& desc, const Tensor* held) {
        auto dtype = static_cast<aclDataType>(desc.GetDataType());
        row.separate();
        row.text += '{';
        row.key("dtype"), row.word(ascendopt::name_of(dtype));
        row.key("shape"), row.list(desc.GetShape().GetDims());
        size_t count = 1;
        for (int64_t length : desc.GetShape().GetDims()) count *= length < 0 ? 0 : size_t(length);
        if (held) ascendopt::held(row, dtype, held->GetData(), count, held->GetSize());
        row.text += '}';
    }
};

using Options = std::map<AscendString, AscendString>;

class Session {
public:
    template <typename Given = Options> explicit Session(const Given&) {}
    template <typename Given = Options>
    Status AddGraph(uint32_t number, const Graph& graph, const Given& = {}) {
        graphs_[number] = graph;
        return SUCCESS;
    }
    template <typename Given = Options> Status CompileGraph(uint32_t, const Given& = {}) {
        return SUCCESS;
    }
    Status RunGraph(uint32_t number, const std::vector<Tensor>& fed, std::vector<Tensor>&) {
        Writer(graphs_[number], fed);
        return SUCCESS;
    }
    template <typename Answered>
    Status RunGraphAsync(uint32_t number, const std::vector<Tensor>& fed, const Answered&) {
        Writer(graphs_[number], fed);
        return SUCCESS;
    }
    Status RemoveGraph(uint32_t) { return SUCCESS; }

private:
    std::map<uint32_t, Graph> graphs_;
};

template <typename Given = Options> Status GEInitialize(const Given&) { return SUCCESS; }
inline Status GEFinalize() { return SUCCESS; }
inline AscendString GEGetErrorMsgV2() { return ""; }
inline AscendString GEGetWarningMsgV2() { return ""; }
inline std::string GEGetErrorMsg() { return ""; }
inline std::string GEGetWarningMsg() { return ""; }
template <typename... Given> Status aclgrphDumpGraph(Given&&...) { return SUCCESS; }

// A prototype makes the class of its operator: each word ends the function that the one before it
// began, adds members, and begins the next.
struct Words {
    void next() {}
};
}  // namespace ge

#define REG_OP(type)                                                                        \
    namespace op {                                                                          \
    class type : public ::ge::Operator {                                                    \
        using Own = type;                                                                   \
                                                                                            \
    public:                                                                                 \
        explicit type(const char* name = "") : Operator(name, #type) { ascendopt_first(); } \
        explicit type(const std::string& name) : type(name.c_str()) {}                      \
        explicit type(const ::ge::AscendString& name) : type(name.GetString()) {}           \
                                                                                            \
    private:                                                                                \
        void ascendopt_first() {                                                            \
            ::ge::Words()

#define ASCENDOPT_PORT(x, is_list)                                                            \
    next();                                                                                   \
    ascendopt_input_##x();                                                                    \
    }                                                                                         \
                                                                                              \
public:                                                                                       \
    template <typename... Place> Own& set_input_##x(const ::ge::Operator& from, Place&&...) { \
        node->place(#x).from = from.node;                                                     \
        return *this;                                                                         \
    }                                                                                         \
    graphStatus update_input_desc_##x(const ::ge::TensorDesc& desc) {                         \
        return UpdateInputDesc(#x, desc);                                                     \
    }                                                                                         \
    ::ge::TensorDesc get_input_desc_##x() const { return GetInputDesc(#x); }                  \
    Own& create_dynamic_input_##x(uint32_t count, bool = true) {                              \
        if (count) node->place(#x, count - 1);                                                \
        return *this;                                                                         \
    }                                                                                         \
    Own& create_dynamic_input_byindex_##x(uint32_t count, size_t) {                           \
        return create_dynamic_input_##x(count);                                               \
    }                                                                                         \
    template <typename... Place>                                                              \
    Own& set_dynamic_input_##x(uint32_t index, const ::ge::Operator& from, Place&&...) {      \
        node->place(#x, index).from = from.node;                                              \
        return *this;                                                                         \
    }                                                                                         \
    graphStatus update_dynamic_input_desc_##x(uint32_t index, const ::ge::TensorDesc& d) {    \
        return UpdateDynamicInputDesc(#x, index, d);                                          \
    }                                                                                         \
                                                                                              \
private:                                                                                      \
    void ascendopt_input_##x() {                                                              \
        node->inputs.push_back({#x, is_list, {}});                                            \
        ::ge::Words()
#define INPUT(x, ...) ASCENDOPT_PORT(x, false)
#define OPTIONAL_INPUT(x, ...) ASCENDOPT_PORT(x, false)
#define DYNAMIC_INPUT(x, ...) ASCENDOPT_PORT(x, true)

#define OUTPUT(x, ...)                                                                      \
    next();                                                                                 \
    ascendopt_output_##x();                                                                 \
    }                                                                                       \
                                                                                            \
public:                                                                                     \
    graphStatus update_output_desc_##x(const ::ge::TensorDesc& desc) {                      \
        return UpdateOutputDesc(#x, desc);                                                  \
    }                                                                                       \
    ::ge::TensorDesc get_output_desc_##x() const { return GetOutputDesc(#x); }              \
    Own& create_dynamic_output_##x(uint32_t, bool = true) { return *this; }                 \
    graphStatus update_dynamic_output_desc_##x(uint32_t index, const ::ge::TensorDesc& d) { \
        return UpdateDynamicOutputDesc(#x, index, d);                                       \
    }                                                                                       \
                                                                                            \
private:                                                                                    \
    void ascendopt_output_##x() {                                                           \
        ::ge::Words()
#define DYNAMIC_OUTPUT(x, ...) OUTPUT(x)

#define ATTR(x, kind, ...)                                                             \
    next();                                                                            \
    ascendopt_attr_##x();                                                              \
    }                                                                                  \
                                                                                       \
public:                                                                                \
    template <typename Value = ::ge::Op##kind> Own& set_attr_##x(const Value& value) { \
        if constexpr (std::is_convertible_v<Value, ::ge::Op##kind>)                    \
            SetAttr<::ge::Op##kind>(#x, value);                                        \
        else                                                                           \
            SetAttr(#x, value);                                                        \
        return *this;                                                                  \
    }                                                                                  \
                                                                                       \
private:                                                                               \
    void ascendopt_attr_##x() {                                                        \
        ::ge::Words()
#define REQUIRED_ATTR(x, kind) ATTR(x, kind)
#define DATATYPE(...) next(), ::ge::Words()
#define GRAPH(...) next(), ::ge::Words()
#define DYNAMIC_GRAPH(...) next(), ::ge::Words()
#define OP_END_FACTORY_REG(type) \
    next();                      \
    }                            \
    }                            \
    ;                            \
    }
