# SPDX-License-Identifier: Apache-2.0
"""acl/dvpp from C: pools of blocks, regions, bound channels, round views, sizes that programs
choose. Built as the samples are: with the folders acl and acl/dvpp alone."""
import os
import subprocess

import pytest
from build_tree import BUILD

HEAD = r"""
#include <stdio.h>
#include <string.h>
#include "acl.h"
#include "hi_dvpp.h"
#define CHECK(call) do { int e = (int)(call); if (e != 0) { const char* m = aclGetRecentErrMsg(); \
  printf("%s: %x %s\n", #call, (unsigned)e, m ? m : ""); return 1; } } while (0)
#define EXPECT(what) \
  do { if (!(what)) { printf("%d: %s\n", __LINE__, #what); return 2; } } while (0)
enum { W = 64, H = 48, BYTES = W * H * 3 };
static int start(void) {
  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  CHECK(hi_mpi_sys_full_init());
  return 0;
}
static int end(void) {
  CHECK(hi_mpi_sys_exit());
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
static hi_vpc_pic_info picture(int value) {
  hi_vpc_pic_info info = {0, BYTES, W, H, W * 3, H, HI_PIXEL_FORMAT_RGB_888};
  hi_mpi_dvpp_malloc(0, &info.picture_address, BYTES);
  aclrtMemset(info.picture_address, BYTES, value, BYTES);
  return info;
}
static unsigned char at(const hi_vpc_pic_info* info, int x, int y) {
  unsigned char value = 0;
  aclrtMemcpy(&value, 1, (char*)info->picture_address + (y * W + x) * 3, 1,
              ACL_MEMCPY_DEVICE_TO_HOST);
  return value;
}
"""
POOLS = HEAD + r"""
int main(void) {
  if (start()) return 1;
  hi_vb_pool_config config = {1000, 2, VB_REMAP_MODE_NONE, ""};
  hi_vb_pool pool = hi_mpi_vb_create_pool(&config);
  EXPECT(pool != (hi_vb_pool)HI_VB_INVALID_POOLID);
  hi_vb_blk a = hi_mpi_vb_get_block(pool, 1000, NULL), b = hi_mpi_vb_get_block(pool, 10, NULL);
  EXPECT(a != (hi_vb_blk)HI_VB_INVALID_HANDLE && b != a);
  EXPECT(hi_mpi_vb_get_block(pool, 10, NULL) == (hi_vb_blk)HI_VB_INVALID_HANDLE);
  EXPECT(strstr(aclGetRecentErrMsg(), "in use") != NULL);
  char* memory = hi_mpi_vb_handle_to_addr(a);
  EXPECT(memory != NULL && memory != hi_mpi_vb_handle_to_addr(b));
  CHECK(aclrtMemset(memory, 1000, 7, 1000));
  CHECK(hi_mpi_vb_block_copyref(a));
  CHECK(hi_mpi_vb_release_block(a));
  EXPECT((hi_u32)hi_mpi_vb_destroy_pool(pool) == 0xA0018009u);
  CHECK(hi_mpi_vb_release_block(a));
  CHECK(hi_mpi_vb_release_block(b));
  EXPECT((hi_u32)hi_mpi_vb_release_block(b) == 0xA0018005u);
  CHECK(hi_mpi_vb_destroy_pool(pool));
  EXPECT(hi_mpi_vb_create_pool(NULL) == (hi_vb_pool)HI_VB_INVALID_POOLID);
  return end();
}
"""
REGIONS = HEAD + r"""
static int resize(const hi_vpc_pic_info* from, hi_vpc_pic_info* to) {
  hi_u32 task = 0;
  CHECK(hi_mpi_vpc_resize(2, from, to, 0, 0, 0, &task, -1));
  CHECK(hi_mpi_vpc_get_process_result(2, task, -1));
  return 0;
}
int main(void) {
  if (start()) return 1;
  hi_vpc_chn_attr channel = {0};
  CHECK(hi_mpi_vpc_create_chn(2, &channel));
  hi_vpc_pic_info from = picture(50), to = picture(0);
  hi_rgn_attr attr = {0};
  attr.type = HI_RGN_OVERLAYEX;
  attr.attr.overlayex.pixel_format = HI_PIXEL_FORMAT_ARGB_8888;
  attr.attr.overlayex.size.width = attr.attr.overlayex.size.height = 16;
  attr.attr.overlayex.canvas_num = 2;
  CHECK(hi_mpi_rgn_create(9, &attr));
  EXPECT((hi_u32)hi_mpi_rgn_create(9, &attr) == HI_ERR_RGN_EXIST);
  hi_mpp_chn name = {HI_ID_VPC, 0, 2};
  hi_rgn_chn_attr shown = {HI_TRUE, HI_RGN_OVERLAYEX, {{{0}}}}, got;
  memset(&shown.attr, 0, sizeof shown.attr);
  shown.attr.overlayex_chn.point.x = 8;
  shown.attr.overlayex_chn.point.y = 4;
  shown.attr.overlayex_chn.fg_alpha = 128;
  CHECK(hi_mpi_rgn_attach_to_chn(9, &name, &shown));
  hi_rgn_canvas_info canvas;
  CHECK(hi_mpi_rgn_get_canvas_info(9, &canvas));
  EXPECT(canvas.size.width == 16 && canvas.stride >= 64);
  CHECK(aclrtMemset(canvas.virt_addr, canvas.stride * 16, 0xff, canvas.stride * 16));
  CHECK(hi_mpi_rgn_update_canvas(9));
  if (resize(&from, &to)) return 1;
  EXPECT(at(&to, 7, 4) == 50 && at(&to, 8, 4) == 255 && at(&to, 23, 19) == 255);
  CHECK(hi_mpi_rgn_get_display_attr(9, &name, &got));
  EXPECT(memcmp(&got, &shown, sizeof got) == 0);
  shown.attr.overlayex_chn.fg_alpha = 0;
  CHECK(hi_mpi_rgn_set_display_attr(9, &name, &shown));
  if (resize(&from, &to)) return 1;
  EXPECT(at(&to, 8, 4) == 50);
  CHECK(hi_mpi_rgn_detach_from_chn(9, &name));
  CHECK(hi_mpi_rgn_destroy(9));
  EXPECT((hi_u32)hi_mpi_rgn_destroy(9) == HI_ERR_RGN_UNEXIST);

  attr.type = HI_RGN_COVER;
  CHECK(hi_mpi_rgn_create(0, &attr));
  hi_rgn_chn_attr cover;
  memset(&cover, 0, sizeof cover);
  cover.is_show = HI_TRUE;
  cover.type = HI_RGN_COVER;
  cover.attr.cover_chn.cover.rect.width = cover.attr.cover_chn.cover.rect.height = 4;
  cover.attr.cover_chn.cover.color = 0x090909;
  CHECK(hi_mpi_rgn_attach_to_chn(0, &name, &cover));
  if (resize(&from, &to)) return 1;
  EXPECT(at(&to, 3, 3) == 9 && at(&to, 4, 4) == 50);
  CHECK(hi_mpi_vpc_destroy_chn(2));
  CHECK(hi_mpi_rgn_destroy(0));
  return end();
}
"""
STITCHING = HEAD + r"""
static hi_s32 brighter(void* user, void* histograms, hi_u32 pictures, void* tables, hi_u32 count) {
  hi_stitching_histogram_param* h = histograms;
  hi_vpc_lut_remap* t = tables;
  if (pictures != 2 || count != 2 || h[1].histogram_info.histogram_y_or_r[80] != W * H) return 1;
  t[1].map_value_y_or_r[80] = 200;
  *(int*)user = 1;
  return 0;
}
int main(void) {
  static hi_stiching_ipm_table table[W * H];
  if (start()) return 1;
  hi_vpc_chn_attr channel = {0};
  CHECK(hi_mpi_vpc_create_chn(0, &channel));
  for (int i = 0; i < W * H; ++i) {
    hi_stiching_ipm_table entry = {0, 1, i % W < W / 2 ? 1 : 0.5f, i % W < W / 2 ? 0 : 0.5f,
                                   i % W, i / W, i % W, i / W};
    table[i] = entry;
  }
  int called = 0;
  hi_roundview_stitching_param param, got;
  memset(&param, 0, sizeof param);
  param.imp_conf.src_pic_width = param.imp_conf.dest_pic_width = W;
  param.imp_conf.src_pic_height = param.imp_conf.dest_pic_height = H;
  param.imp_conf.ipm_table_len = sizeof table;
  param.imp_conf.ipm_table_address = table;
  hi_vpc_pic_info from[2] = {picture(40), picture(80)}, to = picture(0);
  hi_roundview_stitching_pic_param pictures = {&to, 2, from};
  hi_u32 task = 0;
  EXPECT((hi_u32)hi_mpi_vpc_roundview_stitching(0, &pictures, &task, -1) == HI_ERR_VPC_NOT_PERM);
  CHECK(hi_mpi_vpc_set_roundview_stitching_param(0, &param));
  CHECK(hi_mpi_vpc_get_roundview_stitching_param(0, &got));
  EXPECT(memcmp(&param, &got, sizeof got) == 0);
  CHECK(hi_mpi_vpc_roundview_stitching(0, &pictures, &task, -1));
  CHECK(hi_mpi_vpc_get_process_result(0, task, -1));
  EXPECT(at(&to, 3, 7) == 40 && at(&to, 60, 7) == 60);
  param.gain_conf.hist_type = GLOBAL_HISTOGRAM;
  param.gain_conf.gain_type = GAIN_LUT;
  param.gain_conf.user_data = &called;
  param.gain_conf.calulate_gain_callback = brighter;
  CHECK(hi_mpi_vpc_set_roundview_stitching_param(0, &param));
  CHECK(hi_mpi_vpc_roundview_stitching(0, &pictures, &task, -1));
  CHECK(hi_mpi_vpc_get_process_result(0, task, -1));
  EXPECT(called == 1 && at(&to, 60, 7) == 120);
  CHECK(hi_mpi_vpc_destroy_chn(0));
  return end();
}
"""
BOUND = HEAD + r"""
int main(void) {
  if (start()) return 1;
  hi_mpp_chn vdec = {HI_ID_VDEC, 0, 1}, venc = {HI_ID_VENC, 0, 2};
  EXPECT((hi_u32)hi_mpi_sys_bind(&vdec, &venc) == HI_ERR_SYS_UNEXIST);
  EXPECT((hi_u32)hi_mpi_sys_bind(NULL, &venc) == HI_ERR_SYS_NULL_PTR);
  hi_vdec_chn_attr attr = {0};
  attr.type = HI_PT_JPEG;
  attr.mode = HI_VDEC_SEND_MODE_FRAME;
  attr.pic_width = W;
  attr.pic_height = H;
  CHECK(hi_mpi_vdec_create_chn(1, &attr));
  CHECK(hi_mpi_vdec_start_recv_stream(1));
  hi_venc_chn_attr made = {0};
  made.venc_attr.type = HI_PT_JPEG;
  made.venc_attr.max_pic_width = made.venc_attr.pic_width = W;
  made.venc_attr.max_pic_height = made.venc_attr.pic_height = H;
  made.venc_attr.buf_size = 1 << 20;
  CHECK(hi_mpi_venc_create_chn(2, &made));
  hi_venc_start_param any = {-1};
  CHECK(hi_mpi_venc_start_chn(2, &any));

  hi_vpc_pic_info memory = picture(90);
  hi_video_frame_info frame = {0};
  frame.v_frame.width = frame.v_frame.width_stride[0] = W;
  frame.v_frame.height = frame.v_frame.height_stride[0] = H;
  frame.v_frame.pixel_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  frame.v_frame.virt_addr[0] = memory.picture_address;
  hi_venc_pack pack;
  hi_venc_stream stream = {0};
  stream.pack = &pack;
  stream.pack_cnt = 1;
  CHECK(hi_mpi_venc_send_frame(2, &frame, -1)); /* a JPEG file to begin with */
  CHECK(hi_mpi_venc_get_stream(2, &stream, -1));
  EXPECT(stream.jpeg_info.pic_bytes == pack.len);

  CHECK(hi_mpi_sys_bind(&vdec, &venc));
  EXPECT((hi_u32)hi_mpi_sys_bind(&vdec, &venc) == HI_ERR_SYS_EXIST);
  hi_vdec_stream file = {HI_TRUE, HI_FALSE, HI_TRUE, 77, 0, pack.len, pack.addr};
  hi_vpc_pic_info decoded = picture(0);
  hi_vdec_pic_info out = {0};
  out.pixel_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  out.vir_addr = (hi_u64)(size_t)decoded.picture_address;
  out.buffer_size = BYTES;
  out.width_stride = W;
  out.height_stride = H;
  CHECK(hi_mpi_vdec_send_stream(1, &file, &out, -1));
  hi_venc_pack second;
  hi_venc_stream again = {0};
  again.pack = &second;
  again.pack_cnt = 1;
  CHECK(hi_mpi_venc_get_stream(2, &again, -1));
  EXPECT(second.pts == 77 && second.len > 100);
  CHECK(hi_mpi_venc_release_stream(2, &again));
  CHECK(hi_mpi_venc_release_stream(2, &stream));
  CHECK(hi_mpi_sys_unbind(&vdec, &venc));
  EXPECT((hi_u32)hi_mpi_sys_unbind(&vdec, &venc) == HI_ERR_SYS_UNEXIST);
  CHECK(hi_mpi_vdec_destroy_chn(1));
  CHECK(hi_mpi_venc_destroy_chn(2));
  return end();
}
"""
# The output of a JPEG decoder has the size that the program asks for; interpolation 0 blends and 1
# takes the nearest sample.
SIZES = HEAD + r"""
static int decode(const hi_venc_pack* pack, int width, int height, hi_vpc_pic_info* to) {
  hi_vdec_stream file = {HI_TRUE, HI_FALSE, HI_TRUE, 5, 0, pack->len, pack->addr};
  hi_vdec_pic_info out = {0};
  out.width = (hi_u32)width;
  out.height = (hi_u32)height;
  out.width_stride = (hi_u32)width;
  out.height_stride = (hi_u32)height;
  out.pixel_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  out.vir_addr = (hi_u64)(size_t)to->picture_address;
  out.buffer_size = (hi_u32)(width * height * 3 / 2);
  CHECK(hi_mpi_vdec_send_stream(1, &file, &out, -1));
  hi_video_frame_info frame = {0};
  hi_vdec_stream sent = {0};
  hi_vdec_supplement_info more = {0};
  CHECK(hi_mpi_vdec_get_frame(1, &frame, &more, &sent, -1));
  EXPECT(frame.v_frame.width == (hi_u32)width && frame.v_frame.height == (hi_u32)height);
  EXPECT(frame.v_frame.frame_flag == 0 && sent.pts == 5);
  CHECK(hi_mpi_vdec_release_frame(1, &frame));
  return 0;
}
static unsigned char luma(const hi_vpc_pic_info* info, int offset) {
  unsigned char value = 0;
  aclrtMemcpy(&value, 1, (char*)info->picture_address + offset, 1, ACL_MEMCPY_DEVICE_TO_HOST);
  return value;
}
int main(void) {
  if (start()) return 1;
  hi_venc_chn_attr made = {0};
  made.venc_attr.type = HI_PT_JPEG;
  made.venc_attr.max_pic_width = made.venc_attr.pic_width = W;
  made.venc_attr.max_pic_height = made.venc_attr.pic_height = H;
  made.venc_attr.buf_size = 1 << 20;
  CHECK(hi_mpi_venc_create_chn(2, &made));
  hi_venc_start_param any = {-1};
  CHECK(hi_mpi_venc_start_chn(2, &any));
  hi_vpc_pic_info memory = picture(128);
  CHECK(aclrtMemset(memory.picture_address, BYTES, 200, W * H / 2)); /* bright above, grey below */
  hi_video_frame_info frame = {0};
  frame.v_frame.width = frame.v_frame.width_stride[0] = W;
  frame.v_frame.height = frame.v_frame.height_stride[0] = H;
  frame.v_frame.pixel_format = HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420;
  frame.v_frame.virt_addr[0] = memory.picture_address;
  hi_venc_pack pack;
  hi_venc_stream stream = {0};
  stream.pack = &pack;
  stream.pack_cnt = 1;
  CHECK(hi_mpi_venc_send_frame(2, &frame, -1));
  CHECK(hi_mpi_venc_get_stream(2, &stream, -1));

  hi_vdec_chn_attr attr = {0};
  attr.type = HI_PT_JPEG;
  attr.mode = HI_VDEC_SEND_MODE_FRAME;
  attr.pic_width = W;
  attr.pic_height = H;
  CHECK(hi_mpi_vdec_create_chn(1, &attr));
  CHECK(hi_mpi_vdec_start_recv_stream(1));
  hi_vpc_pic_info full = picture(0), half = picture(0);
  if (decode(&pack, W, H, &full) || decode(&pack, W / 2, H / 2, &half)) return 1;
  EXPECT(luma(&full, W * (H / 2 - 8)) > 190 && luma(&full, W * (H - 1)) < 135);
  EXPECT(luma(&half, W / 2 * (H / 4 - 4)) > 190 && luma(&half, W / 2 * (H / 2 - 1)) < 135);
  EXPECT(luma(&half, W / 2 * (H / 2) * 3 / 2) == 0); /* nothing behind the smaller picture */
  CHECK(hi_mpi_venc_release_stream(2, &stream));
  CHECK(hi_mpi_vdec_destroy_chn(1));
  CHECK(hi_mpi_venc_destroy_chn(2));

  hi_vpc_chn_attr vpc = {0};
  CHECK(hi_mpi_vpc_create_chn(0, &vpc));
  hi_vpc_pic_info from = {memory.picture_address, W * H * 3 / 2, W, H, W, H,
                          HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420};
  hi_vpc_pic_info to = {full.picture_address, BYTES, W, 2 * H, W, 2 * H,
                        HI_PIXEL_FORMAT_YUV_SEMIPLANAR_420};
  hi_u32 task = 0;
  for (int kind = 0; kind < 2; ++kind) {
    CHECK(hi_mpi_vpc_resize(0, &from, &to, 0, 0, (hi_u32)kind, &task, -1));
    CHECK(hi_mpi_vpc_get_process_result(0, task, -1));
    int between = 0; /* rows that have neither value: blended ones, at the edge */
    for (int y = 0; y < 2 * H; ++y) {
      int value = luma(&to, y * W);
      between += value != 200 && value != 128;
    }
    EXPECT(kind == 0 ? between > 0 : between == 0);
  }
  CHECK(hi_mpi_vpc_destroy_chn(0));
  return end();
}
"""
PROGRAMS = {"pools": POOLS, "regions": REGIONS, "stitching": STITCHING, "bound channels": BOUND,
            "sizes and interpolation": SIZES}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_c_program(name, tmp_path):
    tree = os.path.join(BUILD, "ascend")
    (tmp_path / "app.c").write_text(PROGRAMS[name])
    subprocess.run(
        ["cc", "-std=gnu11", "-Wall", "-Wno-missing-braces", "-Wno-unused-function", "-Werror",
         "app.c", "-o", "app", f"-I{tree}/include/acl", f"-I{tree}/include/acl/dvpp",
         f"-L{tree}/lib64", "-lacl_dvpp_mpi", "-lascendcl", f"-Wl,-rpath,{tree}/lib64"],
        cwd=tmp_path, check=True, timeout=300)
    done = subprocess.run(["./app"], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.returncode, done.stdout + done.stderr)
