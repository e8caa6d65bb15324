// SPDX-License-Identifier: Apache-2.0
// Memory that a program registers with a communicator: address ranges, their mapped parts, and
// windows for peers. Operations can access all device memory here anyway, so registrations are only
// checked and stored. Thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "base/handle_table.h"

namespace anynpu::service {

Status set_memory_range(Handle communicator, void* base, size_t bytes);
Status unset_memory_range(Handle communicator, void* base);
// A part of a range that was set.
Status activate_memory(Handle communicator, void* address, size_t bytes);
Status deactivate_memory(Handle communicator, void* address);

// The result names the window.
Result<void*> register_window(Handle communicator, void* address, size_t bytes);
Status deregister_window(Handle communicator, void* window);
Status exchange_window(Handle communicator, void* window, const uint32_t* peers, uint32_t count);

// There are no network cards to switch to: only "no backup" is accepted.
Status set_working_cards(Handle communicator, const uint32_t* ranks, const bool* backup,
                         uint32_t count);

}  // namespace anynpu::service
