// SPDX-License-Identifier: Apache-2.0
// The detailed codes of the video decoder (guide, table 5-1): number, name, what it means. A
// program sees 0 or 1 for a frame; the detailed code is in the log and in the error message.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace anynpu::media {

struct VdecCode {
  uint32_t code;
  const char* name;
  const char* meaning;
};
std::span<const VdecCode> vdec_codes();
// "0x10008 (ERR_BITSTREAM): ..."
std::string describe_vdec_code(uint32_t code);

namespace vdec {
inline constexpr uint32_t kOk = 0;
inline constexpr uint32_t kOutputSize = 4;
inline constexpr uint32_t kDecodeFailed = 0x10004;
inline constexpr uint32_t kResolution = 0x10006;
inline constexpr uint32_t kBitstream = 0x10008;
inline constexpr uint32_t kInit = 0x10010;
inline constexpr uint32_t kNoPicture = 0x20000;
inline constexpr uint32_t kReferenceFrames = 0x20001;
inline constexpr uint32_t kFrameSize = 0x20002;
}  // namespace vdec

// The code that ANYNPU_VDEC_FAULT injects for frame `number` of a channel; 0 for none.
uint32_t injected_vdec_fault(uint64_t number);

}  // namespace anynpu::media
