// SPDX-License-Identifier: Apache-2.0
// Decompositions and inverses of matrices.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace linalg {

namespace {

Value wide(Recipe& r, Param param) {
  return r.cast(r.in(param), computed_in(floating(r.dtype(param))));
}

bool is_empty(Recipe& r, Param param) { return r.tensor(param).count() == 0; }

void inverse(Recipe& r) {
  if (!is_empty(r, "self")) r.out("out", r.op("Inverse", {wide(r, "self")}));
}
void cholesky(Recipe& r) {
  if (is_empty(r, "self")) return;
  r.out("out", r.op("Cholesky", {wide(r, "self")}, {{"upper", r.flag("upper")}}));
}

// The outputs say which of the two forms is meant; an empty Q is not wanted.
void qr(Recipe& r) {
  const Shape shape = r.shape("self"), to = r.shape("R");
  const int64_t m = shape[shape.size() - 2], n = shape.back();
  const bool complete = to[to.size() - 2] == m && m > n;
  if (is_empty(r, "self")) {
    if (!is_empty(r, "Q")) {
      r.out("Q", r.expand(r.op("EyeLike", {r.filled(DType::f32, {m, r.shape("Q").back()}, 0)}),
                          r.shape("Q")));
    }
    return;
  }
  const auto parts = r.ops("Qr", {wide(r, "self")}, 2, {{"complete", complete}});
  if (!is_empty(r, "Q")) r.out("Q", parts[0]);
  r.out("R", parts[1]);
}

void triangular_solve(Recipe& r) {
  const Value a = wide(r, "A");
  if (!is_empty(r, "xOut")) {
    Shape x = r.shape("xOut"), matrices = x;
    matrices.back() = x[x.size() - 2];
    r.out("xOut", r.op("TriangularSolve", {r.expand(wide(r, "self"), x), r.expand(a, matrices)},
                       {{"upper", r.flag("upper")},
                        {"transpose", r.flag("transpose")},
                        {"unit", r.flag("unitriangular")}}));
  }
  if (r.given("mOut") && !is_empty(r, "mOut")) r.out("mOut", r.expand(a, r.shape("mOut")));
}

void svd(Recipe& r) {
  if (is_empty(r, "input")) return;
  const auto parts = r.ops("Svd", {wide(r, "input")}, 3, {{"full", r.flag("fullMatrices")}});
  r.out("sigma", parts[1]);
  if (!r.flag("computeUV")) return;
  if (!is_empty(r, "u")) r.out("u", parts[0]);
  if (!is_empty(r, "v")) r.out("v", parts[2]);
}

// Sign and logarithm of the determinant.
void slogdet(Recipe& r) {
  const Value det = r.op("Det", {wide(r, "self")});
  r.out("signOut", r.op("Sign", {det}));
  r.out("logOut", r.op("Log", {r.op("Abs", {det})}));
}

// NaN for a negative determinant.
void logdet(Recipe& r) { r.out("out", r.op("Log", {r.op("Det", {wide(r, "self")})})); }

const Row kRows[] = {
    {"aclnnInverse", inverse},
    {"aclnnLinalgCholesky", cholesky},
    {"aclnnLinalgQr", qr},
    {"aclnnQr", qr},
    {"aclnnTriangularSolve", triangular_solve},
    {"aclnnSvd", svd},
    {"aclnnSlogdet", slogdet},
    {"aclnnLogdet", logdet},
};

}  // namespace

}  // namespace linalg

std::span<const Row> linalg_rows() { return linalg::kRows; }

}  // namespace anynpu::aclnn
