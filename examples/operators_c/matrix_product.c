/* SPDX-License-Identifier: Apache-2.0 */
/* C = alpha A B + beta C: gcc matrix_product.c -lacl_cblas -lascendcl */
#include "acl/ops/acl_cblas.h"
#include "check.h"

int main(void) {
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 0, 1, 1, 1}, alpha = 2, beta = 1;
  float c[] = {100, 100, 100, 100};
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  void *on_a = to_device(a, sizeof a), *on_b = to_device(b, sizeof b),
       *on_c = to_device(c, sizeof c), *on_alpha = to_device(&alpha, sizeof alpha),
       *on_beta = to_device(&beta, sizeof beta);
  CHECK(aclblasGemmEx(ACL_TRANS_N, ACL_TRANS_N, ACL_TRANS_N, 2, 2, 3, on_alpha, on_a, -1, ACL_FLOAT,
                      on_b, -1, ACL_FLOAT, on_beta, on_c, -1, ACL_FLOAT, ACL_COMPUTE_HIGH_PRECISION,
                      NULL));
  CHECK(aclrtSynchronizeStream(NULL));
  to_host(c, on_c, sizeof c);
  printf("%g %g\n%g %g\n", c[0], c[1], c[2], c[3]);
  CHECK(aclrtFree(on_a));
  CHECK(aclrtFree(on_b));
  CHECK(aclrtFree(on_c));
  CHECK(aclrtFree(on_alpha));
  CHECK(aclrtFree(on_beta));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
