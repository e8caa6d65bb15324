// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/row_plan.h"

#include "cuda/kernels/jit_kernel.h"

namespace anynpu::device::cuda {

namespace {

// Block reduction; every thread gets the result.
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

}  // namespace

ops::PlanResult plan_rows(const ops::OpContext& context, int64_t rows, int64_t length,
                          size_t inputs, const std::string& body, size_t outputs) {
  std::string parameters;
  for (size_t k = 0; k < inputs; ++k) {
    const DType type = context.has_input(k) ? context.inputs[k].dtype : context.inputs[0].dtype;
    parameters += format("const {}* p{}, ", cuda_name(type), k);
  }
  std::string results = format("{}* y", cuda_name(context.outputs[0].dtype));
  for (size_t k = 1; k < outputs; ++k) {
    const bool made = k < context.outputs.size() && context.outputs[k].present;
    results += format(", {}* y{}", cuda_name(made ? context.outputs[k].dtype : DType::f32), k);
  }
  ANYNPU_ASSIGN(auto kernel,
                JitKernel::make(format(
                    "typedef {} C;\n{}\nextern \"C\" __global__ void kernel({}{}) {{\n"
                    "  const i64 row = blockIdx.x;\n{}}}\n",
                    compute_name(context.inputs[0].dtype), kJoin, parameters, results, body)));
  const unsigned threads = threads_for(length);
  return cuda_plan([=](const ops::RunArgs& args, CudaQueue& queue) {
    std::vector<const void*> addresses;
    for (size_t k = 0; k < inputs; ++k)
      addresses.push_back(k < args.inputs.size() ? args.inputs[k] : nullptr);
    for (size_t k = 0; k < outputs; ++k)
      addresses.push_back(k < args.outputs.size() ? args.outputs[k] : nullptr);
    std::vector<void*> arguments;
    for (const void*& address : addresses) arguments.push_back(&address);
    return kernel->launch(queue, static_cast<size_t>(rows), threads, arguments.data());
  });
}

Status check_rows(int64_t rows) {
  if (rows > INT32_MAX) return fail(Code::unsupported_shape, "more than 2^31 rows");
  return {};
}

}  // namespace anynpu::device::cuda
