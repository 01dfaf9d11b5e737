// Tiling data classes: BEGIN_TILING_DATA_DEF … END_TILING_DATA_DEF.
//
// Layout: each field at its natural alignment, a nested struct and the whole at 8 bytes, which is
// the layout of a C++ struct with alignas(8). The describe answer tells it to the kernel side.
#pragma once

#include "detail/types.h"
#include "securec.h"

namespace optiling {
class TilingDef;

struct FieldInfo {
    std::string dtype;
    std::string name;
    size_t bytes = 0;  // of one element
    size_t count = 0;  // 0: not an array
    size_t offset = 0;
    const TilingDef* nested = nullptr;
};

class TilingDef {
public:
    TilingDef();
    TilingDef(const TilingDef& other);
    TilingDef& operator=(const TilingDef& other);
    virtual ~TilingDef();
    void SaveToBuffer(void* out, size_t capacity);
    size_t GetDataSize() const { return data_size_; }
    const char* GetTilingClassName() const { return class_name_; }
    void SetDataPtr(void* data);
    const std::vector<FieldInfo>& fields() const { return fields_; }

protected:
    size_t add_field(const char* dtype, const char* name, size_t bytes, size_t count);
    size_t add_struct(const char* dtype, const char* name, TilingDef* nested, size_t bytes);
    void finish(const char* class_name, bool allocate);

    uint8_t* data_ptr_ = nullptr;
    size_t data_size_ = 0;
    const char* class_name_ = "";

private:
    std::vector<FieldInfo> fields_;
    // Nested structs by offset of the member from this object, which survives copies.
    std::vector<std::pair<ptrdiff_t, size_t>> nested_;
    std::shared_ptr<std::vector<uint8_t>> owned_;
};

// Answers an object that its caller owns.
using TilingDataConstructor = TilingDef* (*)();
// By the registered name: an op type, or an op type and `_<tiling key>`; last registration wins.
std::map<std::string, TilingDataConstructor>& registered_tilings();
std::vector<std::string>& registered_tiling_order();
int add_tiling(const char* name, TilingDataConstructor constructor);

class CTilingDataClassFactory {
public:
    static CTilingDataClassFactory& GetInstance();
    void RegisterTilingData(const char* name, TilingDataConstructor constructor);
    std::shared_ptr<TilingDef> CreateTilingDataInstance(const char* name);
};
}  // namespace optiling

namespace optiling {
// Keeps a number that does not fit its field, for the answer.
void note_narrowed(const char* field, int64_t given, int64_t becomes, int bits, const char* file,
                   int line);

// A whole number is divided: a quotient that has lost a rest is odd where it becomes a fraction.
void note_quotient(int64_t value, bool rest, const char* file, int line);
void note_fraction(int64_t value);

// What a field of type T makes of a number. The bits of a negative number may be meant.
template <typename T, typename Given>
constexpr T fitted(const Given& given, const char* field, const char* file, int line) {
    const T value = static_cast<T>(given);
    if constexpr (std::is_integral_v<T> && std::is_integral_v<Given> && !std::is_same_v<T, bool>) {
        if (static_cast<Given>(value) != given &&
            static_cast<int64_t>(std::make_signed_t<T>(value)) != static_cast<int64_t>(given))
            note_narrowed(field, static_cast<int64_t>(given), static_cast<int64_t>(value),
                          sizeof(T) * 8, file, line);
    } else if constexpr (std::is_floating_point_v<T> && std::is_integral_v<Given>) {
        note_fraction(static_cast<int64_t>(given));
    }
    return value;
}

// In host sources that are built to be checked `uint32_t n = x` is `uint32_t n =
// Cut<decltype(n)>("n") = x`, and so are assignments and what functions return.
template <typename T, typename = void> struct Cut {
    constexpr explicit Cut(const char*) {}
    template <typename Given> constexpr Given&& operator=(Given&& given) const {
        return static_cast<Given&&>(given);
    }
};
template <typename T>
struct Cut<T, std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>>> {
    constexpr explicit Cut(const char* name, const char* file = __builtin_FILE(),
                           int line = __builtin_LINE())
        : name_(name), file_(file), line_(line) {}
    template <typename Given> constexpr T operator=(const Given& given) const {
        return fitted<T>(given, name_, file_, line_);
    }

private:
    const char* name_;
    const char* file_;
    int line_;
};

// `a * b` is `a * Checked() * b`: the compiler lets products without a sign wrap.
struct Checked {
    constexpr Checked(const char* from = __builtin_FILE(), int number = __builtin_LINE())
        : file(from), line(number) {}
    const char* file;
    int line;
};
template <typename T> struct Factor {
    T value;
    Checked at;
};
template <typename T> constexpr Factor<T> operator*(const T& value, Checked at) {
    return {value, at};
}
// Of a number of floating point and a whole one the latter becomes a fraction.
template <typename T, typename U> constexpr void note_mixed(const T& a, const U& b) {
    if constexpr (std::is_floating_point_v<T> && std::is_integral_v<U>)
        note_fraction(static_cast<int64_t>(b));
    else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<U>)
        note_fraction(static_cast<int64_t>(a));
}
template <typename T, typename U>
constexpr auto operator*(const Factor<T>& a, const U& b) -> decltype(a.value * b) {
    using Product = decltype(a.value * b);
    if constexpr (std::is_same_v<Product, uint32_t> || std::is_same_v<Product, int32_t>) {
        using Wide = std::conditional_t<std::is_signed_v<Product>, int64_t, uint64_t>;
        const Wide whole = Wide(Product(a.value)) * Wide(Product(b));
        const Product kept = static_cast<Product>(whole);
        if (!__builtin_is_constant_evaluated() && Wide(kept) != whole)
            note_narrowed("a product", static_cast<int64_t>(whole), kept, 32, a.at.file, a.at.line);
        return kept;
    } else {
        note_mixed(a.value, b);
        return a.value * b;
    }
}

