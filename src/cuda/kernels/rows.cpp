// SPDX-License-Identifier: Apache-2.0
// Operators that sum over rows: Softmax, normalisations, Reduce*. A block of threads has a row; sums
// are kept in float (double for float64) and joined in a fixed order.
#include <algorithm>
#include <numeric>

#include "cuda/kernels/indexing.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/data_movement/axes.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::PlanResult;

// What the threads of a block have, joined; every thread gets the result.
constexpr const char* kJoin = R"cuda(
template <typename Join> __device__ C join_block(C v, Join join, C nothing) {
  __shared__ C parts[32];
  for (int step = 16; step > 0; step >>= 1) v = join(v, __shfl_xor_sync(0xffffffffu, v, step));
  __syncthreads();
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = v;
  __syncthreads();
  v = nothing;
  for (int w = 0; w < (int)(blockDim.x >> 5); ++w) v = join(v, parts[w]);
  return v;
}
struct Sum { __device__ C operator()(C a, C b) const { return a + b; } };
struct Product { __device__ C operator()(C a, C b) const { return a * b; } };
struct Highest { __device__ C operator()(C a, C b) const { return higher(a, b); } };
struct Lowest { __device__ C operator()(C a, C b) const { return lower(a, b); } };
)cuda";

unsigned threads_for(int64_t length) {
  unsigned threads = 32;
  while (threads < 512 && threads * 4 < length) threads *= 2;
  return threads;
}

// A kernel with a block a row: kernel(inputs..., output); `body` sees `row`.
PlanResult plan_rows(const OpContext& context, int64_t rows, int64_t length, size_t inputs,
                     const std::string& body) {
  std::string parameters;
  for (size_t k = 0; k < inputs; ++k) {
    const DType type = context.has_input(k) ? context.inputs[k].dtype : context.inputs[0].dtype;
    parameters += format("const {}* p{}, ", cuda_name(type), k);
  }
  ANYNPU_ASSIGN(
      auto kernel,
      JitKernel::make(format("typedef {} C;\n{}\nextern \"C\" __global__ void kernel({}{}* y) {{\n"
                             "  const i64 row = blockIdx.x;\n{}}}\n",
                             compute_name(context.inputs[0].dtype), kJoin, parameters,
                             cuda_name(context.outputs[0].dtype), body)));
  const unsigned threads = threads_for(length);
  return cuda_plan([=](const ops::RunArgs& args, CudaQueue& queue) {
    std::vector<const void*> addresses;
    for (size_t k = 0; k < inputs; ++k)
      addresses.push_back(k < args.inputs.size() ? args.inputs[k] : nullptr);
    addresses.push_back(args.outputs[0]);
    std::vector<void*> arguments;
    for (const void*& address : addresses) arguments.push_back(&address);
    return kernel->launch(queue, static_cast<size_t>(rows), threads, arguments.data());
  });
}

Status check_rows(int64_t rows) {
  if (rows > INT32_MAX) return fail(Code::unsupported_shape, "more than 2^31 rows");
  return {};
}

// ---- Softmax, LogSoftmax

PlanResult plan_softmax(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = context.int_attr("axis");
  if (axis < 0) axis = std::max<int64_t>(axis + rank, 0);
  const bool flattened = context.schema->since < 13;
  int64_t outer = 1, length = 1, step = 1;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t& part = d < axis ? outer : (d == axis || flattened ? length : step);
    part *= shape[static_cast<size_t>(d)];
  }
  if (length == 0) outer = 0;
  ANYNPU_TRY(check_rows(outer * step));
  const bool log = context.schema->name == "LogSoftmax";
  return plan_rows(
      context, outer * step, length, 1,
      format("  const i64 base = row / {0} * {1} + row % {0};\n"
             "  C top = load(p0[base]);\n"
             "  for (i64 j = threadIdx.x; j < {2}; j += blockDim.x) top = higher(top, (C)load(p0[base "
             "+ j * {0}]));\n"
             "  top = join_block(top, Highest(), top);\n"
             "  C sum = 0;\n"
             "  for (i64 j = threadIdx.x; j < {2}; j += blockDim.x) sum += exp((C)load(p0[base + j * "
             "{0}]) - top);\n"
             "  sum = join_block(sum, Sum(), (C)0);\n"
             "  for (i64 j = threadIdx.x; j < {2}; j += blockDim.x) {{\n"
             "    const C v = (C)load(p0[base + j * {0}]) - top;\n"
             "    store(y[base + j * {0}], {3});\n  }}\n",
             step, length * step, length, log ? "v - log(sum)" : "exp(v) / sum"));
}

