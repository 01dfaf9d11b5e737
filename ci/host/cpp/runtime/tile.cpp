// The tile answer: inference, tiling parse, tiling, and what they decided, as JSON.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "runtime/runtime.h"

namespace host {
namespace {
using gert::Node;

const ops::OpDef* find_definition(const std::string& type) {
    const auto& all = ops::registered_definitions();
    for (const ops::OpDef* def : all) {
        if (def->type_ == type) return def;
    }
    return all.size() == 1 ? all.front() : nullptr;
}

// The functions of the type: what the definition sets, completed by what is registered apart.
gert::OpFunctions find_functions(const std::string& type, const ops::OpDef* def) {
    auto& all = gert::registered_functions();
    gert::OpFunctions found;
    if (const auto it = all.find(type); it != all.end()) found = it->second;
    if (def != nullptr) {
        found.tiling = def->aicore_.tiling_ != nullptr ? def->aicore_.tiling_ : found.tiling;
        found.infer_shape = def->infer_shape_ != nullptr ? def->infer_shape_ : found.infer_shape;
        found.infer_data_type =
            def->infer_type_ != nullptr ? def->infer_type_ : found.infer_data_type;
        const auto add_readable = [&found](const ops::OpParams& inputs) {
            for (size_t i = 0; i < inputs.all.size(); ++i) {
                if (inputs.all[i]->value_depend_)
                    found.value_inputs.push_back(static_cast<int32_t>(i));
            }
        };
        add_readable(def->inputs_);
        const std::string& chip = current_platform().facts["soc.definition"];
        for (const auto& [soc, config] : def->aicore_.configs_) {
            if (soc == chip) add_readable(config.inputs_);
        }
    }
    return found;
}

gert::Shape shape_of(const std::vector<int64_t>& dims) {
    gert::Shape shape;
    for (const int64_t d : dims) shape.AppendDim(d);
    return shape;
}

void add_tensors(const std::vector<std::vector<TensorRequest>>& requests,
                 std::vector<gert::AnchorInstanceInfo>& irs,
                 std::vector<std::unique_ptr<gert::Tensor>>& tensors,
                 const std::vector<int32_t>& readable, bool are_inputs) {
    for (size_t ir = 0; ir < requests.size(); ++ir) {
        irs.emplace_back(static_cast<uint32_t>(tensors.size()),
                         static_cast<uint32_t>(requests[ir].size()));
        for (const TensorRequest& r : requests[ir]) {
            auto tensor = std::make_unique<gert::Tensor>();
            tensor->MutableStorageShape() = shape_of(r.dims);
            tensor->MutableOriginShape() = shape_of(r.dims);
            tensor->SetDataType(static_cast<ge::DataType>(r.dtype));
            tensor->SetStorageFormat(static_cast<ge::Format>(r.format));
            tensor->SetOriginFormat(static_cast<ge::Format>(r.format));
            tensor->give_data(r.data);
            if (are_inputs) tensor->is_input(static_cast<int>(ir));
            if (std::find(readable.begin(), readable.end(), static_cast<int32_t>(ir)) !=
                readable.end()) {
                tensor->allow_reading();
            }
            tensors.push_back(std::move(tensor));
        }
    }
}

template <class T, class Read>
void fill_list(gert::RuntimeAttrs::Value& value, const std::vector<std::string>& words, Read read) {
    std::vector<T> list;
    for (const std::string& word : words) list.push_back(read(word));
    value.kind = gert::RuntimeAttrs::Value::kList;
    value.list.fill(list.data(), list.size(), sizeof(T));
}

gert::RuntimeAttrs::Value attr_value(const std::string& kind, const std::vector<std::string>& v) {
    using Value = gert::RuntimeAttrs::Value;
    Value value;
    const std::string first = v.empty() ? "" : v.front();
    const auto integer = [](const std::string& w) { return std::strtoll(w.c_str(), nullptr, 10); };
    const auto real = [](const std::string& w) { return std::strtof(w.c_str(), nullptr); };
    const auto truth = [](const std::string& w) { return w == "1" || w == "true"; };
    if (kind == "int") {
        value.kind = Value::kInt;
        value.integer = integer(first);
    } else if (kind == "float") {
        value.kind = Value::kFloat;
        value.real = real(first);
    } else if (kind == "bool") {
        value.kind = Value::kBool;
        value.truth = truth(first);
    } else if (kind == "string") {
        value.kind = Value::kString;
        value.text = first;
    } else if (kind == "list_float") {
        fill_list<float>(value, v, real);
    } else if (kind == "list_bool") {
        fill_list<uint8_t>(value, v, truth);
    } else {
        fill_list<int64_t>(value, v, integer);
    }
    return value;
}

void add_attrs(const Request& request, const ops::OpDef* def, gert::RuntimeAttrs& attrs) {
    std::vector<std::string> used;
    if (def != nullptr) {
        for (const auto& declared : def->attrs_) {
            const auto given =
                std::find_if(request.attrs.begin(), request.attrs.end(),
                             [&](const auto& a) { return a.name == declared->name_; });
            if (given != request.attrs.end()) {
                attrs.add(attr_value(declared->kind_, given->values));
            } else if (declared->has_default_) {
                std::vector<std::string> values;
                for (const double n : declared->numbers_) {
                    char text[40];
                    // A whole number without an exponent; the largest is read as such again.
                    const bool whole = n == std::floor(n) && std::abs(n) < 1e19;
                    std::snprintf(text, sizeof text, whole ? "%.0f" : "%.17g", n);
                    values.emplace_back(text);
                }
                attrs.add(
                    attr_value(declared->kind_, declared->kind_ == "string"
                                                    ? std::vector<std::string>{declared->text_}
                                                    : values));
            } else {
                attrs.add({});
            }
            used.push_back(declared->name_);
        }
    }
    for (const AttrRequest& a : request.attrs) {
        if (std::find(used.begin(), used.end(), a.name) == used.end()) {
            attrs.add(attr_value(a.kind, a.values));
        }
    }
}

std::string hex(const void* data, size_t size) {
    constexpr char kDigits[] = "0123456789abcdef";
    const auto* bytes = static_cast<const uint8_t*>(data);
    std::string out;
    out.reserve(2 * size);
    for (size_t i = 0; i < size; ++i) {
        out += kDigits[bytes[i] >> 4];
        out += kDigits[bytes[i] & 15];
    }
    return out;
}

std::string tensor_json(const gert::Tensor& t) {
    std::vector<int64_t> dims;
    for (size_t i = 0; i < t.GetOriginShape().GetDimNum(); ++i) {
        dims.push_back(t.GetOriginShape().GetDim(i));
    }
    return "{\"dtype\":" + std::to_string(static_cast<int>(t.GetDataType())) +
           ",\"shape\":" + list(dims, [](int64_t d) { return std::to_string(d); }) + "}";
}

// The inferred dtypes and shapes, a list for each output.
std::string outputs(const Node& node) {
    std::string all = "[";
    for (const auto& ir : node.info.ir_outputs_) {
        all += all.size() > 1 ? ",[" : "[";
        for (size_t i = 0; i < ir.GetInstanceNum(); ++i) {
            all += (i > 0 ? "," : "") + tensor_json(*node.info.outputs_[ir.GetInstanceStart() + i]);
        }
        all += "]";
    }
    return all + "]";
}

// What a tiling decided, as members of a JSON object.
std::string decided(const Node& node) {
    const size_t size = std::min(node.tiling.GetDataSize(), node.tiling.GetCapacity());
    return "\"tiling_key\":" + std::to_string(node.tiling_key) + ",\"data\":\"" +
           hex(node.tiling.GetData(), size) + "\"," + template_choice(node.tiling_key) +
           ",\"outputs\":" + outputs(node);
}

// Which words of 32 bits are 0, 1 or more ('n'): how the work is cut, without the numbers.
std::string pattern(const void* data, size_t size) {
    std::string out;
    for (size_t at = 0; at < size; at += sizeof(uint32_t)) {
        uint32_t word = 0;
        std::memcpy(&word, static_cast<const uint8_t*>(data) + at,
                    std::min(sizeof(word), size - at));
        out += word > 1 ? 'n' : static_cast<char>('0' + word);
    }
    return out;
}

const char* word(ge::graphStatus status) { return status == ge::GRAPH_SUCCESS ? "ok" : "failed"; }

// How the inference functions ended: "ok", "failed", or "none" where there is none, or where that
// of shapes leaves all outputs as they were: projects are made with one that only returns success.
struct Inferred {
    const char* dtypes = "none";
    const char* shapes = "none";
};

Inferred run_inference(Node& node, const gert::OpFunctions& functions) {
    Inferred found;
    if (functions.infer_data_type != nullptr) {
        gert::InferDataTypeContext context(&node);
        found.dtypes = word(functions.infer_data_type(&context));
    } else if (functions.infer_type_from_first && !node.info.inputs_.empty()) {
        for (auto& out : node.info.outputs_) out->SetDataType(node.info.inputs_[0]->GetDataType());
        found.dtypes = "ok";
    }
    if (functions.infer_shape != nullptr) {
        gert::InferShapeContext context(&node);
        const auto& outputs = node.info.outputs_;
        for (auto& out : outputs) {
            if (out->GetOriginShape().IsScalar()) out->MutableOriginShape().SetUntold();
        }
        found.shapes = word(functions.infer_shape(&context));
        bool told = outputs.empty();
        for (auto& out : outputs) {
            if (out->GetOriginShape().IsUntold()) {
                out->MutableOriginShape().SetScalar();
            } else {
                told = true;
            }
        }
        if (!told && found.shapes == std::string("ok")) found.shapes = "none";
    }
    return found;
}

// Gives each output the dtype and shape that inference tells, where the request leaves them open.
// A launch of a single operator gives all of them, and then the device runs no inference either.
void fill_open(Node& node, const gert::OpFunctions& functions, const Request& request) {
    bool open = false;
    for (const auto& ir : request.outputs) {
        for (const TensorRequest& r : ir) {
            open = open || !r.has_shape || r.dtype == ge::DT_UNDEFINED;
        }
    }
    if (!open) return;
    run_inference(node, functions);
    size_t at = 0;
    for (const auto& ir : request.outputs) {
        for (const TensorRequest& r : ir) {
            gert::Tensor& out = *node.info.outputs_[at++];
            if (r.has_shape) out.MutableOriginShape() = shape_of(r.dims);
            if (r.dtype != ge::DT_UNDEFINED) out.SetDataType(static_cast<ge::DataType>(r.dtype));
            out.MutableStorageShape() = out.GetOriginShape();
        }
    }
}

// A request with its functions. The node is never freed: an operator may have written anywhere.
struct Asked {
    explicit Asked(const Request& request)
        : def(find_definition(request.op_type)), node(*new Node) {
        current_platform().facts = request.facts;
        functions = find_functions(request.op_type, def);
        node.platform.facts = request.facts;
        node.platform.SetCoreNum(static_cast<uint32_t>(node.platform.number("cores.default", 0)));
        current_platform() = node.platform;
        node.info.type_ = node.info.name_ = request.op_type;
        for (unsigned i = 0; i < surroundings(); ++i) node.info.name_ += "_" + std::to_string(i);
        if (surroundings() % 2 != 0) node.tiling = gert::TilingData(2 * Node::kTilingCapacity);
        node.deterministic = request.deterministic;
        if (request.filling != 0)
            std::memset(node.tiling.GetData(), request.filling, node.tiling.GetCapacity());
        add_tensors(request.inputs, node.info.ir_inputs_, node.info.inputs_, functions.value_inputs,
                    true);
        add_tensors(request.outputs, node.info.ir_outputs_, node.info.outputs_, {}, false);
        add_attrs(request, def, node.info.attrs_);
    }
    const ops::OpDef* def;
    gert::OpFunctions functions;
    Node& node;
};

struct Ending {
    const char* status;
    std::string step, message;
};

// That there is no tiling for a type, and for which types there is one instead.
std::string no_tiling(const std::string& type) {
    std::string others;
    for (const auto& [name, functions] : gert::registered_functions()) {
        if (functions.tiling != nullptr) others += (others.empty() ? "" : ", ") + name;
    }
    const std::string instead =
        others.empty() ? "" : " The sources of its host side register one for " + others + ".";
    return "No tiling function is registered for " + type + "." + instead;
}

Ending run_tiling(Asked& asked, const Request& request) {
    Node& node = asked.node;
    const gert::OpFunctions& functions = asked.functions;
    std::string step = "inference";
    try {
        fill_open(node, functions, request);
        if (functions.tiling == nullptr) {
            return {"failed", "tiling", no_tiling(request.op_type)};
        }
        if (functions.create_compile_info != nullptr) {
            node.compile_info = functions.create_compile_info();
        }
        if (functions.tiling_parse != nullptr) {
            step = "tiling parse";
            gert::TilingParseContext context(&node);
            if (functions.tiling_parse(&context) != ge::GRAPH_SUCCESS) {
                return {"failed", step, "The tiling parse function returned a failure."};
            }
        }
        step = "tiling";
        gert::TilingContext context(&node);
        if (functions.tiling(&context) != ge::GRAPH_SUCCESS) {
            return {"failed", step, "The tiling function returned a failure."};
        }
    } catch (const std::exception& problem) {
        return {"threw", step, std::string("An exception: ") + problem.what()};
    }
    return {"ok", step, ""};
}

std::string tiled(const Node& node, const Ending& ending, const std::string& decision) {
    const std::vector<size_t> sizes(
        node.workspaces.begin(),
        node.workspaces.begin() + static_cast<ptrdiff_t>(node.workspace_count));
    return "{\"status\":" + quoted(ending.status) + ",\"step\":" + quoted(ending.step) +
           ",\"message\":" + quoted(ending.message) +
           ",\"block_dim\":" + std::to_string(node.block_dim) +
           ",\"schedule_mode\":" + std::to_string(node.schedule_mode) +
           ",\"workspace\":" + list(sizes, [](size_t s) { return std::to_string(s); }) + "," +
           decision + "}\n";
}
}  // namespace

unsigned& surroundings() {
    static unsigned number = 0;
    return number;
}

std::string tile(const Request& request) {
    Asked asked(request);
    const Ending ending = run_tiling(asked, request);
    return tiled(asked.node, ending,
                 decided(asked.node) + ",\"decisions\":" + decisions_seen() +
                     ",\"narrowed\":" + narrowed_seen() + ",\"odd\":" + odd_seen() +
                     ",\"asked\":" + asked_seen() + ",\"log\":" + list(log_lines(), quoted));
}

std::string tile_in_short(const Request& request, bool compared) {
    Asked asked(request);
    forget_steps();
    const Ending ending = run_tiling(asked, request);
    const size_t digest = std::hash<std::string>()(decided(asked.node));
    const auto& data = asked.node.tiling;
    const size_t size = std::min(data.GetDataSize(), data.GetCapacity());
    return tiled(asked.node, ending,
                 "\"tiling_key\":" + std::to_string(asked.node.tiling_key) + ",\"digest\":\"" +
                     std::to_string(digest) + "\",\"pattern\":\"" +
                     pattern(asked.node.tiling.GetData(), size) + "\"" +
                     (compared ? steps_seen() : ""));
}

std::string infer(const Request& request) {
    Request open = request;
    for (auto& ir : open.outputs) {
        for (TensorRequest& r : ir) {
            r.dims.clear();
            r.dtype = ge::DT_UNDEFINED;
        }
    }
    Asked asked(open);
    Inferred found;
    try {
        found = run_inference(asked.node, asked.functions);
    } catch (const std::exception&) {
        found.dtypes = found.shapes = "failed";
    }
    return "{\"dtypes\":" + quoted(found.dtypes) + ",\"shapes\":" + quoted(found.shapes) +
           ",\"outputs\":" + outputs(asked.node) + "}\n";
}
}  // namespace host
