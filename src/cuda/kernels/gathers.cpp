// SPDX-License-Identifier: Apache-2.0
// Gather and scatter operators and Trilu: grid stride loops with one element per iteration. An
// index out of range is reported (cuda/faults.h), and its element is skipped or set to 0.
#include "cuda/kernels/host_plan.h"
#include "cuda/kernels/index_check.h"
#include "cuda/kernels/indexing.h"
#include "cuda/kernels/item_kernel.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/data_movement/axes.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::PlanResult;

// Generates kernel(x, at, more, y, board, number, n). `body` runs for each `i` below `count`; `at`
// holds the indices, `more` the updates.
PlanResult plan_indexed(const OpContext& context, size_t count, const std::string& more,
                        const std::string& body, bool copies_input) {
  const std::string type = bits_type(size_of(context.inputs[0].dtype));
  ANYNPU_ASSIGN(
      auto kernel,
      JitKernel::make(format(
          "extern \"C\" __global__ void kernel(const {0}* x, const {1}* at, const {2}* more, {0}* "
          "y, "
          "volatile i64* board, i64 number, u64 n) {{\n"
          "  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
          "(u64)blockDim.x) {{\n{3}  }}\n}}\n",
          type, cuda_name(context.inputs[1].dtype), more, body)));
  ANYNPU_ASSIGN(const IndexCheck check, IndexCheck::of(context));
  const size_t bytes = copies_input
                           ? bytes_of(context.inputs[0].dtype,
                                      static_cast<size_t>(element_count(context.inputs[0].shape)))
                           : 0;
  return cuda_plan([kernel, check, count, bytes](const ops::RunArgs& args, CudaQueue& queue) {
    if (bytes > 0 && args.outputs[0] != args.inputs[0])
      ANYNPU_TRY(queue.copy({args.outputs[0], args.inputs[0], bytes}));
    const void *x = args.inputs[0], *at = args.inputs[1];
    const void* more = args.inputs.size() > 2 ? args.inputs[2] : nullptr;
    void* y = args.outputs[0];
    volatile int64_t* board = check.board;
    uint64_t number = check.number;
    size_t n = count;
    void* arguments[] = {&x, &at, &more, &y, &board, &number, &n};
    return kernel->launch_over(queue, count, arguments);
  });
}

// Code that sets `index` to at[place], with negative indices wrapped. If it is out of range,
// reports it and runs `otherwise`.
std::string checked_index(const std::string& place, int64_t extent, const std::string& otherwise) {
  return format(
      "    const i64 raw = at[{0}]; const i64 index = raw < 0 ? raw + {1} : raw;\n"
      "    if (index < 0 || index >= {1}) {{ fault(board, number, raw, {1}); {2} }}\n",
      place, extent, otherwise);
}

int64_t product_from(const Shape& shape, size_t first) {
  int64_t count = 1;
  for (size_t d = first; d < shape.size(); ++d) count *= shape[d];
  return count;
}

PlanResult plan_gather(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                ops::normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  const int64_t inner = std::max<int64_t>(product_from(shape, static_cast<size_t>(axis) + 1), 1);
  const int64_t extent = shape[static_cast<size_t>(axis)];
  const int64_t indices = std::max<int64_t>(element_count(context.inputs[1].shape), 1);
  return plan_indexed(context, static_cast<size_t>(element_count(context.outputs[0].shape)), "u8",
                      format("    const u64 j = i % {0}, k = i / {0} % {1}, o = i / {2};\n{3}"
                             "    y[i] = x[(o * {4} + index) * {0} + j];\n",
                             inner, indices, inner * indices,
                             checked_index("k", extent, "y[i] = 0; continue;"), extent),
                      false);
}

// Offset of the element of tensor `of` that element i of the indices selects along the axis.
std::string element_place(const OpContext& context, const Shape& of, size_t axis) {
  const Shape& indices = context.inputs[1].shape;
  std::vector<int64_t> strides = strides_of(of);
  const int64_t step = strides[axis];
  strides[axis] = 0;
  return format("{} + index * {}", strided_index(indices, strides, 0), step);
}

PlanResult plan_gather_elements(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                ops::normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  const auto at = static_cast<size_t>(axis);
  return plan_indexed(context, static_cast<size_t>(element_count(context.outputs[0].shape)), "u8",
                      checked_index("i", shape[at], "y[i] = 0; continue;") +
                          format("    y[i] = x[{}];\n", element_place(context, shape, at)),
                      false);
}

