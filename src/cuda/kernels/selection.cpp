// SPDX-License-Identifier: Apache-2.0
// Operators that choose, order or place elements: OneHot, Compress, NonZero, TopK, ReverseSequence,
// TensorScatter, MaxUnpool, NonMaxSuppression, and those that fill: Range, ConstantOfShape. Sizes
// that depend on values are stated by the model; a run that gives another size is reported as a
// fault.
#include <cstring>

#include "cuda/kernels/host_plan.h"
#include "cuda/kernels/item_kernel.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/data_movement/axes.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;

constexpr ops::DTypeSet kMoved = ops::kNumbers | ops::DTypeSet{DType::boolean} | ops::kFloat8 |
                                 ops::kHiFloat8 | ops::kScaleFloat;

std::string number(int64_t value) { return format("{}", value); }

int64_t product_of(const Shape& shape, size_t first, size_t last) {
  int64_t count = 1;
  for (size_t d = first; d < last; ++d) count *= shape[d];
  return count;
}

size_t count_of(const ops::Operand& operand) {
  return static_cast<size_t>(element_count(operand.shape));
}

// An item for each element of output 0.
ops::PlanResult plan_elements(const OpContext& context, std::string body, std::string before = {}) {
  ItemKernel kernel;
  kernel.body = std::move(body);
  kernel.before = std::move(before);
  kernel.items = count_of(context.outputs[0]);
  return plan_items(context, kernel);
}

ops::PlanResult plan_one_hot(const OpContext& context) {
  ANYNPU_ASSIGN(const int64_t axis,
                ops::normal_axis(context, context.int_attr("axis"), context.inputs[0].rank() + 1));
  const Shape& out = context.outputs[0].shape;
  const auto at = static_cast<size_t>(axis);
  const int64_t inner = product_of(out, at + 1, out.size());
  return plan_elements(
      context,
      format("  const i64 depth = {0}, inner = {1};\n"
             "  const i64 raw = (i64)load(x0[i / (depth * inner) * inner + i % inner]);\n"
             "  y0[i] = x2[(raw < 0 ? raw + depth : raw) == (i64)(i / inner % depth) ? 1 : 0];\n",
             std::max<int64_t>(out[at], 1), std::max<int64_t>(inner, 1)));
}

// The j-th true flag is looked for by each element; `flags` is the input that has them.
constexpr const char* kFind = R"(
  i64 left = @wanted, chosen = -1;
  for (i64 f = 0; f < @flags; ++f) if (@flag && left-- == 0) { chosen = f; break; }
  if (i == 0) {
    i64 all = 0; for (i64 f = 0; f < @flags; ++f) all += @flag;
    if (all != @expected) fault(board, number, all, @expected);
  }
)";

ops::PlanResult plan_compress(const OpContext& context) {
  const Shape &x = context.inputs[0].shape, &out = context.outputs[0].shape;
  int64_t extent = element_count(x), inner = 1, kept = out.empty() ? 1 : out[0];
  if (context.has_attr("axis")) {
    ANYNPU_ASSIGN(const int64_t axis,
                  ops::normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
    const auto at = static_cast<size_t>(axis);
    extent = x[at], kept = out[at];
    inner = product_of(x, at + 1, x.size());
  }
  const int64_t flags = std::min(extent, element_count(context.inputs[1].shape));
  const std::string find = filled(
      kFind,
      {{"wanted", format("i / {} % {}", std::max<int64_t>(inner, 1), std::max<int64_t>(kept, 1))},
       {"flags", number(flags)},
       {"flag", "load(x1[f])"},
       {"expected", number(kept)}});
  return plan_elements(
      context,
      find + format("  R0 none = {{}};\n  y0[i] = chosen < 0 ? none : x0[(i / {0} * {1} + "
                    "chosen) * {2} + i % {2}];\n",
                    std::max<int64_t>(inner * kept, 1), extent, std::max<int64_t>(inner, 1)));
}

ops::PlanResult plan_non_zero(const OpContext& context) {
  const Shape& out = context.outputs[0].shape;
  const int64_t found = std::max<int64_t>(out[1], 1);
  const std::string find = filled(kFind, {{"wanted", format("i % {}", found)},
                                          {"flags", number(element_count(context.inputs[0].shape))},
                                          {"flag", "(load(x0[f]) != 0)"},
                                          {"expected", number(out[1])}});
  return plan_elements(context,
                       find + format("  const i64 d = i / {};\n  y0[i] = chosen < 0 ? 0 : chosen / "
                                     "SX0[d] % X0[d];\n",
                                     found));
}

// An item for each row. The places are found one after the other: each is the best of those that
// come after the one before.
constexpr const char* kTopK = R"(
  const i64 base = i / @step * @extent * @step + i % @step, to = i / @step * @k * @step + i % @step;
  i64 last = -1;
  for (i64 j = 0; j < @k; ++j) {
    i64 best = -1;
    for (i64 e = 0; e < @extent; ++e) {
      const C v = load(x0[base + e * @step]);
      if (last >= 0) {  // comes after the last one?
        const C l = load(x0[base + last * @step]);
        if (!(before(l, v) || (!before(v, l) && e > last))) continue;
      }
      if (best < 0 || before(v, (C)load(x0[base + best * @step]))) best = e;
    }
    y0[to + j * @step] = x0[base + best * @step];
    @index
    last = best;
  }
)";

