// SPDX-License-Identifier: Apache-2.0
#include "import/singleop/table.h"

#include <algorithm>
#include <vector>

#include "import/singleop/lower.h"
#include "ops/registry.h"

namespace anynpu::singleop {

namespace {

// name, what it becomes, opset when it is that operator with the same operands, else its rule.
const VendorOp kVendorOps[] = {
    // One tensor in, one of the same shape out.
    {"Abs", "Abs", 13},
    {"Acos", "Acos", 7},
    {"Acosh", "Acosh", 9},
    {"Asin", "Asin", 7},
    {"Asinh", "Asinh", 9},
    {"Atan", "Atan", 7},
    {"Atanh", "Atanh", 9},
    {"Ceil", "Ceil", 13},
    {"Cos", "Cos", 7},
    {"Cosh", "Cosh", 9},
    {"Erf", "Erf", 13},
    {"Floor", "Floor", 13},
    {"HardSwish", "HardSwish", 14},
    {"Identity", "Identity", 13},
    {"Inv", "Reciprocal", 13},
    {"Invert", "BitwiseNot", 18},
    {"IsInf", "IsInf", 20},
    {"IsNan", "IsNaN", 13},
    {"LogicalNot", "Not", 1},
    {"Mish", "Mish", 18},
    {"Neg", "Neg", 13},
    {"Reciprocal", "Reciprocal", 13},
    {"Relu", "Relu", 13},
    {"ReluV2", "Relu", 13},
    {"Rint", "Round", 11},
    {"Round", "Round", 11},
    {"Selu", "Selu", 6},
    {"Sigmoid", "Sigmoid", 13},
    {"Sign", "Sign", 13},
    {"Sin", "Sin", 7},
    {"Sinh", "Sinh", 9},
    {"Softplus", "Softplus", 1},
    {"SoftplusV2", "Softplus", 1},
    {"Softsign", "Softsign", 1},
    {"Sqrt", "Sqrt", 13},
    {"Tan", "Tan", 7},
    {"Tanh", "Tanh", 13},
    {"Cast", "Cast", 0, lower_cast},
    {"CeluV2", "Celu", 0, lower_celu},
    {"Celu", "Celu", 0, lower_celu},
    {"ClipByValue", "Max + Min", 0, lower_clip, "Clip"},
    {"ClipByValueV2", "Max + Min", 0, lower_clip, "Clip"},
    {"Elu", "Elu", 0, lower_elu},
    {"Erfc", "Erf + Sub + Exp + Mul + Where", 0, lower_erfc},
    {"Exp", "Exp", 0, lower_exp},
    {"Expm1", "Tanh + Exp + Add + Mul", 0, lower_expm1},
    {"FastGelu", "Mul + Sigmoid", 0, lower_fast_gelu},
    {"FastGeluV2", "Mul + Sigmoid", 0, lower_fast_gelu},
    {"Gelu", "Gelu", 0, lower_gelu},
    {"GeluV2", "Gelu", 0, lower_gelu},
    {"HardShrink", "Shrink", 0, lower_shrink},
    {"HardSigmoid", "HardSigmoid", 0, lower_hard_sigmoid},
    {"HardtanhV2", "Clip", 0, lower_clip},
    {"IsFinite", "IsNaN + IsInf", 0, lower_is_finite},
    {"LeakyRelu", "LeakyRelu", 0, lower_leaky_relu},
    {"Log", "Log", 0, lower_log},
    {"Log1p", "Atanh + Add + Log + Where", 0, lower_log1p},
    {"OnesLike", "Expand", 0, lower_ones_like},
    {"Power", "Mul + Add + Pow", 0, lower_power},
    {"PRelu", "PRelu", 0, lower_prelu},
    {"Relu6", "Clip", 0, lower_relu6},
    {"Rsqrt", "Sqrt + Reciprocal", 0, lower_rsqrt},
    {"Shrink", "Shrink", 0, lower_shrink},
    {"SoftShrink", "Shrink", 0, lower_shrink},
    {"Square", "Mul", 0, lower_square},
    {"Swish", "Mul + Sigmoid", 0, lower_swish},
    {"Threshold", "Greater", 0, lower_threshold},
    {"ThresholdV2", "Where", 0, lower_threshold},
    {"ZerosLike", "Expand", 0, lower_zeros_like},
    {"AscendQuant", "Mul + Round + Cast", 0, lower_quant},
    // Two tensors, with broadcasting.
    {"Add", "Add", 13},
    {"AddV2", "Add", 13},
    {"BitwiseAnd", "BitwiseAnd", 18},
    {"BitwiseOr", "BitwiseOr", 18},
    {"BitwiseXor", "BitwiseXor", 18},
    {"Div", "Div", 13},
    {"Equal", "Equal", 13},
    {"Greater", "Greater", 13},
    {"GreaterEqual", "GreaterOrEqual", 16},
    {"Less", "Less", 13},
    {"LessEqual", "LessOrEqual", 16},
    {"LogicalAnd", "And", 7},
    {"LogicalOr", "Or", 7},
    {"LogicalXor", "Xor", 7},
    {"Maximum", "Max", 0, lower_of_two},
    {"Minimum", "Min", 0, lower_of_two},
    {"Mul", "Mul", 13},
    {"Pow", "Pow", 13},
    {"RealDiv", "Div", 13},
    {"Sub", "Sub", 13},
    {"AccumulateNV2", "Add", 0, lower_add_n},
    {"Addcdiv", "Div + Mul + Add", 0, lower_addcdiv},
    {"Addcmul", "Mul + Add", 0, lower_addcmul},
    {"AddN", "Add", 0, lower_add_n},
    {"Adds", "Add", 0, lower_adds},
    {"Axpy", "Mul + Add", 0, lower_axpy},
    {"AxpyV2", "Mul + Add", 0, lower_axpy_v2},
    {"Bias", "Add", 0, lower_scale},
    {"BiasAdd", "Add", 0, lower_bias_add},
    {"DivNoNan", "Div + Where", 0, lower_div_no_nan},
    {"FloorDiv", "Div + Floor", 0, lower_floor_div},
    {"FloorMod", "Mod", 0, lower_floor_mod},
    {"Lerp", "Sub + Mul + Add", 0, lower_lerp},
    {"Mod", "Mod", 0, lower_truncate_mod},
    {"Muls", "Mul", 0, lower_muls},
    {"NotEqual", "Equal + Not", 0, lower_not_equal},
    {"Scale", "Mul + Add", 0, lower_scale},
    {"SquaredDifference", "Sub + Mul", 0, lower_squared_difference},
    {"TruncateDiv", "Div", 0, lower_truncate_div},
    {"TruncateMod", "Mod", 0, lower_truncate_mod},
    // Reductions and what sorts.
    {"ReduceL1", "ReduceL1", 0, lower_reduce},
    {"ReduceL2", "ReduceL2", 0, lower_reduce},
    {"ReduceLogSum", "ReduceLogSum", 0, lower_reduce},
    {"ReduceLogSumExp", "ReduceLogSumExp", 0, lower_reduce},
    {"ReduceMax", "ReduceMax", 0, lower_reduce},
    {"ReduceMaxD", "ReduceMax", 0, lower_reduce},
    {"ReduceMean", "ReduceMean", 0, lower_reduce},
    {"ReduceMeanD", "ReduceMean", 0, lower_reduce},
    {"ReduceMin", "ReduceMin", 0, lower_reduce},
    {"ReduceMinD", "ReduceMin", 0, lower_reduce},
    {"ReduceProd", "ReduceProd", 0, lower_reduce},
    {"ReduceProdD", "ReduceProd", 0, lower_reduce},
    {"ReduceSum", "ReduceSum", 0, lower_reduce},
    {"ReduceSumD", "ReduceSum", 0, lower_reduce},
    {"ReduceAll", "ReduceMin", 0, lower_reduce_flags},
    {"ReduceAllD", "ReduceMin", 0, lower_reduce_flags},
    {"ReduceAny", "ReduceMax", 0, lower_reduce_flags},
    {"ReduceAnyD", "ReduceMax", 0, lower_reduce_flags},
    {"Reduction", "ReduceSum", 0, lower_reduction},
    {"Cumsum", "CumSum", 0, lower_cumsum},
    {"CumsumD", "CumSum", 0, lower_cumsum},
    {"ArgMax", "ArgMax", 0, lower_arg},
    {"ArgMaxD", "ArgMax", 0, lower_arg},
    {"ArgMaxV2", "ArgMax", 0, lower_arg},
    {"ArgMaxWithValue", "ArgMax + ReduceMax", 0, lower_arg_with_value},
    {"ArgMin", "ArgMin", 0, lower_arg},
    {"ArgMinD", "ArgMin", 0, lower_arg},
    {"ArgMinWithValue", "ArgMin + ReduceMin", 0, lower_arg_with_value},
    {"TopK", "TopK", 0, lower_top_k},
    {"TopKD", "TopK", 0, lower_top_k},
    {"TopKV2", "TopK", 0, lower_top_k},
    {"L2Loss", "ReduceSumSquare + Mul", 0, lower_l2_loss},
    {"L2Normalize", "ReduceSumSquare + Sqrt + Div", 0, lower_l2_normalize},
    {"CdistGrad", "Sub + Abs + Pow + Mul + ReduceSum", 0, lower_cdist_gradient},
    {"LpNormReduceV2", "Abs + Pow + ReduceSum", 0, lower_lp_reduce},
    {"LpNormUpdateV2", "Pow", 0, lower_lp_update},
    // Matrices.
    {"BatchMatMul", "MatMul", 0, lower_batch_matmul},
    {"BatchMatMulV2", "MatMul", 0, lower_batch_matmul},
    {"Einsum", "Einsum", 0, lower_einsum},
    {"FullyConnection", "Flatten + MatMul", 0, lower_fully_connection, "Gemm"},
    {"GEMM", "MatMul + Mul + Add", 0, lower_gemm, "Gemm"},
    {"MatMul", "MatMul", 0, lower_matmul},
    {"MatMulV2", "MatMul", 0, lower_matmul},
    {"MatMulV3", "MatMul", 0, lower_matmul},
    // Windows over pictures.
    {"AvgPool", "AveragePool", 0, lower_avg_pool},
    {"AvgPoolV2", "AveragePool", 0, lower_avg_pool},
    {"Conv2D", "Conv", 0, lower_conv},
    {"Conv2DBackpropInput", "ConvTranspose", 0, lower_conv_transpose},
    {"Conv2DBackpropInputD", "ConvTranspose", 0, lower_conv_transpose},
    {"Conv2DTranspose", "ConvTranspose", 0, lower_conv_transpose},
    {"Conv2DTransposeD", "ConvTranspose", 0, lower_conv_transpose},
    {"Conv3D", "Conv", 0, lower_conv},
    {"Deconvolution", "ConvTranspose", 0, lower_deconvolution},
    {"DepthToSpace", "DepthToSpace", 0, lower_depth_to_space},
    {"DepthwiseConv2D", "Conv", 0, lower_depthwise_conv},
    {"GlobalAveragePool", "GlobalAveragePool", 0, lower_global_pool},
    {"GlobalMaxPool", "GlobalMaxPool", 0, lower_global_pool},
    {"MaxPool", "MaxPool", 0, lower_max_pool},
    {"MaxPoolV2", "MaxPool", 0, lower_max_pool},
    {"MaxPoolV3", "MaxPool", 0, lower_max_pool_v3},
    {"Pooling", "MaxPool, AveragePool", 0, lower_pooling},
    {"ResizeArea", "MatMul + MatMul", 0, lower_resize_area},
    {"ResizeBicubic", "Resize", 0, lower_resize_bicubic},
    {"ResizeBilinearV2", "Resize", 0, lower_resize},
    {"ResizeBilinearV2D", "Resize", 0, lower_resize},
    {"ResizeNearestNeighborV2", "Resize", 0, lower_resize},
    {"ResizeNearestNeighborV2D", "Resize", 0, lower_resize},
    {"SpaceToDepth", "SpaceToDepth", 0, lower_depth_to_space},
    // Normalisation.
    {"BatchNorm", "BatchNormalization", 0, lower_batch_norm},
    {"BNInfer", "BatchNormalization", 0, lower_bn_inference},
    {"BNInference", "BatchNormalization", 0, lower_bn_inference},
    {"BNInferenceD", "BatchNormalization", 0, lower_bn_inference},
    {"GroupNorm", "GroupNormalization", 0, lower_group_norm},
    {"InstanceNorm", "InstanceNormalization", 0, lower_instance_norm},
    {"LayerNorm", "LayerNormalization", 0, lower_layer_norm},
    {"LayerNormV3", "LayerNormalization", 0, lower_layer_norm},
    {"LogSoftmaxV2", "LogSoftmax", 0, lower_softmax},
    {"LRN", "LRN", 0, lower_lrn},
    {"RmsNorm", "RMSNormalization", 0, lower_rms_norm},
    {"Softmax", "Softmax", 0, lower_softmax},
    {"SoftmaxV2", "Softmax", 0, lower_softmax},
    // Moving elements.
    {"BroadcastTo", "Expand", 0, lower_broadcast},
    {"BroadcastToD", "Expand", 0, lower_broadcast},
    {"Concat", "Concat", 0, lower_concat_first},
    {"ConcatD", "Concat", 0, lower_concat},
    {"ConcatV2", "Concat", 0, lower_concat_last},
    {"ConcatV2D", "Concat", 0, lower_concat},
    {"Crop", "Slice", 0, lower_crop},
    {"Expand", "Expand", 0, lower_broadcast},
    {"ExpandD", "Expand", 0, lower_broadcast},
    {"ExpandDims", "Unsqueeze", 0, lower_unsqueeze},
    {"Fill", "Expand", 0, lower_fill},
    {"FillD", "Expand", 0, lower_fill},
    {"Flatten", "Reshape", 0, lower_flatten, "Flatten"},
    {"FlattenV2", "Reshape", 0, lower_flatten, "Flatten"},
    {"MirrorPad", "Pad", 0, lower_pad},
    {"Pack", "Unsqueeze + Concat", 0, lower_pack},
    {"Pad", "Pad", 0, lower_pad},
    {"PadD", "Pad", 0, lower_pad},
    {"PadV2", "Pad", 0, lower_pad},
    {"PadV3", "Pad", 0, lower_pad},
    {"PadV3D", "Pad", 0, lower_pad},
    {"Range", "Range", 0, lower_range},
    {"Reshape", "Reshape", 0, lower_reshape},
    {"ReverseV2", "Slice", 0, lower_reverse},
    {"ReverseV2D", "Slice", 0, lower_reverse},
    {"Shape", "Shape", 0, lower_shape},
    {"Size", "Size", 0, lower_size},
    {"Slice", "Slice", 0, lower_slice},
    {"SliceD", "Slice", 0, lower_slice},
    {"Split", "Split", 0, lower_split},
    {"SplitD", "Split", 0, lower_split},
    {"SplitV", "Split", 0, lower_split_v},
    {"SplitVD", "Split", 0, lower_split_v},
    {"Squeeze", "Squeeze", 0, lower_squeeze},
    {"SqueezeV2", "Squeeze", 0, lower_squeeze},
    {"SqueezeV3", "Squeeze", 0, lower_squeeze},
    {"StridedSlice", "Slice", 0, lower_strided_slice},
    {"StridedSliceD", "Slice", 0, lower_strided_slice},
    {"StridedSliceV2", "Slice", 0, lower_strided_slice_v2},
    {"Tile", "Tile", 0, lower_tile},
    {"TileD", "Tile", 0, lower_tile},
    {"TransData", "Pad + Reshape + Transpose", 0, lower_trans_data},
    {"Transpose", "Transpose", 0, lower_transpose},
    {"TransposeD", "Transpose", 0, lower_transpose},
    {"Tril", "Trilu", 0, lower_triangle},
    {"Triu", "Trilu", 0, lower_triangle},
    {"Unpack", "Split + Squeeze", 0, lower_unpack},
    {"Unsqueeze", "Unsqueeze", 0, lower_unsqueeze},
    {"UnsqueezeV2", "Unsqueeze", 0, lower_unsqueeze},
    // By index.
    {"Gather", "Gather", 0, lower_gather},
    {"GatherD", "GatherElements", 0, lower_gather_elements},
    {"GatherElements", "GatherElements", 0, lower_gather_elements},
    {"GatherNd", "GatherND", 0, lower_gather_nd},
    {"GatherV2", "Gather", 0, lower_gather},
    {"GatherV2D", "Gather", 0, lower_gather},
    {"NonZero", "NonZero", 0, lower_non_zero},
    {"OneHot", "OneHot", 0, lower_one_hot},
    {"OneHotD", "OneHot", 0, lower_one_hot},
    {"ScatterElements", "ScatterElements", 0, lower_scatter_elements},
    {"ScatterNd", "ScatterND", 0, lower_scatter_nd},
    {"ScatterNdAdd", "ScatterND", 0, lower_scatter_nd},
    {"ScatterNdD", "ScatterND", 0, lower_scatter_nd},
    {"ScatterNdUpdate", "ScatterND", 0, lower_scatter_nd},
    {"TensorScatterAdd", "ScatterND", 0, lower_scatter_nd},
    {"TensorScatterUpdate", "ScatterND", 0, lower_scatter_nd},
    {"Select", "Where", 0, lower_select},
    {"SelectV2", "Where", 0, lower_select},
    {"SearchSorted", "SearchSorted", 0, lower_search_sorted},
    {"Unique", "Unique", 0, lower_unique},
    {"UniqueWithCounts", "Unique", 0, lower_unique},
    {"Where", "NonZero + Transpose", 0, lower_where, "Where"},
    {"MaskedFill", "Where", 0, lower_masked_fill},
    {"MaskedSelect", "Compress", 0, lower_masked_select},
    {"ReverseSequence", "ReverseSequence", 0, lower_reverse_sequence},
    // Recurrent layers.
    {"BasicLSTMCell", "MatMul + Sigmoid + Tanh", 0, lower_lstm_cell},
    {"CommonGRU", "GRU", 0, lower_common_gru},
    {"CommonLSTM", "LSTM", 0, lower_common_lstm},
    {"DynamicGRUV2", "GRU", 0, lower_dynamic_gru},
    {"DynamicRNN", "LSTM", 0, lower_dynamic_rnn},
    {"DynamicRNNV2", "LSTM", 0, lower_dynamic_rnn},
    {"DynamicGRUV2Grad", "GruGateGrad + MatMul + ReduceSum", 0, lower_dynamic_gru_gradient},
    {"DynamicRNNGrad", "LstmGateGrad + MatMul + ReduceSum", 0, lower_dynamic_rnn_gradient},
    // Boxes, regions and sampling of pictures.
    {"AffineGrid", "AffineGrid", 0, lower_affine_grid},
    {"Col2im", "Col2Im", 0, lower_im2col_back},
    {"GridSampler2D", "GridSample", 0, lower_grid_sampler},
    {"GridSampler3D", "GridSample", 0, lower_grid_sampler},
    {"NonMaxSuppression", "NonMaxSuppression", 0, lower_non_max_suppression},
    {"NonMaxSuppressionV2", "NonMaxSuppression", 0, lower_non_max_suppression},
    {"NonMaxSuppressionV3", "NonMaxSuppression", 0, lower_non_max_suppression},
    {"NonMaxSuppressionV6", "NonMaxSuppression", 0, lower_non_max_suppression_batch},
    {"PSROIPooling", "anynpu.PsRoiPool", 0, lower_ps_roi_pooling},
    {"ROIAlign", "RoiAlign", 0, lower_roi_align},
    {"ROIPooling", "MaxRoiPool", 0, lower_roi_pooling},
    {"Upsample", "Resize + Mul", 0, lower_upsample, "Upsample"},
    // Losses, steps of training, random numbers, signals, quantisation and others.
    {"ApplyAdagrad", "Mul + Sqrt + Div + Sub", 0, lower_apply_adagrad},
    {"ApplyAdagradD", "Mul + Sqrt + Div + Sub", 0, lower_apply_adagrad},
    {"ApplyAdam", "Mul + Sqrt + Div + Sub", 0, lower_apply_adam},
    {"ApplyAdamD", "Mul + Sqrt + Div + Sub", 0, lower_apply_adam},
    {"ApplyGradientDescent", "Mul + Sub", 0, lower_apply_gradient_descent},
    {"ApplyMomentum", "Mul + Add + Sub", 0, lower_apply_momentum},
    {"ApplyMomentumD", "Mul + Add + Sub", 0, lower_apply_momentum},
    {"AscendAntiQuant", "Cast + Add + Mul", 0, lower_anti_quant},
    {"BlackmanWindow", "BlackmanWindow", 0, lower_window},
    {"DFT", "DFT", 0, lower_dft},
    {"DropOutDoMask", "BitShift + Mul + Div", 0, lower_dropout_mask, "Dropout"},
    {"DropOutDoMaskV3", "Mul + Div", 0, lower_dropout_mask, "Dropout"},
    {"DropoutV2", "Dropout", 0, lower_dropout_v2},
    {"Eltwise", "Mul, Add, Max", 0, lower_eltwise},
    {"Eye", "EyeLike", 0, lower_eye},
    {"GlobalLpPool", "GlobalLpPool", 0, lower_global_lp_pool},
    {"HammingWindow", "HammingWindow", 0, lower_window},
    {"HannWindow", "HannWindow", 0, lower_window},
    {"HardMax", "Hardmax", 0, lower_hard_max},
    {"LeftShift", "BitShift, Mul", 0, lower_shift, "BitShift"},
    {"MatrixDeterminant", "Det", 0, lower_determinant},
    {"Multinomial", "Multinomial", 0, lower_multinomial},
    {"MVN", "ReduceMean + Sub + Div", 0, lower_mvn, "MeanVarianceNormalization"},
    {"MVNV2", "ReduceMean + Sub + Div", 0, lower_mvn, "MeanVarianceNormalization"},
    {"NLLLoss", "NegativeLogLikelihoodLoss", 0, lower_nll_loss},
    {"Quantize", "QuantizeLinear", 0, lower_quantize},
    {"RandomStandardNormal", "RandomNormal", 0, lower_random},
    {"RandomUniform", "RandomUniform", 0, lower_random},
    {"RightShift", "BitShift, Div", 0, lower_shift, "BitShift"},
    {"ShuffleChannel", "Reshape + Transpose", 0, lower_shuffle_channel},
    {"SoftmaxCrossEntropyLoss", "SoftmaxCrossEntropyLoss", 0, lower_softmax_loss},
    {"SoftmaxCrossEntropyWithLogits", "LogSoftmax + Mul + Where + ReduceSum", 0,
     lower_softmax_with_logits},
    {"SparseSoftmaxCrossEntropyWithLogits", "OneHot + LogSoftmax + Mul + Where + ReduceSum", 0,
     lower_softmax_with_logits},
};

// Calls visit(word) for each operator of "Reshape + Transpose".
template <typename Visit>
void each_operator(std::string_view becomes, const Visit& visit) {
  while (!becomes.empty()) {
    const size_t end = std::min(becomes.find(" + "), becomes.size());
    visit(becomes.substr(0, end));
    becomes.remove_prefix(std::min(end + 3, becomes.size()));
  }
}

int roundings(ops::Rounding rounding) {
  if (rounding == ops::Rounding::exact) return 0;
  return rounding == ops::Rounding::every_step ? 2 : 1;
}

}  // namespace

bool rounds_often(const VendorOp& op) {
  int sum = 0;
  each_operator(op.becomes,
                [&](std::string_view name) { sum += roundings(ops::traits_of(name).rounding); });
  return sum > 1;
}

bool sized_by_values(const VendorOp& op) {
  bool any = false;
  each_operator(op.becomes, [&](std::string_view name) {
    any = any || ops::traits_of(name).sized_by == ops::SizedBy::data;
  });
  return any;
}

std::span<const VendorOp> vendor_ops() {
  static const auto* sorted = [] {
    auto* list = new std::vector<VendorOp>(std::begin(kVendorOps), std::end(kVendorOps));
    std::sort(list->begin(), list->end(),
              [](const VendorOp& a, const VendorOp& b) { return a.name < b.name; });
    return list;
  }();
  return *sorted;
}

const VendorOp* find_vendor_op(std::string_view name) {
  const auto all = vendor_ops();
  const auto found =
      std::lower_bound(all.begin(), all.end(), name,
                       [](const VendorOp& op, std::string_view n) { return op.name < n; });
  return found != all.end() && found->name == name ? &*found : nullptr;
}

std::string onnx_name(std::string_view name) {
  const VendorOp* op = find_vendor_op(name);
  if (!op) return std::string(name);
  if (!op->in_models.empty()) return std::string(op->in_models);
  const bool one = op->becomes.find_first_of(" ,") == op->becomes.npos;
  return std::string(one ? op->becomes : name);
}

}  // namespace anynpu::singleop
