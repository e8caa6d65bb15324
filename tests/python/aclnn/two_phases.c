/* SPDX-License-Identifier: Apache-2.0
   A plain aclnn program, written from the headers: two phases, views, in-place, empty tensors, wrong
   arguments, executors that are run again. Prints the first check that fails. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_copy.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_mul.h"
#include "aclnnop/aclnn_reduce_sum.h"

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      printf("line %d: %s\n%s\n", __LINE__, #condition, aclGetRecentErrMsg());      \
      return 1;                                                                     \
    }                                                                               \
  } while (0)

static aclrtStream stream;

static void* device_copy(const void* data, size_t bytes) {
  void* memory = NULL;
  if (aclrtMalloc(&memory, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return NULL;
  if (data) aclrtMemcpy(memory, bytes, data, bytes, ACL_MEMCPY_HOST_TO_DEVICE);
  return memory;
}

static aclTensor* floats(const int64_t* dims, uint64_t count, const int64_t* strides, int64_t offset,
                         int64_t stored, void* memory) {
  return aclCreateTensor(dims, count, ACL_FLOAT, strides, offset, ACL_FORMAT_ND, &stored, 1, memory);
}

static int wait_and_read(void* memory, float* to, size_t count) {
  if (aclrtSynchronizeStream(stream) != ACL_SUCCESS) return 1;
  return aclrtMemcpy(to, count * sizeof(float), memory, count * sizeof(float),
                     ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS;
}

static void* workspace_of(uint64_t bytes) { return bytes ? device_copy(NULL, bytes) : NULL; }

static int add_with_views(void) {
  const float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {10, 20, 30, 40, 50, 60};
  const int64_t shape[2] = {2, 3}, turned[2] = {1, 2};
  void *da = device_copy(a, sizeof a), *db = device_copy(b, sizeof b), *dc = device_copy(a, sizeof a);
  aclTensor* self = floats(shape, 2, NULL, 0, 6, da);
  aclTensor* other = floats(shape, 2, turned, 0, 6, db); /* 3 x 2, transposed */
  aclTensor* out = floats(shape, 2, NULL, 0, 6, dc);
  float one = 2;
  aclScalar* alpha = aclCreateScalar(&one, ACL_FLOAT);
  CHECK(self && other && out && alpha);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnAddGetWorkspaceSize(self, other, alpha, out, &size, &executor) == ACLNN_SUCCESS);
  void* workspace = workspace_of(size);
  CHECK(aclnnAdd(workspace, size, executor, stream) == ACLNN_SUCCESS);
  /* Descriptors may go before the work is done. */
  CHECK(aclDestroyTensor(self) == ACLNN_SUCCESS && aclDestroyTensor(other) == ACLNN_SUCCESS);
  CHECK(aclDestroyTensor(out) == ACLNN_SUCCESS && aclDestroyScalar(alpha) == ACLNN_SUCCESS);
  float c[6];
  CHECK(wait_and_read(dc, c, 6) == 0);
  const float expected[6] = {21, 62, 103, 44, 85, 126};
  CHECK(memcmp(c, expected, sizeof c) == 0);
  return 0;
}

static int copy_into_a_slice(void) {
  /* The second column of a 3 x 4 matrix becomes a vector of int32, cast. */
  float m[12];
  for (int i = 0; i < 12; ++i) m[i] = (float)i;
  const int32_t v[3] = {-1, -2, -3};
  const int64_t three = 3, step = 4, stored_m = 12;
  void *dm = device_copy(m, sizeof m), *dv = device_copy(v, sizeof v);
  aclTensor* column = floats(&three, 1, &step, 1, stored_m, dm);
  aclTensor* vector = aclCreateTensor(&three, 1, ACL_INT32, NULL, 0, ACL_FORMAT_ND, &three, 1, dv);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnInplaceCopyGetWorkspaceSize(column, vector, &size, &executor) == ACLNN_SUCCESS);
  CHECK(aclnnInplaceCopy(workspace_of(size), size, executor, stream) == ACLNN_SUCCESS);
  float got[12];
  CHECK(wait_and_read(dm, got, 12) == 0);
  for (int i = 0; i < 12; ++i) CHECK(got[i] == (i % 4 == 1 ? (float)v[i / 4] : m[i]));
  aclDestroyTensor(column);
  aclDestroyTensor(vector);
  return 0;
}

