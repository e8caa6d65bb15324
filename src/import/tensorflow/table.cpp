// SPDX-License-Identifier: Apache-2.0
#include "import/tensorflow/table.h"

#include <unordered_map>
#include <vector>

#include "base/nearest_name.h"
#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

// name, what it becomes, its opset, what adds the nodes, names of several outputs.
const TfOp kTfOps[] = {
    // Inputs, constants, and what passes its input on.
    {"Placeholder", "", 0, lower_placeholder},
    {"PlaceholderV2", "", 0, lower_placeholder},
    {"PlaceholderWithDefault", "", 0, lower_pass},
    {"Const", "", 0, lower_const},
    {"Identity", "", 0, lower_pass},
    {"IdentityN", "", 0, lower_pass_all},
    {"Snapshot", "", 0, lower_pass},
    {"StopGradient", "", 0, lower_pass},
    {"PreventGradient", "", 0, lower_pass},
    {"CheckNumerics", "", 0, lower_pass},
    {"EnsureShape", "", 0, lower_pass},
    {"NoOp", "", 0, lower_nothing},
    {"Print", "", 0, lower_pass},
    {"Assert", "", 0, lower_nothing},
    // One tensor in, one of the same shape out.
    {"Abs", "Abs", 13, lower_elementwise},
    {"Acos", "Acos", 7, lower_elementwise},
    {"Acosh", "Acosh", 9, lower_elementwise},
    {"Asin", "Asin", 7, lower_elementwise},
    {"Asinh", "Asinh", 9, lower_elementwise},
    {"Atan", "Atan", 7, lower_elementwise},
    {"Atanh", "Atanh", 9, lower_elementwise},
    {"Cast", "Cast", 0, lower_cast},
    {"Ceil", "Ceil", 13, lower_elementwise},
    {"Cos", "Cos", 7, lower_elementwise},
    {"Cosh", "Cosh", 9, lower_elementwise},
    {"Elu", "Elu", 6, lower_elementwise},
    {"Erf", "Erf", 13, lower_elementwise},
    {"Exp", "Exp", 13, lower_elementwise},
    {"Floor", "Floor", 13, lower_elementwise},
    {"Inv", "Reciprocal", 13, lower_elementwise},
    {"Invert", "BitwiseNot", 18, lower_elementwise},
    {"IsInf", "IsInf", 20, lower_elementwise},
    {"IsNan", "IsNaN", 13, lower_elementwise},
    {"LeakyRelu", "LeakyRelu", 0, lower_leaky_relu},
    {"Log", "Log", 13, lower_elementwise},
    {"LogicalNot", "Not", 1, lower_elementwise},
    {"Neg", "Neg", 13, lower_elementwise},
    {"Reciprocal", "Reciprocal", 13, lower_elementwise},
    {"Relu", "Relu", 14, lower_elementwise},
    {"Relu6", "Clip", 0, lower_relu6},
    {"Rint", "Round", 11, lower_elementwise},
    {"Rsqrt", "Sqrt + Reciprocal", 0, lower_rsqrt},
    {"Selu", "Selu", 6, lower_elementwise},
    {"Sigmoid", "Sigmoid", 13, lower_elementwise},
    {"Sign", "Sign", 13, lower_elementwise},
    {"Sin", "Sin", 7, lower_elementwise},
    {"Sinh", "Sinh", 9, lower_elementwise},
    {"Softplus", "Softplus", 1, lower_elementwise},
    {"Softsign", "Softsign", 1, lower_elementwise},
    {"Sqrt", "Sqrt", 13, lower_elementwise},
    {"Square", "Mul", 0, lower_square},
    {"Tan", "Tan", 7, lower_elementwise},
    {"Tanh", "Tanh", 13, lower_elementwise},
    // Several tensors, broadcast to each other.
    {"Add", "Add", 14, lower_add},
    {"AddN", "Sum", 0, lower_add_n},
    {"AddV2", "Add", 14, lower_add},
    {"BiasAdd", "Add", 0, lower_bias_add},
    {"BiasAddV1", "Add", 0, lower_bias_add},
    {"BitwiseAnd", "BitwiseAnd", 18, lower_elementwise},
    {"BitwiseOr", "BitwiseOr", 18, lower_elementwise},
    {"BitwiseXor", "BitwiseXor", 18, lower_elementwise},
    {"ClipByValue", "Max + Min", 0, lower_clip},
    {"Div", "Div", 14, lower_elementwise},
    {"Greater", "Greater", 13, lower_elementwise},
    {"GreaterEqual", "GreaterOrEqual", 16, lower_elementwise},
    {"Less", "Less", 13, lower_elementwise},
    {"LessEqual", "LessOrEqual", 16, lower_elementwise},
    {"LogicalAnd", "And", 7, lower_elementwise},
    {"LogicalOr", "Or", 7, lower_elementwise},
    {"Maximum", "Max", 13, lower_elementwise},
    {"Minimum", "Min", 13, lower_elementwise},
    {"Mul", "Mul", 14, lower_elementwise},
    {"Pow", "Pow", 15, lower_elementwise},
    {"RealDiv", "Div", 14, lower_elementwise},
    {"SelectV2", "Where", 16, lower_elementwise},
    {"SquaredDifference", "Sub + Mul", 0, lower_squared_difference},
    {"Sub", "Sub", 14, lower_elementwise},
    // Products.
    {"BatchMatMul", "MatMul", 0, lower_batch_matmul},
    {"BatchMatMulV2", "MatMul", 0, lower_batch_matmul},
    {"BatchMatMulV3", "MatMul", 0, lower_batch_matmul},
    {"MatMul", "MatMul", 0, lower_matmul},
    // Windows over pictures.
    {"AvgPool", "AveragePool", 0, lower_avg_pool},
    {"AvgPool3D", "AveragePool", 0, lower_avg_pool},
    {"Conv", "Conv", 0, lower_conv},
    {"Conv2D", "Conv", 0, lower_conv},
    {"Conv3D", "Conv", 0, lower_conv},
    {"DepthwiseConv2dNative", "Conv", 0, lower_depthwise_conv},
    {"MaxPool", "MaxPool", 0, lower_max_pool},
    {"MaxPoolV2", "MaxPool", 0, lower_max_pool},
    {"MaxPool3D", "MaxPool", 0, lower_max_pool},
    // Normalisation.
    {"FusedBatchNorm", "BatchNormalization", 0, lower_fused_batch_norm,
     "y batch_mean batch_variance reserve_space_1 reserve_space_2"},
    {"FusedBatchNormV2", "BatchNormalization", 0, lower_fused_batch_norm,
     "y batch_mean batch_variance reserve_space_1 reserve_space_2"},
    {"FusedBatchNormV3", "BatchNormalization", 0, lower_fused_batch_norm,
     "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3"},
    {"LogSoftmax", "LogSoftmax", 13, lower_softmax},
    {"Softmax", "Softmax", 13, lower_softmax},
    // Reductions.
    {"All", "ReduceMin", 0, lower_reduce},
    {"Any", "ReduceMax", 0, lower_reduce},
    {"EuclideanNorm", "ReduceL2", 18, lower_reduce},
    {"Max", "ReduceMax", 18, lower_reduce},
    {"Mean", "ReduceMean", 18, lower_reduce},
    {"Min", "ReduceMin", 18, lower_reduce},
    {"Prod", "ReduceProd", 18, lower_reduce},
    {"Sum", "ReduceSum", 13, lower_reduce},
    // Elements moved, not changed.
    {"Concat", "Concat", 0, lower_concat},
    {"ConcatV2", "Concat", 0, lower_concat_v2},
    {"ExpandDims", "Unsqueeze", 0, lower_expand_dims},
    {"Pack", "Unsqueeze + Concat", 0, lower_pack},
    {"Pad", "Pad", 0, lower_pad},
    {"PadV2", "Pad", 0, lower_pad},
    {"MirrorPad", "Pad", 0, lower_pad},
    {"Reshape", "Reshape", 0, lower_reshape},
    {"Shape", "Shape", 0, lower_shape_of},
    {"Squeeze", "Squeeze", 0, lower_squeeze},
    {"StridedSlice", "Slice", 0, lower_strided_slice},
    {"Transpose", "Transpose", 0, lower_transpose},
    // Arithmetic of several steps.
    {"FloorMod", "Mod", 0, lower_floor_mod},
    {"LeftShift", "BitShift", 0, lower_shift},
    {"LogicalXor", "Xor", 0, lower_xor},
    {"Mod", "Mod", 0, lower_truncate_mod},
    {"OnesLike", "Expand", 0, lower_ones_like},
    {"RightShift", "BitShift", 0, lower_shift},
    {"Select", "Where", 0, lower_select},
    {"TruncateMod", "Mod", 0, lower_truncate_mod},
    {"ZerosLike", "Expand", 0, lower_zeros_like},
    {"Einsum", "Einsum, Transpose + Reshape + MatMul", 0, lower_einsum},
    // Windows the other way, and places of what was largest.
    {"Conv2DBackpropFilter", "Conv", 0, lower_filter_backprop},
    {"DepthwiseConv2dNativeBackpropFilter", "Conv", 0, lower_filter_backprop},
    {"Conv2DBackpropInput", "ConvTranspose", 0, lower_conv_backprop},
    {"Conv2DBackpropInputV2", "ConvTranspose", 0, lower_conv_backprop},
    {"Conv3DBackpropInputV2", "ConvTranspose", 0, lower_conv_backprop},
    {"DepthwiseConv2dNativeBackpropInput", "ConvTranspose", 0, lower_depthwise_backprop},
    {"MaxPoolWithArgmax", "MaxPool", 0, lower_max_pool_argmax, "output argmax"},
    {"LRN", "LRN", 0, lower_lrn},
    {"L2Loss", "ReduceSumSquare + Mul", 0, lower_l2_loss},
    // Tensors made, cut and turned.
    {"BroadcastTo", "Expand", 0, lower_broadcast_to},
    {"Cumprod", "CumProd", 26, lower_cumulate},
    {"Cumsum", "CumSum", 14, lower_cumulate},
    {"Fill", "Expand", 0, lower_fill},
    {"Range", "Range", 0, lower_range},
    {"Rank", "", 0, lower_rank},
    {"Reverse", "Slice", 0, lower_reverse},
    {"ReverseV2", "Slice", 0, lower_reverse},
    {"ShapeN", "Shape", 0, lower_shape_n},
    {"Size", "Size", 0, lower_size},
    {"Slice", "Slice", 0, lower_slice},
    {"Split", "Split", 0, lower_split},
    {"SplitV", "Split", 0, lower_split_v},
    {"Tile", "Tile", 0, lower_tile},
    {"Unpack", "Split + Squeeze", 0, lower_unpack},
    // By indices.
    {"Gather", "Gather", 0, lower_gather},
    {"GatherNd", "GatherND", 0, lower_gather_nd},
    {"GatherV2", "Gather, Transpose + GatherND", 0, lower_gather},
    {"OneHot", "OneHot", 0, lower_one_hot},
    {"ReverseSequence", "ReverseSequence", 0, lower_reverse_sequence},
    {"ScatterNd", "ScatterND", 0, lower_scatter_nd},
    {"TensorScatterAdd", "ScatterND", 0, lower_tensor_scatter},
    {"TensorScatterMax", "ScatterND", 0, lower_tensor_scatter},
    {"TensorScatterMin", "ScatterND", 0, lower_tensor_scatter},
    {"TensorScatterSub", "Neg + ScatterND", 0, lower_tensor_scatter},
    {"TensorScatterUpdate", "ScatterND", 0, lower_tensor_scatter},
    {"TopK", "TopK", 0, lower_top_k, "values indices"},
    {"TopKV2", "TopK", 0, lower_top_k, "values indices"},
    {"Unique", "Unique", 0, lower_unique, "y idx"},
    {"UniqueWithCounts", "Unique", 0, lower_unique, "y idx count"},
    {"Where", "NonZero + Transpose", 0, lower_where},
    // Pictures.
    {"BatchToSpace", "Reshape + Transpose + Slice", 0, lower_batch_to_space},
    {"BatchToSpaceND", "Reshape + Transpose + Slice, Conv", 0, lower_batch_to_space},
    {"DepthToSpace", "DepthToSpace", 0, lower_depth_to_space},
    {"Dilation2D", "Pad + Slice + Add + Max", 0, lower_dilation},
    {"ExtractImagePatches", "Pad + Slice + Concat", 0, lower_extract_patches},
    {"ExtractGlimpse", "GatherND + Where", 0, lower_extract_glimpse},
    {"ExtractGlimpseV2", "GatherND + Where", 0, lower_extract_glimpse},
    {"ImageProjectiveTransformV2", "Gather + Mul + Add", 0, lower_projective_transform},
    {"ImageProjectiveTransformV3", "Gather + Mul + Add", 0, lower_projective_transform},
    {"ResizeArea", "anynpu.WeightedAxis", 0, lower_resize_area},
    {"ResizeBicubic", "anynpu.WeightedAxis, Resize", 0, lower_resize_bicubic},
    {"ResizeBicubicGrad", "anynpu.WeightedAxis", 0, lower_resize_grad},
    {"ResizeBilinearGrad", "anynpu.WeightedAxis", 0, lower_resize_grad},
    {"ResizeNearestNeighborGrad", "anynpu.WeightedAxis", 0, lower_resize_nearest_grad},
    {"ScaleAndTranslate", "anynpu.WeightedAxis", 0, lower_scale_and_translate},
    {"ResizeBilinear", "Resize", 0, lower_resize_bilinear},
    {"ResizeNearestNeighbor", "Resize", 0, lower_resize_nearest},
    {"SpaceToBatch", "Pad + Reshape + Transpose", 0, lower_space_to_batch},
    {"SpaceToBatchND", "Pad + Reshape + Transpose", 0, lower_space_to_batch},
    {"SpaceToDepth", "SpaceToDepth", 0, lower_space_to_depth},
    {"AdjustContrastv2", "ReduceMean + Sub + Mul + Add", 0, lower_adjust_contrast},
    {"AdjustHue", "Max + Min + Where + Clip", 0, lower_adjust_hue},
    {"AdjustSaturation", "Max + Min + Where + Clip", 0, lower_adjust_saturation},
    {"HSVToRGB", "Abs + Clip + Mul", 0, lower_hsv_to_rgb},
    {"RGBToHSV", "Max + Min + Where", 0, lower_rgb_to_hsv},
    // Losses.
    {"BiasAddGrad", "ReduceSum", 0, lower_bias_grad},
    {"SoftmaxCrossEntropyWithLogits", "LogSoftmax + ReduceSum", 0, lower_softmax_loss,
     "loss backprop"},
    {"SparseSoftmaxCrossEntropyWithLogits", "LogSoftmax + GatherElements", 0,
     lower_sparse_softmax_loss, "loss backprop"},
    // Tables of constants.
    {"HashTable", "", 0, lower_table},
    {"HashTableV2", "", 0, lower_table},
    {"LookupTableFind", "Equal + ArgMax + Gather + Where", 0, lower_table_find},
    {"LookupTableFindV2", "Equal + ArgMax + Gather + Where", 0, lower_table_find},
    {"LookupTableSizeV2", "", 0, lower_table_size},
    // Detection.
    {"CombinedNonMaxSuppression", "anynpu.CombinedNonMaxSuppression", 0, lower_combined_nms,
     "nmsed_boxes nmsed_scores nmsed_classes valid_detections"},
    {"CropAndResize", "anynpu.CropAndResize", 0, lower_crop_and_resize},
    {"NonMaxSuppression", "NonMaxSuppression", 0, lower_nms},
    {"NonMaxSuppressionV2", "NonMaxSuppression", 0, lower_nms},
    {"NonMaxSuppressionV3", "NonMaxSuppression", 0, lower_nms},
    {"NonMaxSuppressionV4", "anynpu.SoftNonMaxSuppression", 0, lower_nms_fixed,
     "selected_indices valid_outputs"},
    {"NonMaxSuppressionV5", "anynpu.SoftNonMaxSuppression", 0, lower_nms_fixed,
     "selected_indices selected_scores valid_outputs"},
    // Quantised ranges.
    {"FakeQuantWithMinMaxArgs", "Min + Max + Div + Floor + Mul", 0, lower_fake_quant},
    {"FakeQuantWithMinMaxVars", "Min + Max + Div + Floor + Mul", 0, lower_fake_quant},
    {"FakeQuantWithMinMaxVarsPerChannel", "Min + Max + Div + Floor + Mul", 0, lower_fake_quant},
    {"FakeQuantWithMinMaxArgsGradient", "Min + Max + Equal + Where", 0, lower_fake_quant_grad},
    {"QuantizeAndDequantizeV2", "Mul + Round", 0, lower_quantize_and_dequantize},
    {"QuantizeAndDequantizeV3", "Mul + Round", 0, lower_quantize_and_dequantize},
    {"QuantizeAndDequantizeV4", "Mul + Round", 0, lower_quantize_and_dequantize},
    // Recurrent cells.
    {"BlockLSTM", "Scan", 0, lower_lstm_sequence, "i cs f o ci co h"},
    {"BlockLSTMV2", "Scan", 0, lower_lstm_sequence, "i cs f o ci co h"},
    {"GRUBlockCell", "MatMul + Sigmoid + Tanh", 0, lower_gru_cell, "r u c h"},
    {"LSTMBlockCell", "MatMul + Sigmoid + Tanh", 0, lower_lstm_cell, "i cs f o ci co h"},
    // Control flow; that of TensorFlow 1 has become While and If before (flow_forms.h).
    {"Case", "If", 0, lower_case},
    {"If", "If", 0, lower_if},
    {"PartitionedCall", "", 0, lower_call},
    {"StatefulPartitionedCall", "", 0, lower_call},
    {"StatelessCase", "If", 0, lower_case},
    {"StatelessIf", "If", 0, lower_if},
    {"StatelessWhile", "Loop", 0, lower_while},
    {"While", "Loop", 0, lower_while},
    // Lists of tensors.
    {"EmptyTensorList", "Expand", 0, lower_list_reserve},
    {"TensorListConcat", "Reshape", 0, lower_list_concat, "tensor lengths"},
    {"TensorListConcatV2", "Reshape", 0, lower_list_concat, "tensor lengths"},
    {"TensorListElementShape", "Shape", 0, lower_list_element_shape},
    {"TensorListFromTensor", "", 0, lower_list_from_tensor},
    {"TensorListGather", "Gather", 0, lower_list_gather},
    {"TensorListGetItem", "Gather", 0, lower_list_get},
    {"TensorListLength", "Shape", 0, lower_list_length},
    {"TensorListPopBack", "Slice + Squeeze", 0, lower_list_pop, "output_handle tensor"},
    {"TensorListPushBack", "Concat", 0, lower_list_push},
    {"TensorListReserve", "Expand", 0, lower_list_reserve},
    {"TensorListResize", "Concat + Slice", 0, lower_list_resize},
    {"TensorListScatter", "ScatterND", 0, lower_list_scatter},
    {"TensorListScatterIntoExistingList", "ScatterND", 0, lower_list_scatter},
    {"TensorListScatterV2", "ScatterND", 0, lower_list_scatter},
    {"TensorListSetItem", "ScatterND", 0, lower_list_set},
    {"TensorListSplit", "Reshape", 0, lower_list_split},
    {"TensorListStack", "", 0, lower_list_stack},
    {"TensorArrayV3", "Expand", 0, lower_array, "handle flow"},
    {"TensorArrayCloseV3", "", 0, lower_nothing},
    {"TensorArrayConcatV3", "Reshape", 0, lower_array_concat, "value lengths"},
    {"TensorArrayGatherV3", "Gather", 0, lower_array_gather},
    {"TensorArrayReadV3", "Gather", 0, lower_array_read},
    {"TensorArrayScatterV3", "ScatterND", 0, lower_array_scatter},
    {"TensorArraySizeV3", "Shape", 0, lower_array_size},
    {"TensorArraySplitV3", "Reshape", 0, lower_array_split},
    {"TensorArrayWriteV3", "ScatterND", 0, lower_array_write},
};

}  // namespace

std::span<const TfOp> tf_ops() {
  static const std::vector<TfOp> all = [] {
    std::vector<TfOp> made(std::begin(kTfOps), std::end(kTfOps));
    made.insert(made.end(), tf_math_ops().begin(), tf_math_ops().end());
    return made;
  }();
  return all;
}

const TfOp* find_tf_op(std::string_view name) {
  static const auto index = [] {
    std::unordered_map<std::string_view, const TfOp*> made;
    for (const TfOp& op : tf_ops()) made.emplace(op.name, &op);
    return made;
  }();
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

std::string_view nearest_tf_op(std::string_view name) {
  std::vector<std::string_view> names;
  for (const TfOp& op : tf_ops()) names.push_back(op.name);
  return nearest_name(names, name);
}

}  // namespace anynpu::tensorflow
