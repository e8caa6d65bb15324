# SPDX-License-Identifier: Apache-2.0
"""Both media interfaces from C: acl_dvpp.h and hi_dvpp.h, each with its own library."""
import os
import subprocess

import pytest

HEAD = r"""
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "acl/acl.h"
#include "acl/dvpp/hi_dvpp.h"
#include "acl/ops/acl_dvpp.h"
#define CHECK(call) do { int e = (int)(call); \
  if (e != 0) { printf("%s: %x %s\n", #call, (unsigned)e, aclGetRecentErrMsg()); return 1; } \
  } while (0)
enum { W = 64, H = 48, BYTES = W * H * 3 / 2 };
"""
FIRST = HEAD + r"""
static int frames, failed;
static void decoded(acldvppStreamDesc* in, acldvppPicDesc* out, void* user) {
  ++frames;
  failed += acldvppGetPicDescRetCode(out) != 1 || user != &frames;
  (void)in;
}
static volatile int running = 1;
static aclrtContext context;
static void* reports(void* unused) {
  aclrtSetCurrentContext(context);
  while (running) aclrtProcessReport(20);
  return unused;
}
static acldvppPicDesc* picture(void** memory, int width, int height) {
  acldvppPicDesc* desc = acldvppCreatePicDesc();
  if (acldvppMalloc(memory, BYTES) != 0 || (unsigned long)*memory % 128 != 0) return 0;
  acldvppSetPicDescData(desc, *memory);
  acldvppSetPicDescSize(desc, (uint32_t)(width * height * 3 / 2));
  acldvppSetPicDescFormat(desc, PIXEL_FORMAT_YUV_SEMIPLANAR_420);
  acldvppSetPicDescWidth(desc, (uint32_t)width);
  acldvppSetPicDescHeight(desc, (uint32_t)height);
  acldvppSetPicDescWidthStride(desc, (uint32_t)width);
  acldvppSetPicDescHeightStride(desc, (uint32_t)height);
  return desc;
}
int main(void) {
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtGetCurrentContext(&context));
  aclrtStream stream;
  CHECK(aclrtCreateStream(&stream));
  acldvppChannelDesc* channel = acldvppCreateChannelDesc();
  CHECK(acldvppCreateChannel(channel));
  void *a, *b;
  acldvppPicDesc *from = picture(&a, W, H), *to = picture(&b, W / 2, H / 2);
  unsigned char host[BYTES];
  for (int i = 0; i < BYTES; ++i) host[i] = (unsigned char)(i % W + i / W);
  CHECK(aclrtMemcpy(a, BYTES, host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
  acldvppResizeConfig* config = acldvppCreateResizeConfig();
  CHECK(acldvppSetResizeConfigInterpolation(config, 2));
  CHECK(acldvppVpcResizeAsync(channel, from, to, config, stream));
  CHECK(aclrtSynchronizeStream(stream));
  unsigned char half[BYTES];
  CHECK(aclrtMemcpy(half, BYTES, b, BYTES / 4, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int y = 0; y < H / 2; ++y)
    for (int x = 0; x < W / 2; ++x)
      if (half[y * W / 2 + x] != host[2 * y * W + 2 * x]) return 2;
  uint32_t matrix = ACL_DVPP_CSC_MATRIX_BT709_NARROW, read = 0;
  size_t length = 0;
  CHECK(acldvppSetChannelDescParam(channel, ACL_DVPP_CSC_MATRIX_UINT32, sizeof matrix, &matrix));
  CHECK(acldvppGetChannelDescParam(channel, ACL_DVPP_CSC_MATRIX_UINT32, sizeof read, &length,
                                   &read));
  if (read != matrix || length != sizeof read) return 3;
  if (acldvppSetChannelDescParam(channel, ACL_DVPP_CSC_MATRIX_UINT32, 8, &matrix) == 0) return 4;

  pthread_t thread;
  pthread_create(&thread, NULL, reports, NULL);
  aclvdecChannelDesc* vdec = aclvdecCreateChannelDesc();
  CHECK(aclvdecSetChannelDescThreadId(vdec, (uint64_t)thread));
  CHECK(aclvdecSetChannelDescCallback(vdec, decoded));
  if (aclvdecGetChannelDescCallback(vdec) != decoded) return 5;
  CHECK(aclvdecCreateChannel(vdec));
  acldvppStreamDesc* packet = acldvppCreateStreamDesc();
  CHECK(acldvppSetStreamDescData(packet, a));
  CHECK(acldvppSetStreamDescSize(packet, 500)); /* no video: it fails, and says so */
  CHECK(aclvdecSendFrame(vdec, packet, to, NULL, &frames));
  CHECK(aclvdecDestroyChannel(vdec));
  if (frames != 1 || failed) return 6;
  running = 0;
  pthread_join(thread, NULL);
  CHECK(aclvdecDestroyChannelDesc(vdec));
  CHECK(acldvppDestroyStreamDesc(packet));
  CHECK(acldvppDestroyResizeConfig(config));
  CHECK(acldvppDestroyPicDesc(from));
  CHECK(acldvppDestroyPicDesc(to));
  CHECK(acldvppFree(a));
  CHECK(acldvppFree(b));
  CHECK(acldvppDestroyChannel(channel));
  CHECK(acldvppDestroyChannelDesc(channel));
  CHECK(aclrtDestroyStream(stream));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
"""
SECOND = HEAD + r"""
int main(void) {
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  CHECK(hi_mpi_sys_init());
  hi_vpc_chn_attr attr = {0};
  CHECK(hi_mpi_vpc_create_chn(3, &attr));
  if ((hi_u32)hi_mpi_vpc_create_chn(3, &attr) != HI_ERR_VPC_EXIST) return 2;
  void *a, *b;
  CHECK(hi_mpi_dvpp_malloc(0, &a, BYTES));
  CHECK(hi_mpi_dvpp_malloc(0, &b, BYTES));
  unsigned char host[BYTES], half[BYTES];
  for (int i = 0; i < BYTES; ++i) host[i] = (unsigned char)(i % W + i / W);
  CHECK(aclrtMemcpy(a, BYTES, host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE));
  hi_vpc_pic_info from = {a, BYTES, W, H, W, H, HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420};
  hi_vpc_pic_info to = {b, BYTES / 4, W / 2, H / 2, W / 2, H / 2,
                        HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420};
  hi_u32 task = 0;
  CHECK(hi_mpi_vpc_resize(3, &from, &to, 0, 0, 1, &task, -1)); /* nearest */
  CHECK(hi_mpi_vpc_get_process_result(3, task, -1));
  CHECK(aclrtMemcpy(half, BYTES, b, BYTES / 4, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int y = 0; y < H / 2; ++y)
    for (int x = 0; x < W / 2; ++x)
      if (half[y * W / 2 + x] != host[2 * y * W + 2 * x]) return 3;
  CHECK(hi_mpi_vpc_destroy_chn(3));

  hi_venc_chn_attr venc = {0};
  venc.venc_attr.type = HI_PT_H264;
  venc.venc_attr.max_pic_width = venc.venc_attr.pic_width = W;
  venc.venc_attr.max_pic_height = venc.venc_attr.pic_height = H;
  venc.venc_attr.buf_size = 1 << 20;
  venc.venc_attr.is_by_frame = HI_TRUE;
  venc.rc_attr.rc_mode = HI_VENC_RC_MODE_H264_CBR;
  venc.rc_attr.h264_cbr.gop = 25;
  venc.rc_attr.h264_cbr.stats_time = 1;
  venc.rc_attr.h264_cbr.src_frame_rate = venc.rc_attr.h264_cbr.dst_frame_rate = 25;
  venc.rc_attr.h264_cbr.bit_rate = 1000;
  venc.gop_attr.gop_mode = HI_VENC_GOP_MODE_NORMAL_P;
  venc.gop_attr.normal_p.ip_qp_delta = 3;
  CHECK(hi_mpi_venc_create_chn(0, &venc));
  hi_venc_start_param start = {-1};
  CHECK(hi_mpi_venc_start_chn(0, &start));
  hi_video_frame_info frame = {0};
  frame.v_frame.width = W;
  frame.v_frame.height = H;
  frame.v_frame.pixel_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  frame.v_frame.width_stride[0] = W;
  frame.v_frame.virt_addr[0] = a;
  CHECK(hi_mpi_venc_send_frame(0, &frame, -1));
  hi_venc_pack pack;
  hi_venc_stream stream = {0};
  stream.pack = &pack;
  stream.pack_cnt = 1;
  CHECK(hi_mpi_venc_get_stream(0, &stream, -1));
  if (pack.len < 50 || memcmp(pack.addr, "\0\0\0\1\x67", 4) != 0) return 4;
  CHECK(hi_mpi_venc_release_stream(0, &stream));
  CHECK(hi_mpi_venc_destroy_chn(0));
  CHECK(hi_mpi_dvpp_free(a));
  CHECK(hi_mpi_dvpp_free(b));
  CHECK(hi_mpi_sys_exit());
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
"""


