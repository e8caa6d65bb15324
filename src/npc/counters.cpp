// SPDX-License-Identifier: Apache-2.0
#include "npc/counters.h"

namespace anynpu::npc {

std::string_view event_name(int id) {
  switch (id) {
#define X(number, name) \
  case number:          \
    return #name;
    ANYNPU_NPC_EVENTS(X)
#undef X
    default:
      return {};
  }
}

}  // namespace anynpu::npc
