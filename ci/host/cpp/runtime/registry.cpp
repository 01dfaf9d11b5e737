// What the operator's sources registered before main: definitions, functions, tiling data.
#include "detail/log.h"
#include "detail/op_def.h"
#include "detail/tiling_data.h"
#include "runtime/runtime.h"

fe::PlatFormInfos& host::current_platform() {
    static fe::PlatFormInfos platform;
    return platform;
}

std::map<std::string, gert::OpFunctions>& gert::registered_functions() {
    static std::map<std::string, OpFunctions> functions;
    return functions;
}

gert::OpImplRegisterV2::OpImplRegisterV2(const char* type)
    : functions_(&registered_functions()[type]) {}

gert::OpImplRegisterV2& gert::OpImplRegisterV2::InputsDataDependency(
    std::initializer_list<int32_t> inputs) {
    functions_->value_inputs.insert(functions_->value_inputs.end(), inputs);
    return *this;
}

gert::OpImplRegisterV2& gert::OpImplRegisterV2::say(const char* call,
                                                    std::initializer_list<int32_t> indices) {
    std::string words = call;
    for (const int32_t index : indices) {
        words += " " + std::to_string(index);
    }
    functions_->said.push_back(words);
    return *this;
}

std::vector<const ops::OpDef*>& ops::registered_definitions() {
    static std::vector<const OpDef*> definitions;
    return definitions;
}

int ops::add_definition(const OpDef* definition) {
    registered_definitions().push_back(definition);
    return 0;
}

namespace optiling {
std::map<std::string, TilingDataConstructor>& registered_tilings() {
    static std::map<std::string, TilingDataConstructor> tilings;
    return tilings;
}

std::vector<std::string>& registered_tiling_order() {
    static std::vector<std::string> order;
    return order;
}

int add_tiling(const char* name, TilingDataConstructor constructor) {
    if (registered_tilings().emplace(name, constructor).second) {
        registered_tiling_order().push_back(name);
    }
    return 0;
}

CTilingDataClassFactory& CTilingDataClassFactory::GetInstance() {
    static CTilingDataClassFactory factory;
    return factory;
}

void CTilingDataClassFactory::RegisterTilingData(const char* name,
                                                 TilingDataConstructor constructor) {
    add_tiling(name, constructor);
}

std::shared_ptr<TilingDef> CTilingDataClassFactory::CreateTilingDataInstance(const char* name) {
    const auto found = registered_tilings().find(name);
    return std::shared_ptr<TilingDef>(found == registered_tilings().end() ? nullptr
                                                                          : found->second());
}

namespace {
constexpr size_t kStructAlignment = 8;
size_t aligned(size_t offset, size_t alignment) {
    return alignment == 0 ? offset : (offset + alignment - 1) / alignment * alignment;
}
}  // namespace

size_t TilingDef::add_field(const char* dtype, const char* name, size_t bytes, size_t count) {
    FieldInfo field{dtype, name, bytes, count, aligned(data_size_, bytes), nullptr};
    data_size_ = field.offset + bytes * (count == 0 ? 1 : count);
    fields_.push_back(field);
    return field.offset;
}

size_t TilingDef::add_struct(const char* dtype, const char* name, TilingDef* nested, size_t bytes) {
    FieldInfo field{dtype, name, bytes, 0, aligned(data_size_, kStructAlignment), nested};
    data_size_ = field.offset + bytes;
    fields_.push_back(field);
    nested_.emplace_back(reinterpret_cast<uint8_t*>(nested) - reinterpret_cast<uint8_t*>(this),
                         field.offset);
    return field.offset;
}

namespace {
struct Narrowed {
    std::string field;
    int64_t given, becomes;
    int bits;
    std::string file;
    int line;
};
std::vector<Narrowed>& narrowed() {
    static std::vector<Narrowed> all;
    return all;
}
}  // namespace

void note_narrowed(const char* field, int64_t given, int64_t becomes, int bits, const char* file,
                   int line) {
    constexpr size_t kMost = 20;
    for (const Narrowed& one : narrowed()) {
        if (one.line == line && one.field == field) return;
    }
    if (narrowed().size() < kMost) narrowed().push_back({field, given, becomes, bits, file, line});
}

// What a sanitizer of the compiler tells of an operation: `file` first.
struct Overflow {
    const char* file;
    uint32_t line, column;
    const struct {
        uint16_t kind, info;  // info: the bits' logarithm, above whether there is a sign
    }* type;
};

void note_overflow(const Overflow& seen, const char* what, int64_t given) {
    constexpr int kInt = 5 << 1 | 1;
    if (seen.type->info == kInt)
        note_narrowed(what, given, static_cast<int32_t>(given), 32, seen.file,
                      static_cast<int>(seen.line));
}

void TilingDef::finish(const char* class_name, bool allocate) {
    class_name_ = class_name;
    data_size_ = aligned(data_size_, kStructAlignment);
    if (allocate) {
        owned_ = std::make_shared<std::vector<uint8_t>>(data_size_ + kStructAlignment, 0);
        SetDataPtr(owned_->data());
    }
}

void TilingDef::SetDataPtr(void* data) {
    data_ptr_ = static_cast<uint8_t*>(data);
    for (const auto& [member, offset] : nested_) {
        reinterpret_cast<TilingDef*>(reinterpret_cast<uint8_t*>(this) + member)
            ->SetDataPtr(data_ptr_ + offset);
    }
}

TilingDef::TilingDef() = default;
TilingDef::TilingDef(const TilingDef& other) = default;
TilingDef::~TilingDef() = default;

TilingDef& TilingDef::operator=(const TilingDef& other) {
    if (this != &other && data_ptr_ != nullptr && other.data_ptr_ != nullptr) {
        std::memmove(data_ptr_, other.data_ptr_, std::min(data_size_, other.data_size_));
    }
    return *this;
}

void TilingDef::SaveToBuffer(void* out, size_t capacity) {
    if (out == nullptr || data_ptr_ == nullptr || capacity < data_size_) {
        ascendopt_log(DLOG_ERROR, "SaveToBuffer of %s: %zu bytes do not fit into %zu.", class_name_,
                      data_size_, capacity);
        return;
    }
    std::memmove(out, data_ptr_, data_size_);
}
}  // namespace optiling