ops::PlanResult plan_top_k(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                ops::normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  const auto at = static_cast<size_t>(axis);
  const bool largest = context.schema->since < 11 || context.int_attr("largest") != 0;
  const bool indices = context.outputs.size() > 1 && context.outputs[1].present;
  const int64_t step = std::max<int64_t>(product_of(x, at + 1, x.size()), 1);
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(product_of(x, 0, at) * step);
  // NaN counts as the largest.
  kernel.before = format("__device__ bool before(C a, C b) {{ return {}; }}\n",
                         largest ? "(a != a && b == b) || a > b" : "(b != b && a == a) || a < b");
  kernel.body = filled(kTopK, {{"step", number(step)},
                               {"extent", number(x[at])},
                               {"k", number(context.outputs[0].shape[at])},
                               {"index", indices ? format("y1[to + j * {}] = best;", step) : ""}});
  return plan_items(context, kernel);
}

ops::PlanResult plan_reverse(const OpContext& context) {
  return plan_elements(
      context,
      "  const i64 first = i / SX0[0], second = i / SX0[1] % X0[1];\n"
      "  const i64 b = $batch_axis == 0 ? first : second, t = $batch_axis == 0 ? second : first;\n"
      "  i64 length = x1[b]; if (length > X0[$time_axis]) length = X0[$time_axis];\n"
      "  const i64 from = t < length ? length - 1 - t : t;\n"
      "  y0[i] = x0[i + (from - t) * SX0[$time_axis]];\n");
}