// ---- Normalisations

std::string normalise(int64_t length, bool centred, double epsilon, const std::string& factor,
                      const std::string& shift) {
  return format(
      "  const i64 base = row * {0};\n  C mean = 0, square = 0;\n"
      "  if ({1}) {{\n"
      "    for (i64 j = threadIdx.x; j < {0}; j += blockDim.x) mean += (C)load(p0[base + j]);\n"
      "    mean = join_block(mean, Sum(), (C)0) / {0};\n  }}\n"
      "  for (i64 j = threadIdx.x; j < {0}; j += blockDim.x) {{\n"
      "    const C v = (C)load(p0[base + j]) - mean;\n    square += v * v;\n  }}\n"
      "  const C inverse = 1 / sqrt(join_block(square, Sum(), (C)0) / {0} + (C){2});\n"
      "  for (i64 j = threadIdx.x; j < {0}; j += blockDim.x)\n"
      "    store(y[base + j], ((C)load(p0[base + j]) - mean) * inverse{3}{4});\n",
      length, centred ? 1 : 0, literal(epsilon), factor, shift);
}

PlanResult plan_layer_norm(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis, ops::normal_axis(context, context.int_attr("axis"),
                                                     context.inputs[0].rank()));
  int64_t length = 1;
  for (auto d = static_cast<size_t>(axis); d < shape.size(); ++d) length *= shape[d];
  const int64_t rows = length > 0 ? element_count(shape) / length : 0;
  const bool centred = context.schema->name == "LayerNormalization";
  return plan_rows(context, rows, length, 3,
                   normalise(length, centred, context.float_attr("epsilon"),
                             " * (C)load(p1[j])", context.has_input(2) ? " + (C)load(p2[j])" : ""));
}

Status can_run_layer_norm(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis, ops::normal_axis(context, context.int_attr("axis"),
                                                     context.inputs[0].rank()));
  const Shape rest(shape.begin() + axis, shape.end());
  for (size_t k = 1; k < context.inputs.size(); ++k) {
    if (!context.has_input(k)) continue;
    if (context.inputs[k].shape != rest)
      return fail(Code::unsupported_shape, "scale or bias of shape {}, takes {}",
                  to_string(context.inputs[k].shape), to_string(rest));
    if (cuda_name(context.inputs[k].dtype).empty())
      return fail(Code::unsupported_dtype, "type {}", name_of(context.inputs[k].dtype));
  }
  for (size_t k = 1; k < context.outputs.size(); ++k) {
    if (context.outputs[k].present)
      return fail(Code::unsupported_feature, "mean and deviation are asked for");
  }
  return check_rows(rest.empty() ? 1 : element_count(shape) / std::max<int64_t>(1, element_count(rest)));
}

PlanResult plan_instance_norm(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const int64_t rows = shape[0] * shape[1];
  const int64_t length = rows > 0 ? element_count(shape) / rows : 0;
  ANYNPU_TRY(check_rows(rows));
  return plan_rows(context, length > 0 ? rows : 0, length, 3,
                   normalise(length, true, context.float_attr("epsilon"),
                             format(" * (C)load(p1[row % {}])", shape[1]),
                             format(" + (C)load(p2[row % {}])", shape[1])));
}

// ---- Reduce*

struct Reduction {
  std::string_view op;
  const char* join;     // of the block
  const char* nothing;  // what joining starts from
  const char* term;     // of the element v
  const char* result;   // of the joined value s and the count N
};
constexpr Reduction kReductions[] = {
    {"ReduceSum", "Sum", "0", "v", "s"},
    {"ReduceMean", "Sum", "0", "v", "s / N"},
    {"ReduceProd", "Product", "1", "v", "s"},
    {"ReduceMax", "Highest", "-INFINITY", "v", "s"},
    {"ReduceMin", "Lowest", "INFINITY", "v", "s"},
    {"ReduceL1", "Sum", "0", "fabs(v)", "s"},
    {"ReduceL2", "Sum", "0", "v * v", "sqrt(s)"},
    {"ReduceSumSquare", "Sum", "0", "v * v", "s"},
    {"ReduceLogSum", "Sum", "0", "v", "log(s)"},
};

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

