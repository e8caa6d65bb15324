// SPDX-License-Identifier: Apache-2.0
#include "npc/services.h"

#include <cstdio>
#include <string>

#include "base/format.h"
#include "npc/core.h"
#include "npc/guest_text.h"

namespace anynpu::npc {

namespace {

constexpr int kA0 = 10, kA1 = 11, kA2 = 12, kA3 = 13, kA7 = 17;

bool serve_assert(Core& core) {
  const std::string expression = guest_text(core, core.x[kA0]);
  const std::string file = guest_text(core, core.x[kA1]);
  const std::string function = guest_text(core, core.x[kA3]);
  core.set_trap(TrapKind::assertion,
                format("{}:{}: {}: assertion '{}' failed (code 128)", file,
                       static_cast<int32_t>(core.x[kA2]), function, expression));
  return false;
}

bool check_sync(Core& core) {
  if (!core.takes_turns()) return true;
  core.set_trap(TrapKind::service,
                format("sync() in a launch of {} blocks, of which {} run at a time and could never "
                       "meet; launch at most {}, or let each block loop over more of the work",
                       core.blocks, core.core_num, kCores));
  return false;
}

}  // namespace

void PrintSink::write(int core, std::string_view text) {
  std::lock_guard lock(mutex);
  if (print) {
    print(core, text);
    return;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

Served serve(Core& core, PrintSink& sink) {
  const auto ended = [](bool good) { return good ? Served::resume : Served::trap; };
  switch (static_cast<Service>(core.x[kA7])) {
    case Service::sync:
      return check_sync(core) ? Served::sync : Served::trap;
    case Service::exit:
      if (core.x[kA0] == 0) return Served::finished;
      core.set_trap(TrapKind::exit_code,
                    format("the kernel called exit({})", static_cast<int32_t>(core.x[kA0])));
      return Served::trap;
    case Service::abort:
      core.set_trap(TrapKind::abort, "the kernel called abort() (code 128)");
      return Served::trap;
    case Service::assert_:
      return ended(serve_assert(core));
    case Service::print:
      return ended(serve_print(core, sink));
    case Service::print_to:
      return ended(serve_print_to(core));
    case Service::copy:
      serve_copy(core);
      return Served::resume;
    case Service::copy_rows:
      return ended(serve_copy_rows(core));
    case Service::vector:
      return ended(serve_vector(core));
    case Service::matmul:
      return ended(serve_matmul(core));
    case Service::conv2d:
      return ended(serve_conv2d(core));
    case Service::math32:
      return ended(serve_math(core));
    case Service::double_op:
      return ended(serve_double(core));
    case Service::clock:
      core.x[kA0] = static_cast<uint32_t>(core.clock);
      core.x[kA1] = static_cast<uint32_t>(core.clock >> 32);
      return Served::resume;
  }
  core.set_trap(TrapKind::service,
                format("ecall with service {}, which is not there", core.x[kA7]));
  return Served::trap;
}

}  // namespace anynpu::npc
