// SPDX-License-Identifier: Apache-2.0
#include "media/vdec_codes.h"

#include <cstdlib>

#include "base/env.h"
#include "base/format.h"

namespace anynpu::media {
namespace {

constexpr VdecCode kCodes[] = {
    {0, "AICPU_DVPP_KERNEL_STATE_SUCCESS", "decoded"},
    {1, "AICPU_DVPP_KERNEL_STATE_FAILED", "another error"},
    {2, "AICPU_DVPP_KERNEL_STATE_DVPP_ERROR", "a call into another module failed"},
    {3, "AICPU_DVPP_KERNEL_STATE_PARAM_INVALID", "a parameter does not pass its check"},
    {4, "AICPU_DVPP_KERNEL_STATE_OUTPUT_SIZE_INVALID", "the output memory has the wrong size"},
    {5, "AICPU_DVPP_KERNEL_STATE_INTERNAL_ERROR", "an internal error"},
    {6, "AICPU_DVPP_KERNEL_STATE_QUEUE_FULL", "an internal queue is full"},
    {7, "AICPU_DVPP_KERNEL_STATE_QUEUE_EMPTY", "an internal queue is empty"},
    {8, "AICPU_DVPP_KERNEL_STATE_QUEUE_NOT_EXIST", "an internal queue does not exist"},
    {9, "AICPU_DVPP_KERNEL_STATE_GET_CONTEX_FAILED", "the internal context cannot be had"},
    {10, "AICPU_DVPP_KERNEL_STATE_SUBMIT_EVENT_FAILED", "an internal event was not submitted"},
    {11, "AICPU_DVPP_KERNEL_STATE_MEMORY_FAILED", "internal memory cannot be allocated"},
    {12, "AICPU_DVPP_KERNEL_STATE_SEND_NOTIFY_FAILED", "an internal notice was not sent"},
    {13, "AICPU_DVPP_KERNEL_STATE_VPC_OPERATE_FAILED", "an internal step on the picture failed"},
    {14, "AICPU_DVPP_KERNEL_STATE_CHANNEL_ABNORMAL", "the channel is in a bad state"},
    {0x10001, "ERR_INVALID_STATE", "the decoder is in a bad state"},
    {0x10002, "ERR_HARDWARE", "the hardware failed to start, run or stop"},
    {0x10003, "ERR_SCD_CUT_FAIL", "the stream cannot be cut into pictures; check the stream"},
    {0x10004, "ERR_VDM_DECODE_FAIL", "a picture cannot be decoded; check the stream"},
    {0x10005, "ERR_ALLOC_MEM_FAIL", "internal memory cannot be allocated"},
    {0x10006, "ERR_ALLOC_DYNAMIC_MEM_FAIL", "the resolution is out of range, or memory is used up"},
    {0x10007, "ERR_ALLOC_IN_OR_OUT_PORT_MEM_FAIL", "input or output buffers cannot be allocated"},
    {0x10008, "ERR_BITSTREAM",
     "the stream breaks its grammar, or its end was sent twice or before the first frame"},
    {0x10009, "ERR_VIDEO_FORMAT", "the video is neither H.264 nor H.265"},
    {0x1000a, "ERR_IMAGE_FORMAT", "the output is neither NV12 nor NV21"},
    {0x1000b, "ERR_CALLBACK", "there is no callback"},
    {0x1000c, "ERR_INPUT_BUFFER", "the input memory is null"},
    {0x1000d, "ERR_INBUF_SIZE", "the input has no bytes"},
    {0x1000e, "ERR_THREAD_CREATE_FBD_FAIL", "the thread that returns results failed"},
    {0x1000f, "ERR_CREATE_INSTANCE_FAIL", "a decoder cannot be created"},
    {0x10010, "ERR_INIT_DECODER_FAIL", "the decoder cannot start, for example the 17th of them"},
    {0x10011, "ERR_GET_CHANNEL_HANDLE_FAIL", "the handle of a stream cannot be had"},
    {0x10012, "ERR_COMPONENT_SET_FAIL", "the decoder cannot be set up with these parameters"},
    {0x10013, "ERR_COMPARE_NAME_FAIL", "the decoder cannot be named"},
    {0x10014, "ERR_OTHER", "another error"},
    {0x20000, "ERR_DECODE_NOPIC",
     "no picture: normal for one of the two fields of an interlaced frame; the picture is in the "
     "output of the other"},
    {0x20001, "VDEC_REF_FRAME_NUM_ERROR",
     "the stream uses more reference frames than the channel was set to"},
    {0x20002, "VDEC_FRAME_BUF_SIZE_ERROR",
     "the stream's width and height are not those the channel was set to"},
    {0xA0058001, "HI_ERR_VDEC_INVALID_DEV_ID", "the device number is not valid; reserved"},
    {0xA0058002, "HI_ERR_VDEC_INVALID_CHN_ID",
     "the channel number is not valid, or there are too many channels"},
    {0xA0058003, "HI_ERR_VDEC_ILLEGAL_PARAM", "a parameter is not legal; the log names it"},
    {0xA0058004, "HI_ERR_VDEC_EXIST", "the channel exists already; check for a second creation"},
    {0xA0058005, "HI_ERR_VDEC_UNEXIST", "the channel does not exist"},
    {0xA0058006, "HI_ERR_VDEC_NULL_PTR", "an address among the parameters is 0"},
    {0xA0058007, "HI_ERR_VDEC_NOT_CFG", "something was used before its parameters were set"},
    {0xA0058008, "HI_ERR_VDEC_NOT_SUPPORT", "the parameter or function is not supported"},
    {0xA0058009, "HI_ERR_VDEC_NOT_PERM", "the operation is not allowed now"},
    {0xA005800C, "HI_ERR_VDEC_NO_MEM", "memory cannot be allocated"},
    {0xA005800D, "HI_ERR_VDEC_NO_BUF", "a buffer cannot be allocated; reserved"},
    {0xA005800E, "HI_ERR_VDEC_BUF_EMPTY", "nothing is decoded yet; try again later"},
    {0xA005800F, "HI_ERR_VDEC_BUF_FULL",
     "the input buffer is full; send more slowly or create the channel with a larger one"},
    {0xA0058010, "HI_ERR_VDEC_SYS_NOT_READY", "the system is not initialised; reserved"},
    {0xA0058011, "HI_ERR_VDEC_BAD_ADDR", "an address is wrong; reserved"},
    {0xA0058012, "HI_ERR_VDEC_BUSY", "the decoder is busy: too many channels"},
    {0xA0058013, "HI_ERR_VDEC_BUF_SIZE", "a buffer is smaller than needed; reserved"},
    {0xA0058014, "HI_ERR_VDEC_TIMEOUT", "a step took too long; reserved"},
    {0xA0058015, "HI_ERR_VDEC_SYS_ERROR", "an internal error of the system"},
    {0xA005803F, "HI_ERR_VDEC_END", "the largest code of the decoder"},
};

}  // namespace

std::span<const VdecCode> vdec_codes() { return kCodes; }

std::string describe_vdec_code(uint32_t code) {
  for (const VdecCode& known : kCodes) {
    if (known.code == code) return format("{:#x} ({}): {}", code, known.name, known.meaning);
  }
  return format("{:#x}: no code of the decoder", code);
}

uint32_t injected_vdec_fault(uint64_t number) {
  const std::string wanted = env::text(env::Name::vdec_fault);
  if (wanted.empty()) return 0;
  char* end = nullptr;
  const auto code = static_cast<uint32_t>(std::strtoul(wanted.c_str(), &end, 0));
  if (*end == '@' && std::strtoull(end + 1, nullptr, 0) != number) return 0;
  return code;
}

}  // namespace anynpu::media
