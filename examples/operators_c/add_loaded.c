/* SPDX-License-Identifier: Apache-2.0 */
/* An operator from a folder of models, by handle: gcc add_loaded.c -lacl_op_executor -lascendcl
 * The folder comes from: atc --singleop=add.json --output=op_models --soc_version=Ascend310P3 */
#include "acl/acl_op.h"
#include "check.h"

int main(int argc, char** argv) {
  const float a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40};
  float sum[4];
  const int64_t shape[] = {2, 2};
  aclopHandle* handle = NULL;
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  CHECK(aclopSetModelDir(argc > 1 ? argv[1] : "op_models"));
  void *on_a = to_device(a, sizeof a), *on_b = to_device(b, sizeof b),
       *on_sum = to_device(NULL, sizeof sum);
  aclTensorDesc* desc = aclCreateTensorDesc(ACL_FLOAT, 2, shape, ACL_FORMAT_ND);
  const aclTensorDesc* inputs[] = {desc, desc};
  const aclTensorDesc* outputs[] = {desc};
  aclopAttr* attr = aclopCreateAttr();
  CHECK(aclopCreateHandle("Add", 2, inputs, 1, outputs, attr, &handle));
  aclDataBuffer* buffer_a = aclCreateDataBuffer(on_a, sizeof a);
  aclDataBuffer* buffer_b = aclCreateDataBuffer(on_b, sizeof b);
  aclDataBuffer* buffer_sum = aclCreateDataBuffer(on_sum, sizeof sum);
  const aclDataBuffer* in[] = {buffer_a, buffer_b};
  aclDataBuffer* out[] = {buffer_sum};
  CHECK(aclopExecWithHandle(handle, 2, in, 1, out, NULL));
  CHECK(aclrtSynchronizeStream(NULL));
  to_host(sum, on_sum, sizeof sum);
  printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);
  CHECK(aclDestroyDataBuffer(buffer_a));
  CHECK(aclDestroyDataBuffer(buffer_b));
  CHECK(aclDestroyDataBuffer(buffer_sum));
  aclopDestroyHandle(handle);
  aclopDestroyAttr(attr);
  aclDestroyTensorDesc(desc);
  CHECK(aclrtFree(on_a));
  CHECK(aclrtFree(on_b));
  CHECK(aclrtFree(on_sum));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
