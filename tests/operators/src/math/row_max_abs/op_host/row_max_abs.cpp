#include "row_max_abs_tiling.h"
#include "register/op_def_registry.h"

namespace optiling {
constexpr uint32_t BLOCK_BYTES = 32;
constexpr uint32_t MAX_TILE_ROWS = 16;
constexpr uint64_t UB_RESERVED = 8 * 1024;

class RowMaxAbsTiling {
public:
    explicit RowMaxAbsTiling(gert::TilingContext* context) : context_(context) {}

    ge::graphStatus Run()
    {
        if (ReadPlatform() != ge::GRAPH_SUCCESS || ReadShape() != ge::GRAPH_SUCCESS) {
            return ge::GRAPH_FAILED;
        }
        Split();
        Save();
        return ge::GRAPH_SUCCESS;
    }

private:
    ge::graphStatus ReadPlatform()
    {
        auto platform = platform_ascendc::PlatformAscendC(context_->GetPlatformInfo());
        coreNum_ = platform.GetCoreNumAiv();
        platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubSize_);
        return coreNum_ > 0 && ubSize_ > UB_RESERVED ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
    }

    ge::graphStatus ReadShape()
    {
        auto shape = context_->GetInputShape(0)->GetStorageShape();
        columns_ = shape.GetDim(shape.GetDimNum() - 1);
        rows_ = columns_ == 0 ? 0 : shape.GetShapeSize() / columns_;
        typeBytes_ = context_->GetInputDesc(0)->GetDataType() == ge::DT_FLOAT ? 4 : 2;
        return rows_ > 0 ? ge::GRAPH_SUCCESS : ge::GRAPH_FAILED;
    }

    void Split()
    {
        uint32_t blockElements = BLOCK_BYTES / typeBytes_;
        stride_ = (columns_ + blockElements - 1) / blockElements * blockElements;
        // x in two buffers, |x| in a third
        uint64_t rowBytes = static_cast<uint64_t>(stride_) * typeBytes_ * 3;
        uint64_t fit = (ubSize_ - UB_RESERVED) / rowBytes;
        tileRows_ = fit < MAX_TILE_ROWS ? fit : MAX_TILE_ROWS;
        coreRows_ = (rows_ + coreNum_ - 1) / coreNum_;
        // outputs of a core start at a whole block
        coreRows_ = (coreRows_ + blockElements - 1) / blockElements * blockElements;
        usedCores_ = (rows_ + coreRows_ - 1) / coreRows_;
    }

    void Save()
    {
        RowMaxAbsTilingData tiling;
        tiling.set_rows(rows_);
        tiling.set_columns(columns_);
        tiling.set_stride(stride_);
        tiling.set_coreRows(coreRows_);
        tiling.set_tileRows(tileRows_);
        context_->SetBlockDim(usedCores_);
        context_->SetTilingKey(typeBytes_ == 4 ? 2 : 1);
        tiling.SaveToBuffer(context_->GetRawTilingData()->GetData(),
                            context_->GetRawTilingData()->GetCapacity());
        context_->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
        context_->GetWorkspaceSizes(1)[0] = 0;
    }

    gert::TilingContext* context_;
    uint32_t coreNum_ = 0;
    uint64_t ubSize_ = 0;
    uint32_t rows_ = 0;
    uint32_t columns_ = 0;
    uint32_t typeBytes_ = 2;
    uint32_t stride_ = 0;
    uint32_t tileRows_ = 1;
    uint32_t coreRows_ = 1;
    uint32_t usedCores_ = 1;
};

static ge::graphStatus Tiling4RowMaxAbs(gert::TilingContext* context)
{
    RowMaxAbsTiling tiling(context);
    return tiling.Run();
}

static ge::graphStatus TilingPrepare4RowMaxAbs(gert::TilingParseContext* context)
{
    (void)context;
    return ge::GRAPH_SUCCESS;
}

IMPL_OP_OPTILING(RowMaxAbs)
    .Tiling(Tiling4RowMaxAbs)
    .TilingParse<RowMaxAbsCompileInfo>(TilingPrepare4RowMaxAbs);
}  // namespace optiling

namespace ops {
static ge::graphStatus InferShape4RowMaxAbs(gert::InferShapeContext* context)
{
    const gert::Shape* x = context->GetInputShape(0);
    gert::Shape* y = context->GetOutputShape(0);
    size_t dims = x->GetDimNum() - 1;
    y->SetDimNum(dims);
    for (size_t i = 0; i < dims; i++) {
        y->SetDim(i, x->GetDim(i));
    }
    return ge::GRAPH_SUCCESS;
}

class RowMaxAbs : public OpDef {
public:
    explicit RowMaxAbs(const char* name) : OpDef(name)
    {
        this->Input("x")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND})
            .AutoContiguous();
        this->Output("y")
            .ParamType(REQUIRED)
            .DataType({ge::DT_FLOAT16, ge::DT_FLOAT})
            .Format({ge::FORMAT_ND, ge::FORMAT_ND})
            .UnknownShapeFormat({ge::FORMAT_ND, ge::FORMAT_ND});
        this->SetInferShape(InferShape4RowMaxAbs);
        OpAICoreConfig config;
        config.DynamicCompileStaticFlag(true)
            .DynamicFormatFlag(true)
            .DynamicRankSupportFlag(true)
            .DynamicShapeSupportFlag(true)
            .NeedCheckSupportFlag(false);
        this->AICore().AddConfig("ascend910b", config);
        this->AICore().AddConfig("ascend910_93", config);
    }
};
OP_ADD(RowMaxAbs);
}  // namespace ops