static int product_of_views(void) {
  const float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 2, 1, 0, 3};
  const int64_t sa[2] = {2, 3}, sb[2] = {3, 2}, tb[2] = {1, 3}, so[2] = {2, 2};
  void *da = device_copy(a, sizeof a), *db = device_copy(b, sizeof b), *dc = device_copy(NULL, 16);
  aclTensor* x = floats(sa, 2, NULL, 0, 6, da);
  aclTensor* w = floats(sb, 2, tb, 0, 6, db); /* stored 2 x 3 */
  aclTensor* y = floats(so, 2, NULL, 0, 4, dc);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnMatmulGetWorkspaceSize(x, w, y, 0, &size, &executor) == ACLNN_SUCCESS);
  CHECK(aclnnMatmul(workspace_of(size), size, executor, stream) == ACLNN_SUCCESS);
  float c[4];
  CHECK(wait_and_read(dc, c, 4) == 0);
  CHECK(c[0] == 7 && c[1] == 10 && c[2] == 16 && c[3] == 22);
  aclDestroyTensor(x);
  aclDestroyTensor(w);
  aclDestroyTensor(y);
  return 0;
}

static int in_place_and_again(void) {
  const float a[4] = {1, 2, 3, 4};
  const int64_t four = 4;
  void *first = device_copy(a, sizeof a), *second = device_copy(a, sizeof a);
  aclTensor* self = floats(&four, 1, NULL, 0, 4, first);
  double two = 2;
  aclScalar* factor = aclCreateScalar(&two, ACL_DOUBLE);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnInplaceMulsGetWorkspaceSize(self, factor, &size, &executor) == ACLNN_SUCCESS);
  CHECK(aclSetAclOpExecutorRepeatable(executor) == ACLNN_SUCCESS);
  void* workspace = workspace_of(size);
  CHECK(aclnnInplaceMuls(workspace, size, executor, stream) == ACLNN_SUCCESS);
  CHECK(aclnnInplaceMuls(workspace, size, executor, stream) == ACLNN_SUCCESS);
  CHECK(aclSetTensorAddr(executor, 0, self, second) == ACLNN_SUCCESS);
  CHECK(aclnnInplaceMuls(workspace, size, executor, stream) == ACLNN_SUCCESS);
  CHECK(aclDestroyAclOpExecutor(executor) == ACLNN_SUCCESS);
  float got[4];
  CHECK(wait_and_read(first, got, 4) == 0 && got[0] == 4 && got[3] == 16);
  CHECK(wait_and_read(second, got, 4) == 0 && got[0] == 2 && got[3] == 8);
  CHECK(aclnnInplaceMuls(workspace, size, executor, stream) == ACLNN_ERR_PARAM_NULLPTR);
  aclDestroyTensor(self);
  aclDestroyScalar(factor);
  return 0;
}

static int nothing_to_do(void) {
  const int64_t empty[2] = {0, 3}, none = 0, three = 3, axis = 0;
  void* sum_memory = device_copy(NULL, 12);
  aclTensor* x = floats(empty, 2, NULL, 0, none, NULL);
  aclTensor* y = floats(empty, 2, NULL, 0, none, NULL);
  float one = 1;
  aclScalar* alpha = aclCreateScalar(&one, ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnAddGetWorkspaceSize(x, x, alpha, y, &size, &executor) == ACLNN_SUCCESS);
  CHECK(aclnnAdd(workspace_of(size), size, executor, stream) == ACLNN_SUCCESS);
  /* The sum of no rows is 0. */
  aclTensor* sum = floats(&three, 1, NULL, 0, three, sum_memory);
  aclIntArray* dims = aclCreateIntArray(&axis, 1);
  CHECK(aclnnReduceSumGetWorkspaceSize(x, dims, false, ACL_FLOAT, sum, &size, &executor) == 0);
  CHECK(aclnnReduceSum(workspace_of(size), size, executor, stream) == ACLNN_SUCCESS);
  float got[3] = {1, 1, 1};
  CHECK(wait_and_read(sum_memory, got, 3) == 0);
  CHECK(got[0] == 0 && got[1] == 0 && got[2] == 0);
  aclDestroyTensor(x);
  aclDestroyTensor(y);
  aclDestroyTensor(sum);
  aclDestroyIntArray(dims);
  aclDestroyScalar(alpha);
  return 0;
}

