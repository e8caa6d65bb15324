// SPDX-License-Identifier: Apache-2.0
// What a core needs to run translated code: its view of memory and a stack on the host. Kept with
// the cluster and used launch after launch.
#pragma once

#include <memory>
#include <vector>

#include "npc/core.h"
#include "npc/services.h"
#include "npc/translate/fiber.h"
#include "npc/translate/view.h"

namespace anynpu::npc {

class Translation;

enum class HostStop : uint8_t { slice, sync, finished, trap, fault };

struct HostCore {
  static Result<std::unique_ptr<HostCore>> create(std::shared_ptr<Memory> memory, int core);

  std::unique_ptr<View> view;
  std::unique_ptr<Fiber> fiber;
  const Translation* translation = nullptr;
  int64_t (*kernel)(std::byte* base, int64_t count) = nullptr;
  HostStop stop = HostStop::slice;
  bool started = false;
  uint64_t granted = 0;  // instructions of the current slice
  uint64_t turn = 0;     // instructions since this turn began
  uint64_t turn_limit = 0;

  // The position of translated code at a fault or trap; its stack is kept until the next
  // launch.
  struct HostFrame {
    const std::byte* pc = nullptr;
    const std::byte* stack = nullptr;  // stack pointer
    const std::byte* base = nullptr;   // base pointer
  } place;
  uintptr_t fault_address = 0;
  bool stack_ran_over = false;
  alignas(16) std::byte leave_stack[4096];  // for leaving after a fault
};

// Puts the core at the start of its kernel.
void prepare_host(Core& core, HostCore& host, const Translation& translation, void* kernel,
                  PrintSink& sink);
// Runs about `slice` instructions, or until something else has to happen. After `trap` the core
// holds trap, pc and calls as the interpreter leaves them.
HostStop run_host(Core& core, uint64_t slice);

}  // namespace anynpu::npc