// `a / b` is `a / Checked() / b`.
template <typename T> struct Dividend {
    T value;
    Checked at;
};
template <typename T> constexpr auto operator/(const T& value, Checked at) {
    if constexpr (std::is_arithmetic_v<T>)
        return Dividend<T>{value, at};
    else
        return value;
}
template <typename T, typename U>
constexpr auto operator/(const Dividend<T>& a, const U& b) -> decltype(a.value / b) {
    if constexpr (std::is_integral_v<T> && std::is_integral_v<U>) {
        if (!__builtin_is_constant_evaluated() && b != 0)
            note_quotient(static_cast<int64_t>(a.value / b), a.value % b != 0, a.at.file,
                          a.at.line);
    } else {
        note_mixed(a.value, b);
    }
    return a.value / b;
}
}  // namespace optiling

#define BEGIN_TILING_DATA_DEF(class_name)           \
    class class_name : public optiling::TilingDef { \
    public:                                         \
        class_name() { finish(#class_name, true); } \
        explicit class_name(void* ptr) {            \
            finish(#class_name, false);             \
            if (ptr != nullptr) {                   \
                SetDataPtr(ptr);                    \
            }                                       \
        }

#define TILING_DATA_FIELD_DEF(data_type, field_name)                                   \
public:                                                                                \
    template <typename Given>                                                          \
    void set_##field_name(Given given, const char* file = __builtin_FILE(),            \
                          int line = __builtin_LINE()) {                               \
        set_##field_name(optiling::fitted<data_type>(given, #field_name, file, line)); \
    }                                                                                  \
    void set_##field_name(data_type value) {                                           \
        field_name##_ = value;                                                         \
        if (data_ptr_ != nullptr) {                                                    \
            std::memcpy(data_ptr_ + field_name##_offset_, &value, sizeof(data_type));  \
        }                                                                              \
    }                                                                                  \
    data_type get_##field_name() { return field_name##_; }                             \
    data_type get_##field_name() const { return field_name##_; }                       \
                                                                                       \
private:                                                                               \
    data_type field_name##_ = 0;                                                       \
    size_t field_name##_offset_ = add_field(#data_type, #field_name, sizeof(data_type), 0);

#define TILING_DATA_FIELD_DEF_ARR(arr_type, arr_size, field_name)                                  \
public:                                                                                            \
    void set_##field_name(const arr_type* values) {                                                \
        if (data_ptr_ != nullptr && values != get_##field_name()) {                                \
            std::memmove(data_ptr_ + field_name##_offset_, values, (arr_size) * sizeof(arr_type)); \
        }                                                                                          \
    }                                                                                              \
    arr_type* get_##field_name() {                                                                 \
        return reinterpret_cast<arr_type*>(data_ptr_ + field_name##_offset_);                      \
    }                                                                                              \
                                                                                                   \
private:                                                                                           \
    size_t field_name##_offset_ = add_field(#arr_type, #field_name, sizeof(arr_type), arr_size);

#define TILING_DATA_FIELD_DEF_STRUCT(struct_type, field_name) \
public:                                                       \
    struct_type field_name{nullptr};                          \
                                                              \
private:                                                      \
    size_t field_name##_offset_ =                             \
        add_struct(#struct_type, #field_name, &field_name, field_name.GetDataSize());

#define END_TILING_DATA_DEF \
    }                       \
    ;

#define ASCENDOPT_TILING_JOIN_(a, b) a##b
#define ASCENDOPT_TILING_JOIN(a, b) ASCENDOPT_TILING_JOIN_(a, b)
#define REGISTER_TILING_DATA_CLASS(op_type, class_name)                              \
    namespace {                                                                      \
    static int __attribute__((unused)) ASCENDOPT_TILING_JOIN(                        \
        g_ascendopt_tiling_##op_type##_##class_name##_,                              \
        __COUNTER__) = optiling::add_tiling(#op_type, []() -> optiling::TilingDef* { \
        return new class_name();                                                     \
    });                                                                              \
    }