namespace {
struct Odd {
    std::string kind, text, file;
    int line;
};
std::vector<Odd>& odds() {
    static std::vector<Odd> all;
    return all;
}
}  // namespace

void host::note_odd(const char* kind, const std::string& text, const char* file, int line) {
    constexpr size_t kMost = 20;
    for (const Odd& one : odds())
        if (one.line == line && one.kind == kind) return;
    if (odds().size() < kMost) odds().push_back({kind, text, file, line});
}

namespace {
struct Quotient {  // the latest
    int64_t value;
    bool rest;
    const char* file;
    int line;
} quotient;
}  // namespace

void optiling::note_quotient(int64_t value, bool rest, const char* file, int line) {
    quotient = {value, rest, file, line};
}

void optiling::note_fraction(int64_t value) {
    if (!quotient.rest || quotient.value != value) return;
    host::note_odd("whole_ratio",
                   "A quotient of whole numbers becomes a number of floating point: it is " +
                       std::to_string(value) + ", and its fraction is lost.",
                   quotient.file, quotient.line);
}

std::string host::odd_seen() {
    return list(odds(), [](const Odd& one) {
        return "{\"kind\":" + quoted(one.kind) + ",\"text\":" + quoted(one.text) +
               ",\"file\":" + quoted(one.file) + ",\"line\":" + std::to_string(one.line) + "}";
    });
}

namespace {
struct Asking {
    std::string what, file;
    size_t number;
    int line;
};
std::vector<Asking>& askings() {
    static std::vector<Asking> all;
    return all;
}
}  // namespace

void host::note_asked(const char* what, size_t number, const char* file, int line) {
    constexpr size_t kMost = 100;
    for (const Asking& one : askings())
        if (one.line == line && one.number == number && one.what == what) return;
    if (askings().size() < kMost) askings().push_back({what, file, number, line});
}

std::string host::asked_seen() {
    return list(askings(), [](const Asking& one) {
        return "{\"what\":" + quoted(one.what) + ",\"number\":" + std::to_string(one.number) +
               ",\"file\":" + quoted(one.file) + ",\"line\":" + std::to_string(one.line) + "}";
    });
}

std::string host::narrowed_seen() {
    return list(optiling::narrowed(), [](const optiling::Narrowed& one) {
        return "{\"field\":" + quoted(one.field) + ",\"given\":" + std::to_string(one.given) +
               ",\"becomes\":" + std::to_string(one.becomes) +
               ",\"bits\":" + std::to_string(one.bits) + ",\"file\":" + quoted(one.file) +
               ",\"line\":" + std::to_string(one.line) + "}";
    });
}

// The hooks of -fsanitize=signed-integer-overflow and bounds, for hosts that are built to be
// checked.
namespace {
int32_t number(const void* value) {
    return static_cast<int32_t>(reinterpret_cast<intptr_t>(value));
}
}  // namespace
#define WRAPS(name, what, sign)                                                      \
    extern "C" void __ubsan_handle_##name##_overflow(void* seen, void* a, void* b) { \
        optiling::note_overflow(*static_cast<const optiling::Overflow*>(seen), what, \
                                int64_t(number(a)) sign number(b));                  \
    }
WRAPS(add, "a sum", +)
WRAPS(sub, "a difference", -)
WRAPS(mul, "a product", *)
extern "C" void __ubsan_handle_negate_overflow(void*, void*) {}
extern "C" void __ubsan_handle_out_of_bounds(void*, void*) {}
