// SPDX-License-Identifier: Apache-2.0
// aclblas*: products as tasks of a stream, and as handles of the operator GEMM (inputs a, b, c,
// alpha, beta; output c).
#include "service/blas/gemm.h"

#include "acl/ops/acl_cblas.h"
#include "api/acl/entry.h"
#include "service/op/op_call.h"

namespace anynpu::acl {

namespace {

using namespace service;

static_assert(ACL_TRANS_N == 0 && ACL_TRANS_NZ_T == 3);
static_assert(ACL_COMPUTE_HIGH_PRECISION + ACL_COMPUTE_LOW_PRECISION == 1);

exec::Gemm matrix_problem(int ta, int tb, int tc, int m, int n, int k, int da, int db, int dc) {
  exec::Gemm g;
  g.m = m, g.n = n, g.k = k;
  g.a = static_cast<exec::Trans>(ta);
  g.b = static_cast<exec::Trans>(tb);
  g.c = static_cast<exec::Trans>(tc);
  g.a_type = static_cast<DType>(da);
  g.b_type = static_cast<DType>(db);
  g.c_type = static_cast<DType>(dc);
  return g;
}

// A matrix of m rows and n columns times a vector: with a transposition the vector has m elements.
exec::Gemm vector_problem(int ta, int m, int n, int da, int dx, int dy) {
  const bool t = ta == ACL_TRANS_T || ta == ACL_TRANS_NZ_T;
  return matrix_problem(ta, ACL_TRANS_N, ACL_TRANS_N, t ? n : m, 1, t ? m : n, da, dx, dy);
}

Status gemm(exec::Gemm g, int lda, int ldb, int ldc, int type, const service::GemmPointers& at,
            aclrtStream stream) {
  g.lda = lda, g.ldb = ldb, g.ldc = ldc;
  return service::submit_gemm(g, type, at, to_handle(stream));
}

Status gemv(exec::Gemm g, int lda, int incx, int incy, int type, const service::GemmPointers& at,
            aclrtStream stream) {
  g.lda = lda;
  return service::submit_gemv(g, incx, incy, type, at, to_handle(stream));
}

Result<std::shared_ptr<OpHandle>> make_handle(const exec::Gemm& g) {
  ANYNPU_TRY(exec::check_gemm(g));
  for (exec::Trans t : {g.a, g.b, g.c}) {
    if (t == exec::Trans::no || t == exec::Trans::yes) continue;
    return fail(
        Code::unsupported_feature,
        "a handle for matrices in FRACTAL_NZ is not there; call the function without handle");
  }
  const bool ta = g.a == exec::Trans::yes, tb = g.b == exec::Trans::yes;
  const auto desc = [](DType type, Shape shape) {
    TensorDesc d;
    d.dtype = type;
    d.format = Format::nd;
    d.shape = std::move(shape);
    return d;
  };
  singleop::SingleOp op;
  op.type = "GEMM";
  op.attrs["transpose_a"] = ta;
  op.attrs["transpose_b"] = tb;
  const DType factor = exec::factor_type(g);
  op.inputs = {desc(g.a_type, ta ? Shape{g.k, g.m} : Shape{g.m, g.k}),
               desc(g.b_type, tb ? Shape{g.n, g.k} : Shape{g.k, g.n}), desc(g.c_type, {g.m, g.n}),
               desc(factor, {}), desc(factor, {})};
  op.outputs = {desc(g.c_type, {g.m, g.n})};
  prepare_op_models();
  ANYNPU_ASSIGN(auto model, exec::OpModels::instance().find_or_compile(op));
  return prepare_op(op, std::move(model));
}

Status create_handle(const exec::Gemm& g, int type, aclopHandle** out) {
  ANYNPU_TRY(check_pointer(out, "handle"));
  ANYNPU_TRY(service::check_gemm_codes(
      {static_cast<int>(g.a), static_cast<int>(g.b), static_cast<int>(g.c)}, type));
  auto made = make_handle(g);
  if (!made.ok()) return made.status();
  auto handle = insert_object<aclopHandle*>(std::move(*made));
  if (!handle.ok()) return handle.status();
  *out = *handle;
  return {};
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclblasGemmEx(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n,
                       int k, const void* alpha, const void* matrixA, int lda,
                       aclDataType dataTypeA, const void* matrixB, int ldb, aclDataType dataTypeB,
                       const void* beta, void* matrixC, int ldc, aclDataType dataTypeC,
                       aclComputeType type, aclrtStream stream) {
  return enter(__func__, [&] {
    return gemm(matrix_problem(transA, transB, transC, m, n, k, dataTypeA, dataTypeB, dataTypeC),
                lda, ldb, ldc, type, {alpha, matrixA, matrixB, beta, matrixC}, stream);
  });
}

aclError aclblasHgemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n,
                      int k, const aclFloat16* alpha, const aclFloat16* matrixA, int lda,
                      const aclFloat16* matrixB, int ldb, const aclFloat16* beta,
                      aclFloat16* matrixC, int ldc, aclComputeType type, aclrtStream stream) {
  return enter(__func__, [&] {
    return gemm(
        matrix_problem(transA, transB, transC, m, n, k, ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16), lda,
        ldb, ldc, type, {alpha, matrixA, matrixB, beta, matrixC}, stream);
  });
}

aclError aclblasS8gemm(aclTransType transA, aclTransType transB, aclTransType transC, int m, int n,
                       int k, const int32_t* alpha, const int8_t* matrixA, int lda,
                       const int8_t* matrixB, int ldb, const int32_t* beta, int32_t* matrixC,
                       int ldc, aclComputeType type, aclrtStream stream) {
  return enter(__func__, [&] {
    return gemm(matrix_problem(transA, transB, transC, m, n, k, ACL_INT8, ACL_INT8, ACL_INT32), lda,
                ldb, ldc, type, {alpha, matrixA, matrixB, beta, matrixC}, stream);
  });
}

aclError aclblasGemvEx(aclTransType transA, int m, int n, const void* alpha, const void* a, int lda,
                       aclDataType dataTypeA, const void* x, int incx, aclDataType dataTypeX,
                       const void* beta, void* y, int incy, aclDataType dataTypeY,
                       aclComputeType type, aclrtStream stream) {
  return enter(__func__, [&] {
    return gemv(vector_problem(transA, m, n, dataTypeA, dataTypeX, dataTypeY), lda, incx, incy,
                type, {alpha, a, x, beta, y}, stream);
  });
}

aclError aclblasHgemv(aclTransType transA, int m, int n, const aclFloat16* alpha,
                      const aclFloat16* a, int lda, const aclFloat16* x, int incx,
                      const aclFloat16* beta, aclFloat16* y, int incy, aclComputeType type,
                      aclrtStream stream) {
  return enter(__func__, [&] {
    return gemv(vector_problem(transA, m, n, ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16), lda, incx,
                incy, type, {alpha, a, x, beta, y}, stream);
  });
}

aclError aclblasS8gemv(aclTransType transA, int m, int n, const int32_t* alpha, const int8_t* a,
                       int lda, const int8_t* x, int incx, const int32_t* beta, int32_t* y,
                       int incy, aclComputeType type, aclrtStream stream) {
  return enter(__func__, [&] {
    return gemv(vector_problem(transA, m, n, ACL_INT8, ACL_INT8, ACL_INT32), lda, incx, incy, type,
                {alpha, a, x, beta, y}, stream);
  });
}

aclError aclblasCreateHandleForGemmEx(aclTransType transA, aclTransType transB, aclTransType transC,
                                      int m, int n, int k, aclDataType dataTypeA,
                                      aclDataType dataTypeB, aclDataType dataTypeC,
                                      aclComputeType type, aclopHandle** handle) {
  return enter(__func__, [&] {
    return create_handle(
        matrix_problem(transA, transB, transC, m, n, k, dataTypeA, dataTypeB, dataTypeC), type,
        handle);
  });
}

aclError aclblasCreateHandleForHgemm(aclTransType transA, aclTransType transB, aclTransType transC,
                                     int m, int n, int k, aclComputeType type,
                                     aclopHandle** handle) {
  return enter(__func__, [&] {
    return create_handle(
        matrix_problem(transA, transB, transC, m, n, k, ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16),
        type, handle);
  });
}

aclError aclblasCreateHandleForS8gemm(aclTransType transA, aclTransType transB, aclTransType transC,
                                      int m, int n, int k, aclComputeType type,
                                      aclopHandle** handle) {
  return enter(__func__, [&] {
    return create_handle(
        matrix_problem(transA, transB, transC, m, n, k, ACL_INT8, ACL_INT8, ACL_INT32), type,
        handle);
  });
}

aclError aclblasCreateHandleForGemvEx(aclTransType transA, int m, int n, aclDataType dataTypeA,
                                      aclDataType dataTypeX, aclDataType dataTypeY,
                                      aclComputeType type, aclopHandle** handle) {
  return enter(__func__, [&] {
    return create_handle(vector_problem(transA, m, n, dataTypeA, dataTypeX, dataTypeY), type,
                         handle);
  });
}

aclError aclblasCreateHandleForHgemv(aclTransType transA, int m, int n, aclComputeType type,
                                     aclopHandle** handle) {
  return enter(__func__, [&] {
    return create_handle(vector_problem(transA, m, n, ACL_FLOAT16, ACL_FLOAT16, ACL_FLOAT16), type,
                         handle);
  });
}

aclError aclblasCreateHandleForS8gemv(aclTransType transA, int m, int n, aclComputeType type,
                                      aclopHandle** handle) {
  return enter(__func__, [&] {
    return create_handle(vector_problem(transA, m, n, ACL_INT8, ACL_INT8, ACL_INT32), type, handle);
  });
}

}  // extern "C"