PlanResult plan_reduce(const OpContext& context) {
  const auto& reduction = *std::find_if(
      std::begin(kReductions), std::end(kReductions),
      [&](const Reduction& one) { return one.op == context.schema->name; });
  ANYNPU_ASSIGN(const std::vector<bool> reduced, reduced_axes(context));
  const Shape& shape = context.inputs[0].shape;
  const std::vector<int64_t> strides = strides_of(shape);
  Shape kept, along;
  std::vector<int64_t> kept_steps, along_steps;
  for (size_t d = 0; d < shape.size(); ++d) {
    (reduced[d] ? along : kept).push_back(shape[d]);
    (reduced[d] ? along_steps : kept_steps).push_back(strides[d]);
  }
  const int64_t rows = element_count(kept), length = element_count(along);
  ANYNPU_TRY(check_rows(rows));
  return plan_rows(
      context, rows, length, 1,
      format("  const C N = {0};\n  const i64 base = {1};\n  C s = {2};\n"
             "  for (i64 j = threadIdx.x; j < {0}; j += blockDim.x) {{\n"
             "    const C v = load(p0[base + {3}]);\n    s = {4}()(s, {5});\n  }}\n"
             "  s = join_block(s, {4}(), (C)({2}));\n"
             "  if (threadIdx.x == 0) store(y[row], {6});\n",
             length, strided_index(kept, kept_steps, 0, "row"), reduction.nothing,
             strided_index(along, along_steps, 0, "j"), reduction.join, reduction.term,
             reduction.result));
}

Status can_run_reduce(const OpContext& context) {
  ANYNPU_TRY(reduced_axes(context).status());
  if (element_count(context.inputs[0].shape) == 0)
    return fail(Code::unsupported_shape, "nothing to reduce");
  return {};
}

// ---- BatchNormalization

PlanResult plan_batch_norm(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const int64_t channels = shape.size() > 1 ? shape[1] : 1;
  int64_t plane = 1;
  for (size_t d = 2; d < shape.size(); ++d) plane *= shape[d];
  const int64_t rows = plane > 0 ? element_count(shape) / plane : 0;
  ANYNPU_TRY(check_rows(rows));
  return plan_rows(
      context, rows, plane, 5,
      format("  const i64 c = row % {0};\n"
             "  const C factor = (C)load(p1[c]) / sqrt((C)load(p4[c]) + (C){1});\n"
             "  const C shift = (C)load(p2[c]) - (C)load(p3[c]) * factor;\n"
             "  for (i64 j = threadIdx.x; j < {2}; j += blockDim.x)\n"
             "    store(y[row * {2} + j], (C)load(p0[row * {2} + j]) * factor + shift);\n",
             channels, literal(context.float_attr("epsilon")), plane));
}

Status can_run_batch_norm(const OpContext& context) {
  for (size_t k = 1; k < context.outputs.size(); ++k) {
    if (context.outputs[k].present) return fail(Code::unsupported_feature, "training");
  }
  if (context.int_attr("training_mode") != 0) return fail(Code::unsupported_feature, "training");
  return {};
}

ops::KernelDef row_kernel(std::string_view op,
                          Result<std::unique_ptr<ops::Kernel>> (*create)(const OpContext&),
                          Status (*can_run)(const OpContext&) = nullptr) {
  return {.op = op,
          .name = "cuda_rows",
          .backend = "cuda",
          .types = ops::kFloats,
          .can_run = can_run,
          .create = create};
}

}  // namespace

void add_rows(std::vector<ops::KernelDef>& kernels) {
  for (const char* op : {"Softmax", "LogSoftmax"})
    kernels.push_back(row_kernel(op, ops::create_plain<plan_softmax>));
  for (const char* op : {"LayerNormalization", "RMSNormalization"})
    kernels.push_back(row_kernel(op, ops::create_plain<plan_layer_norm>, can_run_layer_norm));
  kernels.push_back(row_kernel("InstanceNormalization", ops::create_plain<plan_instance_norm>));
  kernels.push_back(
      row_kernel("BatchNormalization", ops::create_plain<plan_batch_norm>, can_run_batch_norm));
  for (const Reduction& one : kReductions)
    kernels.push_back(row_kernel(one.op, ops::create_plain<plan_reduce>, can_run_reduce));
}

}  // namespace anynpu::device::cuda
