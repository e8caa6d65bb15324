// SPDX-License-Identifier: Apache-2.0
// The functions that translated code calls; they run on the core's own stack.
#pragma once

#include "npc/translate/host_state.h"

namespace anynpu::npc {

const HostHelpers& host_helpers();

}  // namespace anynpu::npc
