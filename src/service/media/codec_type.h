// SPDX-License-Identifier: Apache-2.0
// What channels decode and encode.
#pragma once

#include <cstdint>

namespace anynpu::media {

enum class CodecType : uint8_t { h264, h265, jpeg, other };

}  // namespace anynpu::media