ops::PlanResult plan_tensor_scatter(const OpContext& context) {
  ANYNPU_ASSIGN(const int64_t axis,
                ops::normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  const bool circular = context.string_attr("mode") == "circular";
  const std::string place = context.has_input(2) ? "x2[i / SX0[0]]" : "0";
  return plan_elements(
      context,
      format(
          "  const i64 room = X0[{0}], run = X1[{0}], inner = SX0[{0}];\n"
          "  i64 to = {1};\n"
          "  if (!{2} && (to < 0 || to > room - run)) {{ fault(board, number, to, room - run + 1); "
          "y0[i] = "
          "x0[i]; continue; }}\n"
          "  to %= room; if (to < 0) to += room;\n"
          "  const i64 along = i / inner % room, outer = i / inner / room; i64 step = along - to;\n"
          "  if (step < 0) step += room;\n"
          "  y0[i] = step < run ? x1[(outer * run + step) * inner + i % inner] : x0[i];\n",
          axis, place, circular ? "true" : "false"));
}

// Indices count in the tensor without output_shape.
ops::PlanResult plan_unpool(const OpContext& context) {
  const Shape &x = context.inputs[0].shape, &out = context.outputs[0].shape;
  const auto kernel_shape = context.ints_attr("kernel_shape");
  auto strides = context.ints_attr("strides"), pads = context.ints_attr("pads");
  const size_t dims = kernel_shape.size();
  if (strides.empty()) strides.assign(dims, 1);
  if (pads.empty()) pads.assign(2 * dims, 0);
  Shape full = out;
  for (size_t d = 0; d < dims && context.has_input(2); ++d)
    full[d + 2] = (x[d + 2] - 1) * strides[d] + kernel_shape[d] - pads[d] - pads[d + dims];
  std::string place;
  for (size_t d = full.size(); d-- > 0;)
    place +=
        format("  if (rest % {0} == at / SY0[{1}] % Y0[{1}]) ; else same = false; rest /= {0};\n",
               std::max<int64_t>(full[d], 1), d);
  // Each output looks for the last input of its plane that names it.
  const int64_t plane = product_of(x, 2, x.size()), out_plane = product_of(out, 2, out.size());
  return plan_elements(
      context,
      format(
          "  const i64 at = i, plane = i / {0}; R0 value = {{}};\n"
          "  for (i64 j = plane * {1}; j < (plane + 1) * {1}; ++j) {{\n"
          "    i64 rest = x1[j]; bool same = true;\n"
          "    if (rest < 0 || rest >= {2}) {{ fault(board, number, rest, {2}); continue; }}\n{3}"
          "    if (same) value = x0[j];\n  }}\n  y0[i] = value;\n",
          std::max<int64_t>(out_plane, 1), plane, element_count(full), place));
}

Status can_run_unpool(const OpContext& context) {
  if (context.inputs[0].rank() < 3) return fail(Code::unsupported_shape, "no spatial axes");
  return can_run_items(context);
}

// ---- NonMaxSuppression: one block for all; thread 0 keeps boxes, all threads compare.

constexpr const char* kBoxes = R"(
struct Box { float v[4]; };
__device__ Box box_at(const float* raw) {
  if ($center_point_box) return {{raw[1] - raw[3] / 2, raw[0] - raw[2] / 2, raw[1] + raw[3] / 2, raw[0] + raw[2] / 2}};
  return {{fminf(raw[0], raw[2]), fminf(raw[1], raw[3]), fmaxf(raw[0], raw[2]), fmaxf(raw[1], raw[3])}};
}
__device__ float overlap(const Box& a, const Box& b) {
  const float height = fminf(a.v[2], b.v[2]) - fmaxf(a.v[0], b.v[0]), width = fminf(a.v[3], b.v[3]) - fmaxf(a.v[1], b.v[1]);
  if (height <= 0 || width <= 0) return 0;
  const float both = height * width;
  const float whole = (a.v[2] - a.v[0]) * (a.v[3] - a.v[1]) + (b.v[2] - b.v[0]) * (b.v[3] - b.v[1]) - both;
  return whole <= 0 ? 0 : both / whole;
}
)";
// alive[k]: box k may still be chosen. Each round takes the best one and drops what overlaps it.
constexpr const char* kSuppress = R"(
  __shared__ float best_score[256]; __shared__ i64 best_index[256]; __shared__ i64 found;
  u8* const alive = (u8*)work;
  const i64 boxes = X1[2], classes = X1[1], most = @most;
  const float iou = @iou, least = @least; (void)least;
  if (threadIdx.x == 0) found = 0;
  for (i64 group = 0; group < X1[0] * classes; ++group) {
    const float* score = x1 + group * boxes; const float* box = x0 + group / classes * boxes * 4;
    for (i64 k = threadIdx.x; k < boxes; k += blockDim.x) alive[k] = @bounded ? score[k] > least : score[k] == score[k];
    __syncthreads();
    for (i64 kept = 0; kept < most; ++kept) {
      float top = 0; i64 at = -1;
      for (i64 k = threadIdx.x; k < boxes; k += blockDim.x)
        if (alive[k] && (at < 0 || score[k] > top)) { top = score[k]; at = k; }
      best_score[threadIdx.x] = top; best_index[threadIdx.x] = at;
      __syncthreads();
      for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
          const i64 other = best_index[threadIdx.x + half], own = best_index[threadIdx.x];
          const float s = best_score[threadIdx.x + half], o = best_score[threadIdx.x];
          if (other >= 0 && (own < 0 || s > o || (s == o && other < own))) { best_index[threadIdx.x] = other; best_score[threadIdx.x] = s; }
        }
        __syncthreads();
      }
      const i64 chosen = best_index[0];
      __syncthreads();
      if (chosen < 0) break;
      if (threadIdx.x == 0) {
        if (found < Y0[0]) { y0[found * 3] = group / classes; y0[found * 3 + 1] = group % classes; y0[found * 3 + 2] = chosen; }
        ++found;
        alive[chosen] = 0;
      }
      const Box keep = box_at(box + chosen * 4);
      for (i64 k = threadIdx.x; k < boxes; k += blockDim.x)
        if (alive[k] && k != chosen && overlap(keep, box_at(box + k * 4)) > iou) alive[k] = 0;
      __syncthreads();
    }
    __syncthreads();
  }
  if (threadIdx.x == 0 && found != Y0[0]) fault(board, number, found, Y0[0]);
)";

