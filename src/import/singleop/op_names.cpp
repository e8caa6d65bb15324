// SPDX-License-Identifier: Apache-2.0
#include "import/singleop/op_names.h"

#include <array>
#include <utility>

namespace anynpu::singleop {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 63> kNames = {{
    {"ArgMaxD", "ArgMax"},
    {"ArgMaxV2", "ArgMax"},
    {"ArgMinD", "ArgMin"},
    {"AvgPool", "AveragePool"},
    {"AvgPoolV2", "AveragePool"},
    {"BatchMatMul", "MatMul"},
    {"BatchMatMulV2", "MatMul"},
    {"BNInfer", "BatchNormalization"},
    {"BatchNorm", "BatchNormalization"},
    {"BiasAdd", "Add"},
    {"BroadcastTo", "Expand"},
    {"ClipByValue", "Clip"},
    {"ConcatD", "Concat"},
    {"ConcatV2", "Concat"},
    {"ConcatV2D", "Concat"},
    {"Conv2D", "Conv"},
    {"Conv3D", "Conv"},
    {"Conv2DTransposeD", "ConvTranspose"},
    {"Deconvolution", "ConvTranspose"},
    {"DepthwiseConv2D", "Conv"},
    {"DropOutDoMask", "Dropout"},
    {"ExpandDims", "Unsqueeze"},
    {"FlattenV2", "Flatten"},
    {"FullyConnection", "Gemm"},
    {"GEMM", "Gemm"},
    {"GatherV2", "Gather"},
    {"GatherV2D", "Gather"},
    {"LayerNorm", "LayerNormalization"},
    {"LayerNormV3", "LayerNormalization"},
    {"LogSoftmaxV2", "LogSoftmax"},
    {"MatMulV2", "MatMul"},
    {"MatMulV3", "MatMul"},
    {"MaxPoolV2", "MaxPool"},
    {"MaxPoolV3", "MaxPool"},
    {"Maximum", "Max"},
    {"Minimum", "Min"},
    {"OneHotD", "OneHot"},
    {"PadD", "Pad"},
    {"PadV3", "Pad"},
    {"RealDiv", "Div"},
    {"ReduceMaxD", "ReduceMax"},
    {"ReduceMeanD", "ReduceMean"},
    {"ReduceMinD", "ReduceMin"},
    {"ReduceProdD", "ReduceProd"},
    {"ReduceSumD", "ReduceSum"},
    {"ResizeBilinearV2", "Resize"},
    {"ResizeNearestNeighborV2", "Resize"},
    {"Relu6", "Clip"},
    {"ReluV2", "Relu"},
    {"Select", "Where"},
    {"SelectV2", "Where"},
    {"SliceD", "Slice"},
    {"SoftmaxV2", "Softmax"},
    {"SplitD", "Split"},
    {"SplitV", "Split"},
    {"SplitVD", "Split"},
    {"StridedSlice", "Slice"},
    {"StridedSliceD", "Slice"},
    {"TileD", "Tile"},
    {"TopKD", "TopK"},
    {"TopKV2", "TopK"},
    {"TransposeD", "Transpose"},
    {"LessEqual", "LessOrEqual"},
}};

}  // namespace

std::string onnx_name(std::string_view name) {
  for (const auto& [card, onnx] : kNames) {
    if (card == name) return std::string(onnx);
  }
  return std::string(name);
}

}  // namespace anynpu::singleop
