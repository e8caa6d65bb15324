// SPDX-License-Identifier: Apache-2.0
#include "import/mindspore/primitives.h"

#include <algorithm>

#include "base/text.h"
#include "import/mindspore/rules.h"

namespace anynpu::mindspore {

namespace {

const PrimitiveRow kRows[] = {
    // One tensor in, one of the same shape out.
    {"ACos", "Acos", "x"},
    {"Abs", "Abs", "x"},
    {"Acosh", "Acosh", "x"},
    {"AcosExt", "Acos", "x"},
    {"AcoshExt", "Acosh", "x"},
    {"Asin", "Asin", "x"},
    {"AsinExt", "Asin", "x"},
    {"Asinh", "Asinh", "x"},
    {"AsinhExt", "Asinh", "x"},
    {"Atan", "Atan", "x"},
    {"AtanExt", "Atan", "x"},
    {"Atanh", "Atanh", "x"},
    {"BitwiseNot", "Invert", "x"},
    {"CeLU", "CeluV2", "x @alpha.f"},
    {"Ceil", "Ceil", "x"},
    {"Clone", "Identity", "x"},
    {"Contiguous", "Identity", "x"},
    {"Copy", "Identity", "x"},
    {"Cos", "Cos", "x"},
    {"Cosh", "Cosh", "x"},
    {"Elu", "Elu", "x @alpha.f"},
    {"EluExt", "Elu", "x @alpha.f"},
    {"Erf", "Erf", "x"},
    {"Erfc", "Erfc", "x"},
    {"Exp", "Exp", "x"},
    {"Expm1", "Expm1", "x"},
    {"FastGeLU", "FastGelu", "x"},
    {"Floor", "Floor", "x"},
    {"GeLU", "Gelu", "x"},
    {"GeluExt", "GeluV2", "", rule_gelu},
    {"HShrink", "HardShrink", "x @lambd.f"},
    {"HSigmoid", "HardSigmoid", "x"},
    {"HSwish", "HardSwish", "x"},
    {"Identity", "Identity", "x"},
    {"Inv", "Inv", "x"},
    {"IsFinite", "IsFinite", "x"},
    {"IsInf", "IsInf", "x"},
    {"IsNan", "IsNan", "x"},
    {"LeakyReLUExt", "LeakyRelu", "x @negative_slope.f"},
    {"Log", "Log", "x"},
    {"Log1p", "Log1p", "x"},
    {"LogicalNot", "LogicalNot", "x"},
    {"Mish", "Mish", "x"},
    {"MishExt", "Mish", "x"},
    {"Neg", "Neg", "x"},
    {"OnesLike", "OnesLike", "x"},
    {"PReLU", "PRelu", "x weight"},
    {"ReLU", "Relu", "x"},
    {"ReLU6", "Relu6", "x"},
    {"Reciprocal", "Reciprocal", "x"},
    {"Rint", "Rint", "x"},
    {"Round", "Round", "x -"},
    {"Rsqrt", "Rsqrt", "x"},
    {"SeLU", "Selu", "x"},
    {"SeLUExt", "Selu", "x"},
    {"SiLU", "Swish", "x"},
    {"Sigmoid", "Sigmoid", "x"},
    {"Sign", "Sign", "x"},
    {"Sin", "Sin", "x"},
    {"Sinh", "Sinh", "x"},
    {"SoftShrink", "SoftShrink", "x @lambd.f"},
    {"Softplus", "Softplus", "x"},
    {"Softsign", "Softsign", "x"},
    {"Sqrt", "Sqrt", "x"},
    {"Square", "Square", "x"},
    {"Tan", "Tan", "x"},
    {"Tanh", "Tanh", "x"},
    {"Trunc", "Sign, Abs, Floor, Mul", "", rule_trunc},
    {"ZerosLike", "ZerosLike", "x"},
    {"Cast", "Cast", "x @dtype>dst_type.d"},
    // Two tensors, with broadcasting; a number becomes a tensor of the other's type.
    {"Add", "Add", "x~ y~"},
    {"AddExt", "Mul, Add", "", rule_scaled_sum},
    {"AddN", "AddN", "x*"},
    {"AddScalar", "Mul, Add", "", rule_scaled_sum},
    {"Addcdiv", "Addcdiv", "x x1 x2 value~"},
    {"Addcmul", "Addcmul", "x x1 x2 value~"},
    {"BiasAdd", "BiasAdd", "x bias @format>data_format.w"},
    {"BitwiseAnd", "BitwiseAnd", "x~ y~"},
    {"BitwiseOr", "BitwiseOr", "x~ y~"},
    {"BitwiseXor", "BitwiseXor", "x~ y~"},
    {"Div", "Div", "x~ y~"},
    {"DivMod", "Div, FloorDiv, Floor", "", rule_div_mod},
    {"DivMods", "Div, FloorDiv, Floor", "", rule_div_mod},
    {"DivNoNan", "DivNoNan", "x~ y~"},
    {"Divs", "Div", "x~ y~"},
    {"EqScalar", "Equal", "x~ y~"},
    {"Equal", "Equal", "x~ y~"},
    {"FloorDiv", "FloorDiv", "x~ y~"},
    {"FloorMod", "FloorMod", "x~ y~"},
    {"Greater", "Greater", "x~ y~"},
    {"GreaterEqual", "GreaterEqual", "x~ y~"},
    {"GreaterEqualScalar", "GreaterEqual", "x~ y~"},
    {"Lerp", "Lerp", "x y weight~"},
    {"LerpScalar", "Lerp", "x y weight~"},
    {"Less", "Less", "x~ y~"},
    {"LessEqual", "LessEqual", "x~ y~"},
    {"LessScalar", "Less", "x~ y~"},
    {"LogicalAnd", "LogicalAnd", "x~ y~"},
    {"LogicalOr", "LogicalOr", "x~ y~"},
    {"LogicalXor", "LogicalXor", "x~ y~"},
    {"Maximum", "Maximum", "x~ y~"},
    {"Minimum", "Minimum", "x~ y~"},
    {"Mod", "Mod", "x~ y~"},
    {"Mul", "Mul", "x~ y~"},
    {"Muls", "Mul", "x~ y~"},
    {"NotEqual", "NotEqual", "x~ y~"},
    {"Pow", "Pow", "x~ y~"},
    {"PowTensorScalar", "Pow", "x~ y~"},
    {"RealDiv", "RealDiv", "x~ y~"},
    {"RemainderTensorScalar", "FloorMod", "x~ y~"},
    {"RemainderTensorTensor", "FloorMod", "x~ y~"},
    {"SquaredDifference", "SquaredDifference", "x~ y~"},
    {"Sub", "Sub", "x~ y~"},
    {"SubExt", "Mul, Sub", "", rule_scaled_sum},
    {"SubScalar", "Mul, Sub", "", rule_scaled_sum},
    {"TruncateDiv", "TruncateDiv", "x~ y~"},
    {"TruncateMod", "TruncateMod", "x~ y~"},
    {"ClampScalar", "Maximum, Minimum", "", rule_clamp},
    {"ClampTensor", "Maximum, Minimum", "", rule_clamp},
    // Reductions and what sorts.
    {"ArgMaxExt", "ArgMaxV2", "", rule_arg},
    {"ArgMaxWithValue", "ArgMaxWithValue", "x @axis>dimension @keep_dims.b"},
    {"ArgMinExt", "ArgMin", "", rule_arg},
    {"ArgMinWithValue", "ArgMinWithValue", "x @axis>dimension @keep_dims.b"},
    {"Argmax", "ArgMaxV2", "", rule_arg},
    {"Argmin", "ArgMin", "", rule_arg},
    {"CumSum", "Cumsum", "x axis @exclusive.b @reverse.b"},
    {"CumsumExt", "Cumsum", "x axis -"},
    {"Max", "ReduceMax", "", rule_reduce},
    {"MaxDim", "ArgMaxWithValue", "", rule_value_and_index},
    {"MeanExt", "ReduceMean", "", rule_reduce},
    {"Min", "ReduceMin", "", rule_reduce},
    {"MinDim", "ArgMinWithValue", "", rule_value_and_index},
    {"ProdExt", "ReduceProd", "", rule_reduce},
    {"ReduceAll", "ReduceAll", "", rule_reduce},
    {"ReduceAny", "ReduceAny", "", rule_reduce},
    {"ReduceMax", "ReduceMax", "", rule_reduce},
    {"ReduceMean", "ReduceMean", "", rule_reduce},
    {"ReduceMin", "ReduceMin", "", rule_reduce},
    {"ReduceProd", "ReduceProd", "", rule_reduce},
    {"ReduceSum", "ReduceSum", "", rule_reduce},
    {"Sort", "TopKV2", "", rule_sort},
    {"SortExt", "TopKV2", "", rule_sort},
    {"SumExt", "ReduceSum", "", rule_reduce},
    {"TopK", "TopKV2", "x k @sorted.b"},
    {"TopkExt", "TopKV2", "x k @dim @largest.b @sorted.b"},
    // Matrices.
    {"BatchMatMul", "BatchMatMulV2", "x y @transpose_a>adj_x1.b @transpose_b>adj_x2.b"},
    {"BatchMatMulExt", "BatchMatMulV2", "x y"},
    {"Dense", "BatchMatMulV2", "", rule_dense},
    {"MatMul", "MatMulV2", "x y @transpose_a>transpose_x1.b @transpose_b>transpose_x2.b"},
    {"MatMulExt", "BatchMatMulV2", "x y"},
    {"Mm", "MatMulV2", "x y"},
    // Windows over pictures.
    {"AdaptiveAvgPool2D", "BatchMatMulV2", "", rule_adaptive_average},
    {"AdaptiveAvgPool2DExt", "BatchMatMulV2", "", rule_adaptive_average},
    {"AvgPool", "AvgPool", "", rule_pool},
    {"Conv2D", "Conv2D", "", rule_conv},
    {"Conv2DBackpropInput", "Conv2DBackpropInput", "", rule_conv_back},
    {"Conv2DExt", "Conv2D", "", rule_conv_ext},
    {"Conv2DTranspose", "Conv2DBackpropInput", "", rule_conv_back},
    {"DepthToSpace", "DepthToSpace", "x; @block_size"},
    {"MaxPool", "MaxPool", "", rule_pool},
    {"MaxPoolWithIndices", "MaxPoolV3", "", rule_max_pool_indices},
    {"PixelShuffle", "DepthToSpace", "", rule_pixel_shuffle},
    {"ResizeBilinearV2", "ResizeBilinearV2", "", rule_resize},
    {"ResizeNearestNeighbor", "ResizeNearestNeighborV2", "", rule_resize},
    {"ResizeNearestNeighborV2", "ResizeNearestNeighborV2", "", rule_resize},
    {"SpaceToDepth", "SpaceToDepth", "x; @block_size"},
    {"UpsampleBilinear2D", "ResizeBilinearV2", "", rule_upsample},
    {"UpsampleNearest2D", "ResizeNearestNeighborV2", "", rule_upsample},
    // Normalisation.
    {"BatchNorm", "BatchNorm", "", rule_batch_norm},
    {"GroupNorm", "GroupNorm", "", rule_group_norm},
    {"InstanceNorm", "InstanceNorm", "x gamma beta; @epsilon.f"},
    {"L2Normalize", "L2Normalize", "x; @axis[] @epsilon>eps.f"},
    {"LayerNorm", "LayerNorm", "x gamma beta @begin_norm_axis @begin_params_axis @epsilon.f"},
    {"LayerNormExt", "LayerNorm", "", rule_layer_norm_ext},
    {"LogSoftmax", "LogSoftmaxV2", "x @axis>axes[]"},
    {"LogSoftmaxExt", "LogSoftmaxV2", "x @axis>axes[] -"},
    {"LRN", "LRN", "x; @depth_radius @bias.f @alpha.f @beta.f @norm_region.w"},
    {"RmsNorm", "RmsNorm", "x gamma @epsilon.f"},
    {"Softmax", "SoftmaxV2", "x @axis>axes[]"},
    // Moving elements.
    {"BroadcastTo", "BroadcastTo", "x shape"},
    {"BroadcastToView", "BroadcastTo", "x shape"},
    {"Chunk", "SplitVD", "", rule_split_sizes},
    {"ChunkView", "SplitVD", "", rule_split_sizes},
    {"Concat", "ConcatD", "x* @axis>concat_dim"},
    {"ConstantPadND", "PadV3", "", rule_pad_last_axes},
    {"ExpandAs", "BroadcastTo", "", rule_expand_as},
    {"ExpandDims", "ExpandDims", "x axis"},
    {"ExpandDimsView", "ExpandDims", "x axis"},
    {"Eye", "Eye", "@n>num_rows @m>num_columns @dtype.d"},
    {"FillScalar", "Fill", "", rule_fill},
    {"FillV2", "Fill", "shape value"},
    {"Flatten", "Flatten", "x"},
    {"FlattenExt", "FlattenV2", "x @start_dim>axis @end_dim>end_axis"},
    {"MirrorPad", "MirrorPad", "x paddings; @mode.w"},
    {"Narrow", "Slice", "", rule_narrow},
    {"NarrowView", "Slice", "", rule_narrow},
    {"Ones", "Fill", "", rule_fill},
    {"Pad", "PadD", "x; @paddings[]"},
    {"PadV3", "PadV3", "", rule_pad_last_axes},
    {"Range", "Range", "start end step -"},
    {"Reshape", "Reshape", "x shape"},
    {"ReverseV2", "ReverseV2D", "x @axis[]"},
    {"SelectExtView", "GatherV2", "", rule_select_index},
    {"Shape", "Shape", "x"},
    {"Slice", "Slice", "x begin size"},
    {"SliceExt", "StridedSliceV2", "", rule_slice_ext},
    {"SliceExtView", "StridedSliceV2", "", rule_slice_ext},
    {"Split", "SplitD", "x @axis>split_dim @output_num>num_split"},
    {"SplitTensor", "SplitVD", "", rule_split_sizes},
    {"SplitTensorView", "SplitVD", "", rule_split_sizes},
    {"SplitWithSize", "SplitVD", "", rule_split_sizes},
    {"SplitWithSizeView", "SplitVD", "", rule_split_sizes},
    {"Squeeze", "Squeeze", "x @axis[]"},
    {"Stack", "Pack", "x*; @axis"},
    {"StackExt", "Pack", "x* @dim>axis"},
    {"StridedSlice", "StridedSlice",
     "x begin end strides @begin_mask @end_mask @ellipsis_mask @new_axis_mask @shrink_axis_mask"},
    {"TensorShape", "Shape", "x"},
    {"Tile", "Tile", "", rule_tile},
    {"Transpose", "Transpose", "x perm"},
    {"TransposeExtView", "Transpose", "", rule_swap_axes},
    {"TransposeView", "Transpose", "x perm"},
    {"Tril", "Tril", "x; @diagonal"},
    {"TrilExt", "Tril", "x @diagonal"},
    {"Triu", "Triu", "x @diagonal"},
    {"Unstack", "Unpack", "x; @axis @num"},
    {"Zeros", "Fill", "", rule_fill},
    // By index.
    {"Embedding", "GatherV2", "", rule_embedding},
    {"EmbeddingLookup", "GatherV2", "", rule_embedding},
    {"Gather", "GatherV2", "x indices axis @batch_dims"},
    {"GatherD", "GatherD", "x dim index"},
    {"GatherNd", "GatherNd", "x indices"},
    {"IndexSelect", "GatherV2", "", rule_index_select},
    {"MaskedFill", "MaskedFill", "x mask value~"},
    {"MaskedFillScalar", "MaskedFill", "x mask value~"},
    {"MaskedSelect", "MaskedSelect", "x mask"},
    {"NonZero", "NonZero", "x"},
    {"OneHot", "OneHot", "indices depth on off @axis"},
    {"ScatterNd", "ScatterNd", "indices updates shape"},
    {"ScatterNdUpdate", "ScatterNdUpdate", "x indices updates"},
    {"Select", "SelectV2", "condition x y"},
    {"SelectV2", "SelectV2", "condition x y"},
    {"TensorScatterAdd", "TensorScatterAdd", "x indices updates"},
    {"TensorScatterElements", "ScatterElements", "x indices updates @axis @reduction.r"},
    {"TensorScatterUpdate", "TensorScatterUpdate", "x indices updates"},
};

const std::vector<std::string> kFormats = {"NCHW", "NHWC"};

struct Word {
  bool is_attribute = false, spread = false, like = false, unused = false;
  std::string from, to, kind;
};

Word parse_word(std::string_view text) {
  Word word;
  if (text == "-") word.unused = true;
  if (!text.starts_with('@')) {
    word.spread = text.ends_with('*');
    word.like = text.ends_with('~');
    return word;
  }
  word.is_attribute = true;
  text.remove_prefix(1);
  const size_t suffix = std::min(text.find_first_of(".["), text.size());
  word.kind = text.substr(suffix);
  text = text.substr(0, suffix);
  const size_t arrow = text.find('>');
  word.from = text.substr(0, arrow);
  word.to = arrow == text.npos ? text : text.substr(arrow + 1);
  return word;
}

Result<singleop::Attr> convert(Call& call, const Word& word, const Item& item) {
  if (word.kind == "[]") {
    if (const auto* lists = std::get_if<std::vector<std::vector<int64_t>>>(&item.constant);
        lists && item.kind == Item::Kind::constant) {
      return singleop::Attr(*lists);
    }
    ANYNPU_ASSIGN(std::vector<int64_t> list, call.integers(item, word.from));
    return singleop::Attr(std::move(list));
  }
  if (word.kind == ".f") {
    ANYNPU_ASSIGN(const double number, call.real(item, word.from));
    return singleop::Attr(static_cast<float>(number));
  }
  if (word.kind == ".b") {
    ANYNPU_ASSIGN(const bool flag, call.flag(item, word.from));
    return singleop::Attr(flag);
  }
  if (word.kind == ".d") {
    ANYNPU_ASSIGN(const DType dtype, call.dtype(item, word.from));
    return singleop::Attr(dtype);
  }
  if (word.kind == ".w") {
    ANYNPU_ASSIGN(std::string text, call.word(item, word.from, kFormats));
    return singleop::Attr(std::move(text));
  }
  if (word.kind == ".r") {
    ANYNPU_ASSIGN(std::string text, call.word(item, word.from, {"none", "add"}));
    return singleop::Attr(std::move(text));
  }
  ANYNPU_ASSIGN(const int64_t number, call.integer(item, word.from));
  return singleop::Attr(number);
}

// The type of the first argument that is a tensor and no number of the model's text.
DType type_of_tensors(const Call& call) {
  for (const Item& item : call.arguments) {
    if (item.is_tensor() && item.tensor >= 0) return call.graph.value(item.tensor).dtype;
  }
  return DType::undefined;
}

}  // namespace

std::span<const PrimitiveRow> primitive_rows() {
  static const auto* sorted = [] {
    auto* list = new std::vector<PrimitiveRow>(std::begin(kRows), std::end(kRows));
    std::sort(list->begin(), list->end(),
              [](const PrimitiveRow& a, const PrimitiveRow& b) { return a.name < b.name; });
    return list;
  }();
  return *sorted;
}

const PrimitiveRow* find_primitive(std::string_view name) {
  const auto rows = primitive_rows();
  const auto found =
      std::lower_bound(rows.begin(), rows.end(), name,
                       [](const PrimitiveRow& row, std::string_view n) { return row.name < n; });
  return found != rows.end() && found->name == name ? &*found : nullptr;
}

Result<std::vector<ValueId>> add_call(Call& call, const PrimitiveRow& row) {
  if (row.rule) return row.rule(call);
  std::vector<ValueId> inputs;
  singleop::Attrs attrs;
  const size_t semicolon = row.operands.find(';');
  const DType like = type_of_tensors(call);
  size_t index = 0;
  for (const std::string& text : split_words(row.operands.substr(0, semicolon), ' ')) {
    const Word word = parse_word(text);
    const size_t at = index++;
    if (word.unused) continue;
    if (word.is_attribute) {
      const Item& item = call.stated(word.from, at);
      if (item.is_nothing()) continue;
      ANYNPU_ASSIGN(attrs[word.to], convert(call, word, item));
    } else if (word.spread) {
      ANYNPU_ASSIGN(const auto list, call.tensors(call.argument(at)));
      inputs.insert(inputs.end(), list.begin(), list.end());
    } else {
      ANYNPU_ASSIGN(const ValueId id,
                    call.tensor(call.argument(at), word.like ? like : DType::undefined));
      inputs.push_back(id);
    }
  }
  if (semicolon != row.operands.npos) {
    for (const std::string& text : split_words(row.operands.substr(semicolon + 1), ' ')) {
      const Word word = parse_word(text);
      const auto found = call.attributes.find(word.from);
      if (found == call.attributes.end()) continue;
      ANYNPU_ASSIGN(attrs[word.to], convert(call, word, found->second));
    }
  }
  while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
  return call.add(row.becomes, std::move(inputs), std::move(attrs), Format::nchw);
}

}  // namespace anynpu::mindspore
