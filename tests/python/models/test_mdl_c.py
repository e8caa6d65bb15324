# SPDX-License-Identifier: Apache-2.0
"""acl_mdl.h from C: gears, ranges, static and dynamic AIPP and memory of the program. A C program
prints what comes out; that is compared with numpy."""
import os
import subprocess

import numpy as np
from aipp_models import TO_RGB, dynamic, static
from aipp_reference import RGB888, YUV420SP, aipp
from model_datasets import convert
from shape_models import product

HEAD = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "acl/acl.h"

#define CHECK(call) do { aclError e = (call); \
  if (e != ACL_SUCCESS) { printf("%s: %d %s\n", #call, e, aclGetRecentErrMsg()); exit(1); } \
  } while (0)
#define EXPECT(condition) do { \
  if (!(condition)) { printf("line %d: %s\n", __LINE__, #condition); exit(1); } } while (0)

static uint32_t model;
static aclmdlDesc* desc;
static aclmdlDataset *input, *output;
static char *inputs[4], *outputs[2];

/* A buffer for each: of its own size, or of `room` where that is open. Bytes count up. */
static aclmdlDataset* make(size_t count, size_t (*size_of)(aclmdlDesc*, size_t), char** memory,
                           size_t room) {
  aclmdlDataset* set = aclmdlCreateDataset();
  for (size_t i = 0; i < count; ++i) {
    size_t size = size_of(desc, i);
    if (size == 0) size = room;
    CHECK(aclrtMalloc((void**)&memory[i], size, ACL_MEM_MALLOC_HUGE_FIRST));
    for (size_t k = 0; k < size; ++k) memory[i][k] = (char)(k * 7 + i);
    CHECK(aclmdlAddDatasetBuffer(set, aclCreateDataBuffer(memory[i], size)));
  }
  return set;
}

static void start(void) {
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
}

static void prepare(size_t room) {
  desc = aclmdlCreateDesc();
  CHECK(aclmdlGetDesc(desc, model));
  input = make(aclmdlGetNumInputs(desc), aclmdlGetInputSizeByIndex, inputs, room);
  output = make(aclmdlGetNumOutputs(desc), aclmdlGetOutputSizeByIndex, outputs, room);
}

static void print(const char* memory, size_t count) {
  for (size_t i = 0; i < count; ++i) printf("%.9g ", ((const float*)memory)[i]);
  printf("\n");
}

static int end(void) {
  CHECK(aclmdlDestroyDataset(input));
  CHECK(aclmdlDestroyDataset(output));
  CHECK(aclmdlDestroyDesc(desc));
  CHECK(aclmdlUnload(model));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
"""


def run(folder, text, *arguments):
    """The lines that a C program prints."""
    tree = os.environ["ANYNPU_BUILD_DIR"]
    source, program = folder / "program.c", str(folder / "program")
    source.write_text(HEAD + text)
    done = subprocess.run(
        ["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", str(source), "-o", program,
         f"-I{tree}/include", f"-L{tree}/lib", "-lascendcl", f"-Wl,-rpath,{tree}/lib"],
        capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def numbers(line):
    return np.array(line.split(), np.float32)


def fed(index, size):
    """What the program puts into an input."""
    return (np.arange(size) * 7 + index).astype(np.uint8)


FEED = r"""
/* The inputs of the product: 3 x 4 numbers from 0, and 4 from 1. */
static void feed(void) {
  for (int i = 0; i < 2; ++i) {
    float* values = (float*)inputs[i];
    for (int k = 0; k < (i ? 4 : 12); ++k) values[k] = (float)(k + i);
  }
}
"""


def check_sums(lines, rows_of_lines):
    a, b = np.arange(12, dtype=np.float32).reshape(3, 4), np.arange(4, dtype=np.float32) + 1
    for line, rows in zip(lines, rows_of_lines):
        np.testing.assert_array_equal(numbers(line), (a + b)[:rows].ravel())


GEARS = FEED + r"""
int main(int argc, char** argv) {
  EXPECT(argc == 2);
  start();
  size_t work = 0, weight = 0, index = 0, count = 0;
  CHECK(aclmdlQuerySize(argv[1], &work, &weight));
  void *work_memory, *weight_memory;
  CHECK(aclrtMalloc(&work_memory, work + 64, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMalloc(&weight_memory, weight + 64, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclmdlLoadFromFileWithMem(argv[1], &model, work_memory, work + 64, weight_memory,
                                  weight + 64));
  prepare(0);
  feed();
  CHECK(aclmdlGetInputIndexByName(desc, ACL_DYNAMIC_TENSOR_NAME, &index));
  EXPECT(index == 2);
  CHECK(aclmdlGetInputDynamicGearCount(desc, -1, &count));
  EXPECT(count == 2);
  aclmdlIODims gears[2], dims;
  CHECK(aclmdlGetInputDynamicDims(desc, -1, gears, count));
  EXPECT(gears[0].dimCount == 3 && gears[0].dims[0] == 1 && gears[1].dims[0] == 3);
  EXPECT(aclmdlGetInputDynamicDims(desc, -1, gears, 1) == ACL_ERROR_INVALID_PARAM);
  EXPECT(aclmdlSetDynamicBatchSize(model, input, index, 1) == ACL_ERROR_INVALID_PARAM);
  EXPECT(aclmdlSetDynamicHWSize(model, input, index, 1, 1) == ACL_ERROR_INVALID_PARAM);
  EXPECT(aclmdlSetInputDynamicDims(model, input, index, NULL) == ACL_ERROR_INVALID_PARAM);
  for (int gear = 0; gear < 2; ++gear) {
    CHECK(aclmdlSetInputDynamicDims(model, input, index, &gears[gear]));
    CHECK(aclmdlGetCurOutputDims(desc, 0, &dims));
    EXPECT(dims.dimCount == 2 && dims.dims[0] == gears[gear].dims[0] && dims.dims[1] == 4);
    CHECK(aclmdlExecute(model, input, output));
    print(outputs[0], (size_t)dims.dims[0] * 4);
  }
  gears[0].dims[0] = 2;
  EXPECT(aclmdlSetInputDynamicDims(model, input, index, &gears[0]) ==
         ACL_ERROR_GE_DYNAMIC_BATCH_SIZE_INVALID);
  return end();
}
"""


def test_gears_in_memory_of_the_program(tmp_path):
    path = convert(tmp_path, "gears", product(), "--input_shape=a:-1,4;b:4", "--input_format=ND",
                   "--dynamic_dims=1;3")
    check_sums(run(tmp_path, GEARS, path), (1, 3))


RANGES = FEED + r"""
int main(int argc, char** argv) {
  EXPECT(argc == 2);
  start();
  size_t work = 1, weight = 1;
  EXPECT(aclmdlQuerySize(argv[1], &work, &weight) == ACL_ERROR_GE_SHAPE_INVALID);
  CHECK(aclmdlLoadFromFile(argv[1], &model));
  prepare(4096);
  EXPECT(aclmdlGetInputSizeByIndex(desc, 0) == 0 && aclmdlGetOutputSizeByIndex(desc, 0) == 0);
  aclmdlIODimsRange range;
  CHECK(aclmdlGetInputDimsRange(desc, 0, &range));
  EXPECT(range.rangeCount == 2 && range.range[0][0] == 1 && range.range[0][1] == 3);
  feed();
  EXPECT(aclmdlGetDatasetTensorDesc(output, 0) == NULL);
  const int64_t rows[] = {3, 1, 4};
  for (int i = 0; i < 3; ++i) {
    const int64_t shape[] = {rows[i], 4};
    aclTensorDesc* tensor = aclCreateTensorDesc(ACL_FLOAT, 2, shape, ACL_FORMAT_ND);
    CHECK(aclmdlSetDatasetTensorDesc(input, tensor, 0));
    aclDestroyTensorDesc(tensor);
    if (rows[i] == 4) {
      EXPECT(aclmdlExecute(model, input, output) == ACL_ERROR_GE_SHAPE_INVALID);
      continue;
    }
    CHECK(aclmdlExecute(model, input, output));
    aclTensorDesc* found = aclmdlGetDatasetTensorDesc(output, 0);
    int64_t dim = 0;
    CHECK(aclGetTensorDescDimV2(found, 0, &dim));
    EXPECT(dim == rows[i] && aclGetTensorDescNumDims(found) == 2);
    EXPECT(aclGetTensorDescSize(found) == (size_t)rows[i] * 16);
    print(outputs[0], aclGetTensorDescSize(found) / 4);
  }
  return end();
}
"""


def test_shapes_at_run_time(tmp_path):
    path = convert(tmp_path, "range", product(), "--input_shape=a:1~3,4;b:4")
    check_sums(run(tmp_path, RANGES, path), (3, 1))


DYNAMIC = r"""
int main(int argc, char** argv) {
  EXPECT(argc == 2);
  start();
  CHECK(aclmdlLoadFromFile(argv[1], &model));
  prepare(0);
  size_t index = 0, attached = 0, bytes = 0;
  aclmdlInputAippType type;
  CHECK(aclmdlGetInputIndexByName(desc, ACL_DYNAMIC_AIPP_NAME, &index));
  CHECK(aclmdlGetAippDataSize(1, &bytes));
  EXPECT(index == 2 && aclmdlGetInputSizeByIndex(desc, index) == bytes);
  for (size_t i = 0; i < 4; ++i) {
    CHECK(aclmdlGetAippType(model, i, &type, &attached));
    EXPECT(type == (i < 2 ? ACL_DATA_WITH_DYNAMIC_AIPP : ACL_DYNAMIC_AIPP_NODE));
    EXPECT(attached == (i < 2 ? i + 2 : ACL_INVALID_NODE_INDEX));
  }
  EXPECT(aclmdlExecute(model, input, output) == ACL_ERROR_GE_AIPP_NOT_EXIST);
  aclmdlAIPP* set = aclmdlCreateAIPP(1);
  EXPECT(aclmdlSetInputAIPP(model, input, index, set) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlSetAIPPSrcImageSize(set, 16, 20));
  CHECK(aclmdlSetAIPPInputFormat(set, ACL_YUV420SP_U8));
  CHECK(aclmdlSetAIPPCscParams(set, 1, 256, 0, 359, 256, -88, -183, 256, 454, 0, 0, 0, 0, 0, 128,
                               128));
  CHECK(aclmdlSetAIPPRbuvSwapSwitch(set, 1));
  CHECK(aclmdlSetAIPPAxSwapSwitch(set, 0));
  CHECK(aclmdlSetAIPPCropParams(set, 1, 4, 2, 10, 14, 0));
  CHECK(aclmdlSetAIPPPaddingParams(set, 1, 2, 0, 1, 1, 0));
  CHECK(aclmdlSetAIPPDtcPixelMean(set, 1, 2, 3, 0, 0));
  CHECK(aclmdlSetAIPPDtcPixelMin(set, 0.5f, 0, 0.25f, 0, 0));
  CHECK(aclmdlSetAIPPPixelVarReci(set, 0.5f, 2, 1, 1, 0));
  EXPECT(aclmdlSetAIPPCropParams(set, 1, 4, 2, 10, 14, 1) == ACL_ERROR_INVALID_PARAM);
  CHECK(aclmdlSetInputAIPP(model, input, index, set));
  CHECK(aclmdlDestroyAIPP(set));
  set = aclmdlCreateAIPP(1);
  CHECK(aclmdlSetAIPPSrcImageSize(set, 24, 32));
  CHECK(aclmdlSetAIPPInputFormat(set, ACL_RGB888_U8));
  CHECK(aclmdlSetAIPPScfParams(set, 1, 24, 32, 12, 16, 0));
  CHECK(aclmdlSetAIPPByInputIndex(model, input, 1, set));
  EXPECT(aclmdlSetAIPPByInputIndex(model, input, 3, set) == ACL_ERROR_GE_AIPP_NOT_EXIST);
  CHECK(aclmdlDestroyAIPP(set));
  CHECK(aclmdlExecute(model, input, output));
  print(outputs[0], 3 * 16 * 12);
  print(outputs[1], 3 * 16 * 12);
  return end();
}
"""


def test_two_inputs_with_dynamic_aipp(tmp_path):
    path = dynamic(tmp_path, 24 * 32 * 3, inputs=2)
    first, second = (numbers(line).reshape(3, 16, 12) for line in run(tmp_path, DYNAMIC, path))
    want = aipp(fed(0, 16 * 20 * 3 // 2), YUV420SP, 16, 20, 3, crop=(4, 2, 10, 14),
                padding=(2, 0, 1, 1), swap=True, matrix=TO_RGB, input_bias=(0, 128, 128),
                mean=(1, 2, 3), low=(0.5, 0, 0.25), variance=(0.5, 2, 1))
    np.testing.assert_allclose(first, want, rtol=1e-6)
    fours = fed(1, 24 * 32 * 3).reshape(16, 2, 12, 2, 3).astype(np.float32).mean(axis=(1, 3))
    np.testing.assert_array_equal(second, np.floor(fours + 0.5).transpose(2, 0, 1))


STATIC = r"""
int main(int argc, char** argv) {
  EXPECT(argc == 2);
  start();
  CHECK(aclmdlLoadFromFile(argv[1], &model));
  prepare(0);
  aclmdlInputAippType type;
  size_t attached = 0;
  CHECK(aclmdlGetAippType(model, 0, &type, &attached));
  EXPECT(type == ACL_DATA_WITH_STATIC_AIPP && attached == ACL_INVALID_NODE_INDEX);
  aclAippInfo* info = malloc(sizeof *info);
  CHECK(aclmdlGetFirstAippInfo(model, 0, info));
  EXPECT(info->inputFormat == ACL_RGB888_U8 && info->srcImageSizeW == 20);
  EXPECT(info->srcImageSizeH == 18 && info->cropSwitch == 1 && info->loadStartPosW == 2);
  EXPECT(info->cropSizeW == 12 && info->cropSizeH == 16 && info->meanChn1 == 9);
  EXPECT(info->shapeCount == 1 && info->outDims[0].srcSize == 20 * 18 * 3);
  EXPECT(info->outDims[0].aippOutSize == 3 * 16 * 12 * 4 && info->srcDimNum == 4);
  EXPECT(aclmdlGetFirstAippInfo(model, 0, NULL) == ACL_ERROR_INVALID_PARAM);
  EXPECT(aclmdlGetFirstAippInfo(model, 1, info) == ACL_ERROR_INVALID_PARAM);
  free(info);
  aclrtStream stream;
  CHECK(aclrtCreateStream(&stream));
  CHECK(aclmdlExecuteAsync(model, input, output, stream));
  CHECK(aclrtSynchronizeStream(stream));
  CHECK(aclrtDestroyStream(stream));
  print(outputs[0], 3 * 16 * 12);
  return end();
}
"""


def test_static_aipp(tmp_path):
    path = static(tmp_path, "input_format: RGB888_U8 src_image_size_w: 20 src_image_size_h: 18 "
                  "crop: true load_start_pos_w: 2 crop_size_w: 12 crop_size_h: 16 mean_chn_1: 9")
    lines = run(tmp_path, STATIC, path)
    want = aipp(fed(0, 20 * 18 * 3), RGB888, 20, 18, 3, crop=(2, 0, 12, 16), mean=(0, 9, 0))
    np.testing.assert_array_equal(numbers(lines[0]).reshape(want.shape), want)
