// SPDX-License-Identifier: Apache-2.0
// Counting notifies as programs hold them. Thread-safe.
#pragma once

#include <cstdint>

#include "base/handle_table.h"
#include "base/result.h"
#include "device/counting_notify.h"

namespace anynpu::service {

Result<Handle> create_counting_notify(uint64_t flag);
// `mode` as CountingNotify::Change; values are 1 and more.
Status record_counting_notify(Handle notify, Handle stream, uint32_t mode, uint32_t value);
// `mode` as CountingNotify::Until.
Status wait_counting_notify(Handle notify, Handle stream, uint32_t mode,
                            device::CountingNotify::Wait wait);
Status reset_counting_notify(Handle notify, Handle stream);

}  // namespace anynpu::service
