// SPDX-License-Identifier: Apache-2.0
// The one device image a process may register for launches without a module. It is linked for a
// cluster when the first kernel is launched there. Thread-safe.
#pragma once

#include <memory>

#include "npc/host/launch.h"

namespace anynpu::npc {

// Keeps the address; the size follows from the ELF header. Fails with file_invalid for other bytes
// and with already_exists when an image is registered.
Status register_image(const void* image);
// Fails with bad_call_order when none is registered.
Status unregister_image();
// The registered image's module on the host's cluster; bad_call_order when none is registered.
Result<std::shared_ptr<HostModule>> registered_module(ClusterHost& host);

}  // namespace anynpu::npc
