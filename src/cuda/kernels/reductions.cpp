// SPDX-License-Identifier: Apache-2.0
// Reduce*, ArgMax, ArgMin and Hardmax.
#include <algorithm>

#include "cuda/kernels/index_check.h"
#include "cuda/kernels/indexing.h"
#include "cuda/kernels/item_kernel.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "cuda/kernels/row_plan.h"
#include "ops/data_movement/axes.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::PlanResult;

struct Reduction {
  std::string_view op;
  const char* join;     // reduction operator
  const char* nothing;  // initial value
  const char* term;     // applied to each element v
  const char* result;   // from the reduced value s and the count N
};
constexpr Reduction kReductions[] = {
    {"ReduceSum", "Sum", "0", "v", "s"},
    {"ReduceMean", "Sum", "0", "v", "s / N"},
    {"ReduceProd", "Product", "1", "v", "s"},
    {"ReduceMax", "Highest", "load(p0[base])", "v", "s"},
    {"ReduceMin", "Lowest", "load(p0[base])", "v", "s"},
    {"ReduceL1", "Sum", "0", "(v < 0 ? -v : v)", "s"},
    {"ReduceL2", "Sum", "0", "v * v", "sqrt(s)"},
    {"ReduceSumSquare", "Sum", "0", "v * v", "s"},
    {"ReduceLogSum", "Sum", "0", "v", "log(s)"},
};

// Whether integers are supported; they are reduced in their own type.
bool takes_integers(const Reduction& one) {
  return one.op != "ReduceL2" && one.op != "ReduceLogSum";
}

Result<std::vector<bool>> reduced_axes(const OpContext& context) {
  const int64_t rank = context.inputs[0].rank();
  std::vector<int64_t> axes = context.ints_attr("axes");
  if (context.has_input(1)) {
    const ops::IntegerList list = ops::integers_of(context.inputs[1]);
    if (!list.known) return fail(Code::unsupported_feature, "axes known only at run time");
    axes = list.values;
  }
  std::vector<bool> reduced(static_cast<size_t>(rank), axes.empty());
  if (axes.empty() && context.int_attr("noop_with_empty_axes") != 0)
    return fail(Code::unsupported_feature, "nothing is reduced");
  for (const int64_t axis : axes) {
    ANYNPU_ASSIGN(const int64_t at, ops::normal_axis(context, axis, rank));
    reduced[static_cast<size_t>(at)] = true;
  }
  return reduced;
}

// Where the elements of a row are in the tensor.
struct Along {
  int64_t rows = 1, length = 1;
  std::string base, step;  // offset of `row`, and of element `j` from there

  Along(const Shape& shape, const std::vector<bool>& reduced) {
    const std::vector<int64_t> strides = strides_of(shape);
    Shape kept, along;
    std::vector<int64_t> kept_steps, along_steps;
    for (size_t d = 0; d < shape.size(); ++d) {
      (reduced[d] ? along : kept).push_back(shape[d]);
      (reduced[d] ? along_steps : kept_steps).push_back(strides[d]);
    }
    rows = element_count(kept), length = element_count(along);
    base = strided_index(kept, kept_steps, 0, "row");
    step = strided_index(along, along_steps, 0, "j");
  }
};

PlanResult plan_reduce(const OpContext& context) {
  const auto& reduction =
      *std::find_if(std::begin(kReductions), std::end(kReductions),
                    [&](const Reduction& one) { return one.op == context.schema->name; });
  ANYNPU_ASSIGN(const std::vector<bool> reduced, reduced_axes(context));
  const Along axes(context.inputs[0].shape, reduced);
  ANYNPU_TRY(check_rows(axes.rows));
  return plan_rows(context, axes.rows, axes.length, 1,
                   format("  const C N = {0};\n  const i64 base = {1};\n  C s = {2};\n"
                          "  for (i64 j = threadIdx.x; j < {0}; j += blockDim.x) {{\n"
                          "    const C v = load(p0[base + {3}]);\n    s = {4}()(s, {5});\n  }}\n"
                          "  s = join_block(s, {4}(), (C)({2}));\n"
                          "  if (threadIdx.x == 0) store(y[row], {6});\n",
                          axes.length, axes.base, reduction.nothing, axes.step, reduction.join,
                          reduction.term, reduction.result));
}

