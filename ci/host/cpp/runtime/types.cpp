// Names and sizes of dtypes and formats.
#include "detail/types.h"

namespace ge {
namespace {
struct TypeRow {
    DataType type;
    const char* name;
    int bits;
};
constexpr TypeRow kTypes[] = {
    {DT_FLOAT, "FLOAT", 32},
    {DT_FLOAT16, "FLOAT16", 16},
    {DT_INT8, "INT8", 8},
    {DT_INT32, "INT32", 32},
    {DT_UINT8, "UINT8", 8},
    {DT_INT16, "INT16", 16},
    {DT_UINT16, "UINT16", 16},
    {DT_UINT32, "UINT32", 32},
    {DT_INT64, "INT64", 64},
    {DT_UINT64, "UINT64", 64},
    {DT_DOUBLE, "DOUBLE", 64},
    {DT_BOOL, "BOOL", 8},
    {DT_STRING, "STRING", 128},
    {DT_COMPLEX64, "COMPLEX64", 64},
    {DT_COMPLEX128, "COMPLEX128", 128},
    {DT_QINT8, "QINT8", 8},
    {DT_QINT16, "QINT16", 16},
    {DT_QINT32, "QINT32", 32},
    {DT_QUINT8, "QUINT8", 8},
    {DT_QUINT16, "QUINT16", 16},
    {DT_BF16, "BF16", 16},
    {DT_INT4, "INT4", 4},
    {DT_UINT1, "UINT1", 1},
    {DT_INT2, "INT2", 2},
    {DT_UINT2, "UINT2", 2},
    {DT_COMPLEX32, "COMPLEX32", 32},
    {DT_HIFLOAT8, "HIFLOAT8", 8},
    {DT_FLOAT8_E5M2, "FLOAT8_E5M2", 8},
    {DT_FLOAT8_E4M3FN, "FLOAT8_E4M3FN", 8},
    {DT_FLOAT8_E8M0, "FLOAT8_E8M0", 8},
};
struct FormatRow {
    Format format;
    const char* name;
};
constexpr FormatRow kFormats[] = {
    {FORMAT_NCHW, "NCHW"},
    {FORMAT_NHWC, "NHWC"},
    {FORMAT_ND, "ND"},
    {FORMAT_NC1HWC0, "NC1HWC0"},
    {FORMAT_FRACTAL_Z, "FRACTAL_Z"},
    {FORMAT_HWCN, "HWCN"},
    {FORMAT_NDHWC, "NDHWC"},
    {FORMAT_FRACTAL_NZ, "FRACTAL_NZ"},
    {FORMAT_NCDHW, "NCDHW"},
    {FORMAT_DHWCN, "DHWCN"},
    {FORMAT_NDC1HWC0, "NDC1HWC0"},
    {FORMAT_FRACTAL_Z_3D, "FRACTAL_Z_3D"},
    {FORMAT_NCL, "NCL"},
};
const TypeRow* find(DataType type) {
    for (const TypeRow& row : kTypes) {
        if (row.type == type) return &row;
    }
    return nullptr;
}
}  // namespace

int GetSizeByDataType(DataType data_type) {
    const TypeRow* row = find(data_type);
    if (row == nullptr) return -1;
    return row->bits < 8 ? kDataTypeSizeBitOffset + row->bits : row->bits / 8;
}

int64_t GetSizeInBytes(int64_t element_count, DataType data_type) {
    const TypeRow* row = find(data_type);
    return row == nullptr || element_count < 0 ? -1 : (element_count * row->bits + 7) / 8;
}

std::string TypeUtils::DataTypeToSerialString(DataType data_type) {
    const TypeRow* row = find(data_type);
    return row == nullptr ? "UNDEFINED" : std::string("DT_") + row->name;
}

AscendString TypeUtils::DataTypeToAscendString(const DataType& data_type) {
    return AscendString(DataTypeToSerialString(data_type).c_str());
}

DataType TypeUtils::SerialStringToDataType(const std::string& text) {
    for (const TypeRow& row : kTypes) {
        if (text == std::string("DT_") + row.name) return row.type;
    }
    return DT_UNDEFINED;
}

const char* GetFormatName(Format format) {
    for (const FormatRow& row : kFormats) {
        if (row.format == GetPrimaryFormat(format)) return row.name;
    }
    return "RESERVED";
}
std::string TypeUtils::FormatToSerialString(Format format) { return GetFormatName(format); }

AscendString TypeUtils::FormatToAscendString(const Format& format) {
    return AscendString(FormatToSerialString(format).c_str());
}

Format TypeUtils::SerialStringToFormat(const std::string& text) {
    for (const FormatRow& row : kFormats) {
        if (text == row.name) return row.format;
    }
    return FORMAT_RESERVED;
}

bool TypeUtils::GetDataTypeLength(DataType data_type, uint32_t& length) {
    const TypeRow* row = find(data_type);
    if (row == nullptr || row->bits < 8) return false;
    length = static_cast<uint32_t>(row->bits / 8);
    return true;
}

bool TypeUtils::IsDataTypeValid(DataType data_type) { return find(data_type) != nullptr; }
}  // namespace ge
