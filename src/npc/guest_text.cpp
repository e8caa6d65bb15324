// SPDX-License-Identifier: Apache-2.0
#include "npc/guest_text.h"

#include "npc/core.h"

namespace anynpu::npc {

std::string guest_text(const Core& core, uint32_t address, uint32_t most) {
  if (address == 0) return "(null)";
  std::string text;
  while (text.size() < most) {
    const auto at = address + static_cast<uint32_t>(text.size());
    const std::byte* from = core.at(at, 1, kRead);
    if (!from) return text + "(bad address)";
    if (*from == std::byte{0}) break;
    text.push_back(static_cast<char>(*from));
  }
  return text;
}

}  // namespace anynpu::npc