// LogSumExp, with the maximum subtracted first.
PlanResult plan_log_sum_exp(const OpContext& context) {
  ANYNPU_ASSIGN(const std::vector<bool> reduced, reduced_axes(context));
  const Along axes(context.inputs[0].shape, reduced);
  ANYNPU_TRY(check_rows(axes.rows));
  return plan_rows(context, axes.rows, axes.length, 1,
                   format("  const i64 base = {1};\n  C top = load(p0[base]), sum = 0;\n"
                          "  for (i64 j = threadIdx.x; j < {0}; j += blockDim.x) top = "
                          "higher((C)load(p0[base + {2}]), "
                          "top);\n  top = join_block(top, Highest(), top);\n"
                          "  const C from = top - top == 0 ? top : 0;\n"
                          "  for (i64 j = threadIdx.x; j < {0}; j += blockDim.x) sum += "
                          "exp((C)load(p0[base + {2}]) - "
                          "from);\n  sum = join_block(sum, Sum(), (C)0);\n"
                          "  if (threadIdx.x == 0) store(y[row], log(sum) + from);\n",
                          axes.length, axes.base, axes.step));
}

// ---- ArgMax, ArgMin, Hardmax: one thread per row

PlanResult plan_arg(const OpContext& context) {
  ANYNPU_ASSIGN(const int64_t axis,
                ops::normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  std::vector<bool> reduced(context.inputs[0].shape.size(), false);
  reduced[static_cast<size_t>(axis)] = true;
  const Along axes(context.inputs[0].shape, reduced);
  const bool lowest = context.schema->name == "ArgMin";
  const bool last = context.int_attr("select_last_index") != 0;
  ANYNPU_TRY(check_rows(axes.rows));
  return plan_rows(
      context, axes.rows, 1, 1,
      format("  if (threadIdx.x) return;\n  const i64 base = {0};\n  i64 best = 0; C top = "
             "load(p0[base]);\n  for (i64 j = 1; j < {1}; ++j) {{\n    const C v = "
             "load(p0[base + {2}]);\n    if (v {3} top) {{ top = v; best = j; }}\n  }}\n"
             "  y[row] = best;\n",
             axes.base, axes.length, axes.step,
             std::string(lowest ? "<" : ">") + (last ? "=" : "")));
}

PlanResult plan_hardmax(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                ops::normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  std::vector<bool> reduced(shape.size(), false);
  for (size_t d = 0; d < shape.size(); ++d)
    reduced[d] = static_cast<int64_t>(d) == axis ||
                 (context.schema->since < 13 && static_cast<int64_t>(d) > axis);
  const Along axes(shape, reduced);
  ANYNPU_TRY(check_rows(axes.rows));
  return plan_rows(
      context, axes.rows, 1, 1,
      format("  if (threadIdx.x) return;\n  const i64 base = {0};\n  i64 best = 0; C top = "
             "load(p0[base]);\n  for (i64 j = 1; j < {1}; ++j) {{\n    const C v = "
             "load(p0[base + {2}]);\n    if (v > top) {{ top = v; best = j; }}\n  }}\n"
             "  for (i64 j = 0; j < {1}; ++j) store(y[base + {2}], j == best ? 1 : 0);\n",
             axes.base, axes.length, axes.step));
}

Status can_run_some(const OpContext& context) {
  if (element_count(context.inputs[0].shape) == 0 || context.inputs[0].rank() == 0)
    return fail(Code::unsupported_shape, "nothing to compare");
  return {};
}

Status can_run_reduce(const OpContext& context) {
  ANYNPU_TRY(reduced_axes(context).status());
  if (element_count(context.inputs[0].shape) == 0)
    return fail(Code::unsupported_shape, "nothing to reduce");
  return {};
}

// ---- Axes known only at run time: one thread per output, which computes its offsets itself.

PlanResult plan_reduce_later(const OpContext& context) {
  const auto& reduction =
      *std::find_if(std::begin(kReductions), std::end(kReductions),
                    [&](const Reduction& one) { return one.op == context.schema->name; });
  const Shape& shape = context.inputs[0].shape;
  std::string extents;
  for (const int64_t extent : shape) extents += format("{},", extent);
  const int64_t axes = element_count(context.inputs[1].shape);
  ANYNPU_ASSIGN(
      auto kernel,
      JitKernel::make(format(
          "typedef {0} C; typedef {1} T;\n__device__ const i64 extents[] = {{{2}}};\n"
          "struct Sum {{ __device__ C operator()(C a, C b) const {{ return a + b; }} }};\n"
          "struct Product {{ __device__ C operator()(C a, C b) const {{ return a * b; }} }};\n"
          "struct Highest {{ __device__ C operator()(C a, C b) const {{ return higher(b, a); }} "
          "}};\n"
          "struct Lowest {{ __device__ C operator()(C a, C b) const {{ return lower(b, a); }} }};\n"
          "// The i-th place of the axes that are reduced, or of the others.\n"
          "__device__ i64 place(u64 i, u32 reduced, bool along) {{\n  i64 at = 0, step = 1;\n"
          "  for (int d = {3} - 1; d >= 0; --d) {{\n    if (((reduced >> d) & 1) == along) {{ at "
          "+= (i64)(i % "
          "extents[d]) * step; i /= extents[d]; }}\n    step *= extents[d];\n  }}\n  return "
          "at;\n}}\n"
          "extern \"C\" __global__ void kernel(const T* p0, const i64* axes, T* y, volatile i64* "
          "board, i64 number, u64 n) {{\n"
          "  u32 reduced = {4}; for (int k = 0; k < {5}; ++k) {{\n    const i64 axis = axes[k] < 0 "
          "? axes[k] + "
          "{3} : axes[k];\n    if (axis < 0 || axis >= {3}) {{ fault(board, number, axes[k], {3}); "
          "return; "
          "}}\n    reduced |= 1u << axis;\n  }}\n  u64 length = 1; for (int d = 0; d < {3}; ++d) "
          "if ((reduced >> d) & 1) length *= "
          "extents[d];\n  const C N = (C)length;\n"
          "  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
          "(u64)blockDim.x) {{\n    const i64 base = place(i, reduced, false); C s = {6};\n"
          "    for (u64 j = 0; j < length; ++j) {{ const C v = load(p0[base + place(j, reduced, "
          "true)]); s = "
          "{7}()(s, {8}); }}\n    store(y[i], {9});\n  }}\n}}\n",
          compute_name(context.inputs[0].dtype), cuda_name(context.inputs[0].dtype), extents,
          shape.size(), axes == 0 ? "0xffffffffu" : "0", axes, reduction.nothing, reduction.join,
          reduction.term, reduction.result)));
  const auto count = static_cast<size_t>(element_count(context.outputs[0].shape));
  ANYNPU_ASSIGN(const IndexCheck check, IndexCheck::of(context));
  return cuda_plan([kernel, check, count](const ops::RunArgs& args, CudaQueue& queue) {
    const void *x = args.inputs[0], *at = args.inputs[1];
    void* y = args.outputs[0];
    volatile int64_t* board = check.board;
    uint64_t number = check.number;
    size_t n = count;
    void* arguments[] = {&x, &at, &y, &board, &number, &n};
    return kernel->launch_over(queue, count, arguments);
  });
}

Status can_run_later(const OpContext& context) {
  if (!context.has_input(1) || context.inputs[1].is_constant ||
      context.inputs[1].dtype != DType::i64)
    return fail(Code::unsupported_feature, "axes are known");
  if (context.int_attr("noop_with_empty_axes") != 0 && element_count(context.inputs[1].shape) == 0)
    return fail(Code::unsupported_feature, "nothing is reduced");
  if (element_count(context.inputs[0].shape) == 0 || context.inputs[0].rank() == 0 ||
      context.inputs[0].rank() > 32)
    return fail(Code::unsupported_shape, "nothing to reduce");
  return {};
}

// ---- Nothing to reduce: every output is the same value.

constexpr struct {
  std::string_view op;
  const char* value;
} kEmpty[] = {{"ReduceSum", "0"},
              {"ReduceL1", "0"},
              {"ReduceL2", "0"},
              {"ReduceSumSquare", "0"},
              {"ReduceProd", "1"},
              {"ReduceLogSum", "-INFINITY"},
              {"ReduceLogSumExp", "-INFINITY"}};

PlanResult plan_reduce_nothing(const OpContext& context) {
  const DType type = context.inputs[0].dtype;
  const std::string_view op = context.schema->name;
  std::string value;
  for (const auto& [name, text] : kEmpty) {
    if (name == op) value = text;
  }
  // The lowest and the highest value of the type.
  const bool top = op == "ReduceMin", real = ops::kFloats.has(type);
  if (real && value.empty()) value = top ? "INFINITY" : "-INFINITY";
  if (value.empty()) {
    const auto bits = static_cast<int>(8 * size_of(type));
    const bool has_sign = cuda_name(type)[0] == 'i';
    value = has_sign ? format("(i64)({}((1ull << {}) - 1){})", top ? "" : "-(i64)", bits - 1,
                              top ? "" : " - 1")
                     : format("{}", top ? "~0ull" : "0");
  }
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(element_count(context.outputs[0].shape));
  kernel.body = format("  store(y0[i], {});\n", value);
  return plan_items(context, kernel);
}

Status can_run_nothing(const OpContext& context) {
  if (context.inputs[0].rank() == 0 || element_count(context.inputs[0].shape) > 0)
    return fail(Code::unsupported_shape, "there is something to reduce");
  return can_run_items(context);
}

// ---- No axes are reduced where that is what noop_with_empty_axes says: a copy, or the term of
// each element.

PlanResult plan_reduce_each(const OpContext& context) {
  const std::string_view op = context.schema->name;
  const char* text = op == "ReduceL1"          ? "v < 0 ? -v : v"
                     : op == "ReduceL2"        ? "(C)fabs((double)v)"
                     : op == "ReduceSumSquare" ? "v * v"
                     : op == "ReduceLogSum"    ? "log(v)"
                                               : "v";
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(element_count(context.outputs[0].shape));
  kernel.body = format("  const C v = load(x0[i]); store(y0[i], {});\n", text);
  return plan_items(context, kernel);
}

Status can_run_each(const OpContext& context) {
  const bool empty = context.has_input(1) ? element_count(context.inputs[1].shape) == 0
                                          : context.ints_attr("axes").empty();
  if (!empty || context.int_attr("noop_with_empty_axes") == 0)
    return fail(Code::unsupported_feature, "axes are reduced");
  return can_run_items(context);
}

}  // namespace

