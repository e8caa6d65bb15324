// SPDX-License-Identifier: Apache-2.0
#include "service/blas/gemm.h"

#include <memory>
#include <utility>

#include "device/memory.h"
#include "device/runtime.h"
#include "service/check_pointer.h"
#include "service/finalize.h"
#include "service/task_kinds.h"

namespace anynpu::service {

namespace {

// A task with what keeps its memory.
struct Work {
  exec::Gemm gemm;
  GemmPointers at;
  std::shared_ptr<device::Allocation> owners[5];
};

Status submit(const exec::Gemm& gemm, const GemmPointers& at, Handle stream_handle) {
  ANYNPU_TRY(exec::check_gemm(gemm));
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(stream_handle));
  const exec::GemmBytes bytes = exec::bytes_of(gemm);
  const size_t factor = size_of(exec::factor_type(gemm));
  const struct {
    const char* name;
    const void* address;
    size_t bytes;
    device::Access access;
  } ranges[] = {{"alpha", at.alpha, factor, device::Access::read},
                {"matrixA", at.a, bytes.a, device::Access::read},
                {"matrixB", at.b, bytes.b, device::Access::read},
                {"beta", at.beta, factor, device::Access::read},
                {"matrixC", at.c, bytes.c, device::Access::write}};
  auto work = std::make_unique<Work>();
  work->gemm = gemm;
  work->at = at;
  for (size_t i = 0; i < 5; ++i) {
    ANYNPU_TRY(check_pointer(ranges[i].address, ranges[i].name));
    ANYNPU_ASSIGN(auto range, device::check_range(ranges[i].address, ranges[i].bytes,
                                                  ranges[i].access, ranges[i].name));
    work->owners[i] = std::move(range.owner);
  }
  [[maybe_unused]] static const bool registered = [] {
    return on_finalize([] { exec::clear_gemm_plans(); }), true;
  }();
  return stream->submit(matrix_product_task, [work = std::move(work)](device::TaskRun& run) {
    device::Stream& by = run.stream();
    return run.done(queued_by("a call of aclblas",
                              exec::run_gemm(work->gemm, work->at, by.device(), by.queue())));
  });
}

}  // namespace

Status check_gemm_codes(std::initializer_list<int> transpositions, int precision) {
  for (int t : transpositions) {
    if (t >= 0 && t <= 3) continue;
    return fail(Code::invalid_argument, "a transposition of {}; expected 0 to 3 (aclTransType)", t);
  }
  if (precision == 0 || precision == 1) return {};
  return fail(Code::invalid_argument, "type is {}; expected 0 or 1 (aclComputeType)", precision);
}

Status submit_gemm(const exec::Gemm& g, int precision, const GemmPointers& at, Handle stream) {
  ANYNPU_TRY(check_gemm_codes({static_cast<int>(g.a), static_cast<int>(g.b), static_cast<int>(g.c)},
                              precision));
  return submit(g, at, stream);
}

Status submit_gemv(exec::Gemm g, int incx, int incy, int precision, const GemmPointers& at,
                   Handle stream) {
  ANYNPU_TRY(check_gemm_codes({static_cast<int>(g.a)}, precision));
  for (const auto& [name, step] : {std::pair{"incx", incx}, {"incy", incy}}) {
    if (step == -1 || step >= 1) continue;
    return fail(Code::invalid_argument, "{} is {}; expected -1 or at least 1", name, step);
  }
  g.b_step = 1;
  g.ldb = incx == -1 ? 1 : incx;  // a column: the step from row to row
  g.ldc = incy == -1 ? 1 : incy;
  return submit(g, at, stream);
}

}  // namespace anynpu::service
