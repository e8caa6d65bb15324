// SPDX-License-Identifier: Apache-2.0
// An image of bare instructions.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "npc/image.h"
#include "npc/memory.h"

namespace anynpu::npc {

// Code put into device memory, with one kernel at its start.
inline std::unique_ptr<Image> image_of(Memory& memory, uint32_t at,
                                       const std::vector<uint8_t>& code) {
  std::memcpy(memory.host(at), code.data(), code.size());
  auto image = std::make_unique<Image>();
  image->base = image->code_base = at;
  image->bytes = image->code_bytes = static_cast<uint32_t>(code.size());
  image->code = decode_all({memory.host(at), code.size()});
  image->weights = weigh(image->code);
  image->kernels["stream"] = at;
  image->symbols.push_back({at, image->code_bytes, true, true, "stream"});
  return image;
}

}  // namespace anynpu::npc