void add_reductions(std::vector<ops::KernelDef>& kernels) {
  for (const Reduction& one : kReductions) {
    kernels.push_back(row_kernel(one.op, ops::create_plain<plan_reduce>, can_run_reduce));
    if (takes_integers(one)) kernels.back().types = ops::kNumbers;
    kernels.push_back(row_kernel(one.op, ops::create_plain<plan_reduce_later>, can_run_later));
    kernels.back().name = "cuda_late_axes";
    if (takes_integers(one)) kernels.back().types = ops::kNumbers;
  }
  kernels.push_back(
      row_kernel("ReduceLogSumExp", ops::create_plain<plan_log_sum_exp>, can_run_reduce));
  for (const char* op :
       {"ReduceSum", "ReduceMean", "ReduceProd", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2",
        "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp"}) {
    if (std::string_view(op) != "ReduceMean")
      kernels.push_back(item_kernel(op, ops::kNumbers, ops::create_plain<plan_reduce_nothing>, {},
                                    can_run_nothing));
    kernels.push_back(
        item_kernel(op, ops::kNumbers, ops::create_plain<plan_reduce_each>, {}, can_run_each));
  }
  for (const char* op : {"ArgMax", "ArgMin"}) {
    kernels.push_back(row_kernel(op, ops::create_plain<plan_arg>, can_run_some));
    kernels.back().types = ops::kNumbers;
  }
  kernels.push_back(row_kernel("Hardmax", ops::create_plain<plan_hardmax>, can_run_some));
}

}  // namespace anynpu::device::cuda
