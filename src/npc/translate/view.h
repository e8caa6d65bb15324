// SPDX-License-Identifier: Apache-2.0
// The 4 GiB address space of one core, for translated code: global and shared memory of the
// cluster, local memory of the core, guards on both sides, the state below (host_state.h). Pages
// are protected according to the permissions of memory.h. Used by one launch at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/result.h"
#include "npc/memory.h"
#include "npc/translate/host_state.h"

namespace anynpu::npc {

class View {
 public:
  static Result<std::unique_ptr<View>> create(std::shared_ptr<Memory> memory, int core);
  ~View();
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  std::byte* base() const { return base_; }
  HostState& state() const { return *reinterpret_cast<HostState*>(base_ - kStateDistance); }
  bool contains(const void* at) const;  // with the guards

  // Applies the current permissions of the memory. Fails when the system allows no more mappings.
  Status update();
  // From the fault handler: true if the page of `address` allows the access by now.
  bool admit(uint32_t address, bool store);

 private:
  View(std::shared_ptr<Memory> memory, std::byte* whole, std::byte* applied);
  Status apply(uint32_t first, uint32_t end);

  std::shared_ptr<Memory> memory_;
  std::byte* base_;
  uint8_t* applied_;   // permissions that the pages have, one byte each
  uint64_t seen_ = 0;  // changes of the memory that are applied
};

}  // namespace anynpu::npc
