/* SPDX-License-Identifier: Apache-2.0 */
/* An operator compiled in the program: gcc add_compiled.c -lacl_op_compiler -lascendcl */
#include "acl/acl_op_compiler.h"
#include "check.h"

int main(void) {
  const float a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40};
  float sum[4];
  const int64_t shape[] = {2, 2};
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  void *on_a = to_device(a, sizeof a), *on_b = to_device(b, sizeof b),
       *on_sum = to_device(NULL, sizeof sum);
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT, 2, shape, ACL_FORMAT_ND);
  const aclTensorDesc* inputs[] = {desc, desc};
  const aclTensorDesc* outputs[] = {desc};
  aclDataBuffer* buffer_a = aclCreateDataBuffer(on_a, sizeof a);
  aclDataBuffer* buffer_b = aclCreateDataBuffer(on_b, sizeof b);
  aclDataBuffer* buffer_sum = aclCreateDataBuffer(on_sum, sizeof sum);
  const aclDataBuffer* in[] = {buffer_a, buffer_b};
  aclDataBuffer* out[] = {buffer_sum};
  CHECK(aclopCompileAndExecute("Add", 2, inputs, in, 1, outputs, out, NULL, ACL_ENGINE_SYS,
                               ACL_COMPILE_SYS, NULL, NULL));
  CHECK(aclrtSynchronizeStream(NULL));
  to_host(sum, on_sum, sizeof sum);
  printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);
  CHECK(aclDestroyDataBuffer(buffer_a));
  CHECK(aclDestroyDataBuffer(buffer_b));
  CHECK(aclDestroyDataBuffer(buffer_sum));
  aclDestroyTensorDesc(desc);
  CHECK(aclrtFree(on_a));
  CHECK(aclrtFree(on_b));
  CHECK(aclrtFree(on_sum));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