static int wrong_arguments(void) {
  const int64_t two = 2, three = 3;
  void* memory = device_copy(NULL, 64);
  aclTensor* a = floats(&two, 1, NULL, 0, 2, memory);
  aclTensor* b = floats(&three, 1, NULL, 0, 3, memory);
  aclTensor* text = aclCreateTensor(&two, 1, ACL_INT4, NULL, 0, ACL_FORMAT_ND, &two, 1, memory);
  float one = 1;
  aclScalar* alpha = aclCreateScalar(&one, ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor* executor = NULL;
  CHECK(aclnnAddGetWorkspaceSize(NULL, a, alpha, a, &size, &executor) == ACLNN_ERR_PARAM_NULLPTR);
  CHECK(strstr(aclGetRecentErrMsg(), "self"));
  CHECK(aclnnAddGetWorkspaceSize(a, a, alpha, NULL, &size, &executor) == ACLNN_ERR_PARAM_NULLPTR);
  CHECK(aclnnAddGetWorkspaceSize(a, b, alpha, a, &size, &executor) == ACLNN_ERR_PARAM_INVALID);
  CHECK(aclnnAddGetWorkspaceSize(a, a, alpha, b, &size, &executor) == ACLNN_ERR_PARAM_INVALID);
  CHECK(strstr(aclGetRecentErrMsg(), "out"));
  CHECK(aclnnAddGetWorkspaceSize(text, text, alpha, text, &size, &executor) ==
        ACLNN_ERR_PARAM_INVALID);
  CHECK(aclnnAddGetWorkspaceSize(a, a, alpha, a, NULL, &executor) != ACLNN_SUCCESS);
  CHECK(aclnnAddGetWorkspaceSize((aclTensor*)&two, a, alpha, a, &size, &executor) ==
        ACLNN_ERR_PARAM_NULLPTR);
  CHECK(aclnnAdd(NULL, 0, NULL, stream) == ACLNN_ERR_PARAM_NULLPTR);
  /* An executor of another operator. */
  CHECK(aclnnAddGetWorkspaceSize(a, a, alpha, a, &size, &executor) == ACLNN_SUCCESS);
  CHECK(aclnnMul(NULL, 0, executor, stream) == ACLNN_ERR_PARAM_INVALID);
  CHECK(aclDestroyAclOpExecutor(executor) == ACLNN_SUCCESS);
  /* A view that leaves its storage, more axes than there can be. */
  CHECK(floats(&three, 1, NULL, 2, 3, memory) == NULL);
  int64_t many[64] = {0};
  CHECK(floats(many, 64, NULL, 0, 1, memory) == NULL);
  /* Memory that is not there. */
  aclTensor* nowhere = floats(&two, 1, NULL, 0, 2, (void*)16);
  CHECK(nowhere);
  CHECK(aclnnAddGetWorkspaceSize(a, nowhere, alpha, a, &size, &executor) == ACLNN_ERR_PARAM_INVALID);
  CHECK(aclDestroyTensor(NULL) == ACLNN_SUCCESS && aclDestroyTensor(nowhere) == ACLNN_SUCCESS);
  CHECK(aclDestroyTensor(nowhere) == ACLNN_ERR_PARAM_NULLPTR);
  aclDestroyTensor(a);
  aclDestroyTensor(b);
  aclDestroyTensor(text);
  aclDestroyScalar(alpha);
  return 0;
}

static int what_objects_say(void) {
  const int64_t shape[2] = {2, 3}, strides[2] = {1, 2};
  float memory[6];
  aclTensor* view = floats(shape, 2, strides, 0, 6, memory);
  int64_t *dims = NULL, offset = -1;
  uint64_t count = 0;
  CHECK(aclGetViewShape(view, &dims, &count) == 0 && count == 2 && dims[0] == 2 && dims[1] == 3);
  CHECK(aclGetViewStrides(view, &dims, &count) == 0 && count == 2 && dims[0] == 1 && dims[1] == 2);
  CHECK(aclGetStorageShape(view, &dims, &count) == 0 && count == 1 && dims[0] == 6);
  CHECK(aclGetViewOffset(view, &offset) == 0 && offset == 0);
  aclDataType type = ACL_INT8;
  aclFormat format = ACL_FORMAT_NCHW;
  CHECK(aclGetDataType(view, &type) == 0 && type == ACL_FLOAT);
  CHECK(aclGetFormat(view, &format) == 0 && format == ACL_FORMAT_ND);
  void* address = NULL;
  CHECK(aclGetRawTensorAddr(view, &address) == 0 && address == memory);
  const aclTensor* both[2] = {view, NULL};
  aclTensorList* list = aclCreateTensorList(both, 2);
  CHECK(list && aclGetTensorListSize(list, &count) == 0 && count == 2);
  CHECK(aclDestroyTensorList(list) == ACLNN_SUCCESS);
  CHECK(aclDestroyTensor(view) == ACLNN_ERR_PARAM_NULLPTR); /* gone with its list */
  return 0;
}

int main(void) {
  CHECK(aclInit(NULL) == ACL_SUCCESS);
  CHECK(aclrtSetDevice(0) == ACL_SUCCESS);
  CHECK(aclrtCreateStream(&stream) == ACL_SUCCESS);
  int failed = add_with_views() || copy_into_a_slice() || product_of_views() ||
               in_place_and_again() || nothing_to_do() || wrong_arguments() || what_objects_say();
  CHECK(aclrtDestroyStream(stream) == ACL_SUCCESS);
  CHECK(aclrtResetDevice(0) == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS);
  puts(failed ? "failed" : "all right");
  return failed;
}