HABITS = HEAD + r"""
#include <pthread.h>
static volatile int running = 1, encoded, decoded, failed;
static aclrtContext context;
static FILE* file;
static long sizes[8];
static void* reports(void* unused) {
  aclrtSetCurrentContext(context);
  while (running) aclrtProcessReport(20);
  return unused;
}
static void take_packet(acldvppPicDesc* in, acldvppStreamDesc* out, void* user) {
  uint32_t size = acldvppGetStreamDescSize(out);
  if (fwrite(acldvppGetStreamDescData(out), 1, size, file) != size) ++failed;
  sizes[encoded++] = size;
  (void)in, (void)user;
}
static void take_picture(acldvppStreamDesc* in, acldvppPicDesc* out, void* user) {
  ++decoded;
  failed += acldvppGetPicDescRetCode(out) != 0;
  (void)in, (void)user;
}
int main(void) {
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtGetCurrentContext(&context));
  pthread_t thread;
  pthread_create(&thread, NULL, reports, NULL);
  file = fopen("out.h264", "wb");
  aclvencChannelDesc* venc = aclvencCreateChannelDesc();
  CHECK(aclvencSetChannelDescThreadId(venc, (uint64_t)thread));
  CHECK(aclvencSetChannelDescCallback(venc, take_packet));
  CHECK(aclvencSetChannelDescEnType(venc, H264_MAIN_LEVEL));
  CHECK(aclvencSetChannelDescPicFormat(venc, PIXEL_FORMAT_YUV_SEMIPLANAR_420));
  CHECK(aclvencSetChannelDescPicWidth(venc, W));
  CHECK(aclvencSetChannelDescPicHeight(venc, H));
  CHECK(aclvencSetChannelDescKeyFrameInterval(venc, 4));
  CHECK(aclvencCreateChannel(venc));
  aclvencFrameConfig* config = aclvencCreateFrameConfig();
  void *picture, *input, *output;
  CHECK(acldvppMalloc(&picture, BYTES));
  acldvppPicDesc* from = acldvppCreatePicDesc();
  acldvppSetPicDescData(from, picture);
  acldvppSetPicDescSize(from, BYTES);
  for (int i = 0; i < 6; ++i) {
    CHECK(aclrtMemset(picture, BYTES, 60 + 10 * i, BYTES));
    CHECK(aclvencSendFrame(venc, from, NULL, config, NULL));
    while (encoded == i) aclrtSynchronizeDevice();
  }
  CHECK(aclvencSetFrameConfigEos(config, 1));
  CHECK(aclvencSendFrame(venc, NULL, NULL, config, NULL));
  fclose(file); /* right after the end, as a sample does it */
  if (encoded != 6 || failed) return 2;

  aclvdecChannelDesc* vdec = aclvdecCreateChannelDesc();
  CHECK(aclvdecSetChannelDescThreadId(vdec, (uint64_t)thread));
  CHECK(aclvdecSetChannelDescCallback(vdec, take_picture));
  CHECK(aclvdecSetChannelDescEnType(vdec, H264_MAIN_LEVEL));
  CHECK(aclvdecCreateChannel(vdec));
  CHECK(acldvppMalloc(&input, 1 << 16)); /* one buffer for all packets */
  CHECK(acldvppMalloc(&output, BYTES));
  file = fopen("out.h264", "rb");
  static char bytes[1 << 16];
  acldvppStreamDesc* packet = acldvppCreateStreamDesc();
  CHECK(acldvppSetStreamDescData(packet, input));
  for (int i = 0; i < 6; ++i) {
    if (fread(bytes, 1, (size_t)sizes[i], file) != (size_t)sizes[i]) return 3;
    CHECK(aclrtMemcpy(input, 1 << 16, bytes, (size_t)sizes[i], ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(acldvppSetStreamDescSize(packet, (uint32_t)sizes[i]));
    acldvppPicDesc* to = acldvppCreatePicDesc();
    acldvppSetPicDescData(to, output);
    acldvppSetPicDescSize(to, BYTES);
    acldvppSetPicDescFormat(to, PIXEL_FORMAT_YUV_SEMIPLANAR_420);
    CHECK(aclvdecSendFrame(vdec, packet, to, NULL, NULL));
    CHECK(aclrtMemset(input, 1 << 16, 0, 1 << 16));
  }
  CHECK(acldvppSetStreamDescSize(packet, 0));
  CHECK(acldvppSetStreamDescEos(packet, 1));
  CHECK(aclvdecSendFrame(vdec, packet, NULL, NULL, NULL));
  if (decoded != 6 || failed) return 4;
  CHECK(aclvdecDestroyChannel(vdec));
  CHECK(aclvencDestroyChannel(venc));
  if (decoded != 6) return 5;

  aclrtStream stream;
  CHECK(aclrtCreateStream(&stream));
  acldvppChannelDesc* channel = acldvppCreateChannelDesc();
  CHECK(acldvppCreateChannel(channel));
  acldvppJpegeConfig* level = acldvppCreateJpegeConfig();
  acldvppSetPicDescFormat(from, PIXEL_FORMAT_YUV_SEMIPLANAR_420);
  acldvppSetPicDescWidth(from, W);
  acldvppSetPicDescHeight(from, H - 1); /* a picture of 47 rows */
  acldvppSetPicDescWidthStride(from, W);
  acldvppSetPicDescHeightStride(from, H);
  uint32_t size = 1 << 16;
  CHECK(acldvppJpegEncodeAsync(channel, from, input, &size, level, stream));
  CHECK(aclrtSynchronizeStream(stream));
  acldvppPicDesc* even = acldvppCreatePicDesc();
  acldvppSetPicDescData(even, output);
  acldvppSetPicDescSize(even, BYTES);
  acldvppSetPicDescFormat(even, PIXEL_FORMAT_YUV_SEMIPLANAR_420);
  acldvppSetPicDescWidth(even, W);
  acldvppSetPicDescHeight(even, H); /* 48, as programs round it */
  acldvppSetPicDescWidthStride(even, W);
  acldvppSetPicDescHeightStride(even, H);
  CHECK(acldvppJpegDecodeAsync(channel, input, size, even, stream));
  CHECK(aclrtSynchronizeStream(stream));
  unsigned char rows[2 * W];
  CHECK(aclrtMemcpy(rows, sizeof rows, (char*)output + W * (H - 2), sizeof rows,
                    ACL_MEMCPY_DEVICE_TO_HOST));
  if (memcmp(rows, rows + W, W) != 0) return 6;
  running = 0;
  pthread_join(thread, NULL);
  return aclFinalize();
}
"""
PROGRAMS = {"first": ("acl_dvpp", FIRST), "second": ("acl_dvpp_mpi", SECOND),
            "habits of programs": ("acl_dvpp", HABITS)}


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_a_c_program_uses_the_interface(name, tmp_path):
    library, text = PROGRAMS[name]
    build = os.environ["ANYNPU_BUILD_DIR"]
    (tmp_path / "app.c").write_text(text)
    subprocess.run(
        ["gcc", "-std=gnu99", "-Wall", "-Werror", "app.c", "-o", "app", f"-I{build}/include",
         f"-L{build}/lib", f"-l{library}", "-lascendcl", "-lpthread", f"-Wl,-rpath,{build}/lib"],
        cwd=tmp_path, check=True, timeout=300)
    done = subprocess.run(["./app"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.returncode, done.stdout + done.stderr)