ops::PlanResult plan_suppression(const OpContext& context) {
  const auto given = [&](size_t k, const char* text, const char* otherwise) {
    return std::string(
        context.has_input(k) && element_count(context.inputs[k].shape) > 0 ? text : otherwise);
  };
  ItemKernel kernel;
  kernel.items = 1;
  kernel.block_threads = 256;
  kernel.workspace_bytes = static_cast<size_t>(context.inputs[1].shape[2]);
  kernel.before = kBoxes;
  kernel.body = filled(kSuppress, {{"most", given(2, "x2[0]", "0")},
                                   {"iou", given(3, "x3[0]", "0")},
                                   {"least", given(4, "x4[0]", "0")},
                                   {"bounded", context.has_input(4) ? "true" : "false"}});
  return plan_items(context, kernel);
}

// ---- Range, ConstantOfShape, OptionalHasElement

ops::PlanResult plan_range(const OpContext& context) {
  return plan_elements(context, "  store(y0[i], (C)(load(x0[0]) + (C)i * load(x2[0])));\n");
}

ops::PlanResult plan_constant_of_shape(const OpContext& context) {
  uint64_t bits = 0;
  if (const auto found = context.node->attrs.find("value"); found != context.node->attrs.end()) {
    if (const auto* tensor = std::get_if<graph::TensorAttr>(&found->second))
      std::memcpy(&bits, tensor->data->bytes.data(),
                  std::min<size_t>(tensor->data->bytes.size(), 8));
  }
  const std::string type = bits_type(size_of(context.outputs[0].dtype));
  return plan_elements(context, format("  (({0}*)y0)[i] = ({0}){1}ull;\n", type, bits));
}

ops::PlanResult plan_has_element(const OpContext& context) {
  return plan_elements(
      context, context.has_input(0) ? "  store(y0[i], true);\n" : "  store(y0[i], false);\n");
}

// ---- Dropout with a mask, and in training with a ratio of 0

ops::PlanResult plan_dropout(const OpContext& context) {
  return plan_elements(context, "  y0[i] = x0[i]; if (HAS_Y1) store(y1[i], true);\n");
}

Status can_run_dropout(const OpContext& context) {
  if (context.outputs.size() < 2 || !context.outputs[1].present)
    return fail(Code::unsupported_feature, "no mask is asked for");
  if (context.has_input(2)) {
    const ops::Operand& training = context.inputs[2];
    if (!training.is_constant || training.constant.empty() || training.constant[0] != std::byte{0})
      return fail(Code::unsupported_feature, "training may be asked for");
  }
  if (context.outputs[1].dtype != DType::boolean)
    return fail(Code::unsupported_feature, "a mask of numbers");
  return can_run_items(context);
}

Status can_run_some(const OpContext& context) {
  for (const ops::Operand& output : context.outputs) {
    if (output.present && element_count(output.shape) == 0)
      return fail(Code::unsupported_shape, "nothing to write");
  }
  return can_run_items(context);
}

}  // namespace

void add_selection(std::vector<ops::KernelDef>& kernels) {
  const ops::DTypeSet logical = ops::kNumbers | ops::DTypeSet{DType::boolean};
  kernels.push_back(item_kernel("OneHot", ops::kNumbers, ops::create_plain<plan_one_hot>));
  kernels.push_back(
      item_kernel("Compress", kMoved, ops::create_plain<plan_compress>, {}, can_run_some));
  kernels.push_back(
      item_kernel("NonZero", logical, ops::create_plain<plan_non_zero>, {}, can_run_some));
  kernels.push_back(
      item_kernel("TopK", ops::kNumbers, ops::create_plain<plan_top_k>, {}, can_run_some));
  kernels.push_back(item_kernel("ReverseSequence", kMoved, ops::create_plain<plan_reverse>));
  kernels.push_back(item_kernel("TensorScatter", kMoved, ops::create_plain<plan_tensor_scatter>));
  kernels.push_back(
      item_kernel("MaxUnpool", ops::kFloats, ops::create_plain<plan_unpool>, {}, can_run_unpool));
  kernels.push_back(item_kernel("NonMaxSuppression", {DType::f32},
                                ops::create_plain<plan_suppression>, {}, can_run_some));
  kernels.push_back(item_kernel("Range", ops::kNumbers, ops::create_plain<plan_range>));
  kernels.push_back(
      item_kernel("ConstantOfShape", {DType::i64}, ops::create_plain<plan_constant_of_shape>));
  kernels.push_back(item_kernel("OptionalHasElement", kMoved, ops::create_plain<plan_has_element>));
  kernels.push_back(
      item_kernel("Dropout", ops::kFloats, ops::create_plain<plan_dropout>, {}, can_run_dropout));
}

}  // namespace anynpu::device::cuda