// Code that sets `from` to the offset of element i of the slices that the index tuples select.
std::string slice_place(const OpContext& context, size_t batch, const std::string& otherwise) {
  const Shape &shape = context.inputs[0].shape, &indices = context.inputs[1].shape;
  const auto depth = static_cast<size_t>(indices.back());
  const std::vector<int64_t> strides = strides_of(shape);
  const int64_t inner = std::max<int64_t>(product_from(shape, batch + depth), 1);
  int64_t tuples = 1;  // per batch
  for (size_t d = batch; d + 1 < indices.size(); ++d) tuples *= indices[d];
  std::string body =
      format("    const u64 tuple = i / {0}; i64 from = i % {0} + (i64)(tuple / {1}) * {2};\n",
             inner, std::max<int64_t>(tuples, 1), product_from(shape, batch));
  for (size_t d = 0; d < depth; ++d) {
    body += format("    {{\n{}    from += index * {};\n    }}\n",
                   checked_index(format("tuple * {} + {}", depth, d), shape[batch + d], otherwise),
                   strides[batch + d]);
  }
  return body;
}

PlanResult plan_gather_nd(const OpContext& context) {
  const auto batch = static_cast<size_t>(context.int_attr("batch_dims"));
  return plan_indexed(context, static_cast<size_t>(element_count(context.outputs[0].shape)), "u8",
                      slice_place(context, batch, "y[i] = 0; continue;") + "    y[i] = x[from];\n",
                      false);
}

PlanResult plan_scatter_nd(const OpContext& context) {
  return plan_indexed(context, static_cast<size_t>(element_count(context.inputs[2].shape)),
                      bits_type(size_of(context.inputs[0].dtype)),
                      slice_place(context, 0, "continue;") + "    y[from] = more[i];\n", true);
}

PlanResult plan_scatter_elements(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                ops::normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  const auto at = static_cast<size_t>(axis);
  return plan_indexed(context, static_cast<size_t>(element_count(context.inputs[1].shape)),
                      bits_type(size_of(context.inputs[0].dtype)),
                      checked_index("i", shape[at], "continue;") +
                          format("    y[{}] = more[i];\n", element_place(context, shape, at)),
                      true);
}

Status can_run_indexed(const OpContext& context) {
  if (size_of(context.inputs[0].dtype) > 8 || size_of(context.inputs[0].dtype) == 0)
    return fail(Code::unsupported_dtype, "elements of type {}", name_of(context.inputs[0].dtype));
  if (cuda_name(context.inputs[1].dtype).empty())
    return fail(Code::unsupported_dtype, "indices of type {}", name_of(context.inputs[1].dtype));
  if (element_count(context.inputs[1].shape) == 0 || element_count(context.inputs[0].shape) == 0)
    return fail(Code::unsupported_shape, "nothing to read");
  return {};
}

// ---- Scatter with a reduction: each output joins the updates that name it, in their order.

constexpr struct {
  std::string_view name;
  const char* text;
} kJoins[] = {{"add", "v + w"}, {"mul", "v * w"}, {"max", "higher(v, w)"}, {"min", "lower(v, w)"}};

const char* join_of(const OpContext& context) {
  for (const auto& [name, text] : kJoins) {
    if (name == context.string_attr("reduction")) return text;
  }
  return nullptr;
}

PlanResult plan_joined_elements(const OpContext& context) {
  ANYNPU_ASSIGN(const int64_t axis,
                ops::normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(element_count(context.outputs[0].shape));
  // Indices lie at the same place as the output in all axes but one.
  kernel.body = filled(
      R"(
  bool there = true; i64 base = 0; const i64 own = i / SX0[@axis] % X0[@axis];
  for (int d = 0; d < @rank; ++d) {
    const i64 c = i / SX0[d] % X0[d];
    if (d != @axis) { there = there && c < X1[d]; base += c * SX1[d]; }
  }
  C v = load(x0[i]);
  for (i64 k = 0; there && k < X1[@axis]; ++k) {
    const i64 at = base + k * SX1[@axis], raw = x1[at], index = raw < 0 ? raw + X0[@axis] : raw;
    if (index < 0 || index >= X0[@axis]) { fault(board, number, raw, X0[@axis]); continue; }
    if (index == own) { const C w = load(x2[at]); v = @join; }
  }
  store(y0[i], v);
)",
      {{"axis", format("{}", axis)},
       {"rank", format("{}", context.inputs[0].rank())},
       {"join", join_of(context)}});
  return plan_items(context, kernel);
}

