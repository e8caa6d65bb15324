/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel of one's own on eight cores: gcc launch_kernel.c -lascendcl
 * Its object comes from scale_kernel.cc, see README.md. */
#include "check.h"

struct Tiling {
  int count;
  float factor;
};

int main(int argc, char** argv) {
  float in[100], out[100];
  for (int i = 0; i < 100; ++i) in[i] = (float)i;
  aclrtBinHandle binary = NULL;
  aclrtFuncHandle scale = NULL;
  aclrtArgsHandle args = NULL;
  aclrtParamHandle param = NULL;
  void* tiling = NULL;
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtBinaryLoadFromFile(argc > 1 ? argv[1] : "scale_kernel-fat.o", NULL, &binary));
  CHECK(aclrtBinaryGetFunction(binary, "scale", &scale));
  void *on_in = to_device(in, sizeof in), *on_out = to_device(NULL, sizeof out);
  CHECK(aclrtKernelArgsInit(scale, &args));
  CHECK(aclrtKernelArgsAppend(args, &on_in, sizeof on_in, &param));
  CHECK(aclrtKernelArgsAppend(args, &on_out, sizeof on_out, &param));
  CHECK(aclrtKernelArgsAppendPlaceHolder(args, &param));
  CHECK(aclrtKernelArgsGetPlaceHolderBuffer(args, param, sizeof(struct Tiling), &tiling));
  *(struct Tiling*)tiling = (struct Tiling){100, 0.5f};
  CHECK(aclrtKernelArgsFinalize(args));
  CHECK(aclrtLaunchKernelWithConfig(scale, 8, NULL, NULL, args, NULL));
  CHECK(aclrtSynchronizeStream(NULL));
  to_host(out, on_out, sizeof out);
  printf("%g %g %g\n", out[1], out[50], out[99]);
  CHECK(aclrtBinaryUnLoad(binary));
  CHECK(aclrtFree(on_in));
  CHECK(aclrtFree(on_out));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