PlanResult plan_joined_slices(const OpContext& context) {
  const Shape &shape = context.inputs[0].shape, &indices = context.inputs[1].shape;
  const auto depth = static_cast<size_t>(indices.back());
  const int64_t inner = std::max<int64_t>(product_from(shape, depth), 1);
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(element_count(context.outputs[0].shape));
  kernel.body = filled(
      R"(
  const i64 slice = i / @inner, j = i % @inner;
  C v = load(x0[i]);
  for (i64 tuple = 0; tuple < NX1 / @depth; ++tuple) {
    i64 to = 0; bool inside = true;
    for (int d = 0; d < @depth; ++d) {
      const i64 raw = x1[tuple * @depth + d], index = raw < 0 ? raw + X0[d] : raw;
      if (index < 0 || index >= X0[d]) { fault(board, number, raw, X0[d]); inside = false; }
      to = to * X0[d] + index;
    }
    if (inside && to == slice) { const C w = load(x2[tuple * @inner + j]); v = @join; }
  }
  store(y0[i], v);
)",
      {{"inner", format("{}", inner)}, {"depth", format("{}", depth)}, {"join", join_of(context)}});
  return plan_items(context, kernel);
}

Status can_run_joined(const OpContext& context) {
  ANYNPU_TRY(can_run_indexed(context));
  if (!join_of(context)) return fail(Code::unsupported_feature, "values are not joined");
  return can_run_items(context);
}

Status can_run_scatter(const OpContext& context) {
  ANYNPU_TRY(can_run_indexed(context));
  const std::string how = context.string_attr("reduction");
  if (!how.empty() && how != "none")
    return fail(Code::unsupported_feature, "values are joined by {}", how);
  return {};
}

// ---- Trilu: keeps the triangle above or below diagonal k, which may be an input.

PlanResult plan_trilu(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const int64_t columns = shape.back(), rows = shape[shape.size() - 2];
  const bool upper = context.int_attr("upper") != 0, given = context.has_input(1);
  const std::string type = bits_type(size_of(context.inputs[0].dtype));
  ANYNPU_ASSIGN(
      auto kernel,
      JitKernel::make(format(
          "extern \"C\" __global__ void kernel(const {0}* x, const i64* diagonal, {0}* y, u64 n) "
          "{{\n"
          "  const i64 k = {1};\n"
          "  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
          "(u64)blockDim.x) {{\n"
          "    const i64 c = i % {2}, r = i / {2} % {3};\n    y[i] = c - r {4} k ? x[i] : ({0})0;\n"
          "  }}\n}}\n",
          type, given ? "diagonal[0]" : "0", std::max<int64_t>(columns, 1),
          std::max<int64_t>(rows, 1), upper ? ">=" : "<=")));
  const auto count = static_cast<size_t>(element_count(shape));
  return cuda_plan([kernel, count](const ops::RunArgs& args, CudaQueue& queue) {
    const void* x = args.inputs[0];
    const void* diagonal = args.inputs.size() > 1 ? args.inputs[1] : nullptr;
    void* y = args.outputs[0];
    size_t n = count;
    void* arguments[] = {&x, &diagonal, &y, &n};
    return kernel->launch_over(queue, count, arguments);
  });
}

Status can_run_trilu(const OpContext& context) {
  if (size_of(context.inputs[0].dtype) > 8) return fail(Code::unsupported_dtype, "wide elements");
  return {};
}

ops::KernelDef indexed_kernel(std::string_view op,
                              Result<std::unique_ptr<ops::Kernel>> (*create)(const OpContext&),
                              Status (*can_run)(const OpContext&) = can_run_indexed) {
  return {.op = op,
          .name = "cuda_indexed",
          .backend = "cuda",
          .types = ops::kNumbers | ops::DTypeSet{DType::boolean},
          .can_run = can_run,
          .create = create};
}

}  // namespace

void add_gathers(std::vector<ops::KernelDef>& kernels) {
  kernels.push_back(indexed_kernel("Gather", ops::create_plain<plan_gather>));
  kernels.push_back(indexed_kernel("GatherElements", ops::create_plain<plan_gather_elements>));
  kernels.push_back(indexed_kernel("GatherND", ops::create_plain<plan_gather_nd>));
  kernels.push_back(
      indexed_kernel("ScatterND", ops::create_plain<plan_scatter_nd>, can_run_scatter));
  for (const char* op : {"ScatterElements", "Scatter"})
    kernels.push_back(
        indexed_kernel(op, ops::create_plain<plan_scatter_elements>, can_run_scatter));
  for (const char* op : {"ScatterElements", "Scatter"})
    kernels.push_back(item_kernel(op, ops::kNumbers, ops::create_plain<plan_joined_elements>, {},
                                  can_run_joined));
  kernels.push_back(item_kernel("ScatterND", ops::kNumbers, ops::create_plain<plan_joined_slices>,
                                {}, can_run_joined));
  kernels.push_back(indexed_kernel("Trilu", ops::create_plain<plan_trilu>, can_run_trilu));
}

}  // namespace anynpu::device::cuda
