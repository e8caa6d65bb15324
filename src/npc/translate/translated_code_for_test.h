// SPDX-License-Identifier: Apache-2.0
// Runs one stream of instructions as host code, with all registers given and taken back.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "base/fault_guard.h"
#include "npc/image.h"
#include "npc/translate/host_core.h"
#include "npc/translate/jit_api.h"
#include "npc/translate/plugin.h"
#include "npc/translate/translation.h"

namespace anynpu::npc {

// A failed test where the translator was built; skipped where it was not.
#if defined(ANYNPU_HAS_TRANSLATOR) && !defined(__SANITIZE_THREAD__)
#define ANYNPU_NO_TRANSLATOR(why) FAIL() << (why)
#else
#define ANYNPU_NO_TRANSLATOR(why) GTEST_SKIP() << (why)
#endif

class TranslatedCode {
 public:
  // Null, with the reason, where there is no translator.
  static std::unique_ptr<TranslatedCode> create(std::shared_ptr<Memory> memory, std::string& why) {
    Jit* jit = translator(why);
    if (!jit) return nullptr;
    auto core = HostCore::create(std::move(memory), 0);
    const Status status = core.ok() ? (*core)->view->update() : core.status();
    why = status.to_string();
    if (!status.ok()) return nullptr;
    install_fault_guard();
    return std::unique_ptr<TranslatedCode>(new TranslatedCode(*jit, std::move(*core)));
  }

  // Runs the image from its start until it returns or traps. Where it cannot be translated the
  // core traps with the reason.
  HostStop run(const Image& image, bool exact_floats, Core& core) {
    Program program;
    program.image = &image;
    find_functions(program);
    find_targets(program);
    program.whole_state = true;
    program.exact_floats = exact_floats;
    const auto translation = Translation::make(program, jit_);
    if (!translation->kernel(0)) {
      core.set_trap(TrapKind::service, translation->why_not(0));
      return HostStop::trap;
    }
    PrintSink sink;
    prepare_host(core, *host_, *translation, translation->kernel(0), sink);
    HostStop stop;
    do {
      stop = run_host(core, 10'000);
    } while (stop == HostStop::slice);
    if (stop == HostStop::finished) {
      const HostState& state = host_->view->state();
      std::copy_n(state.x, 32, core.x.begin());
      std::copy_n(state.f, 32, core.f.begin());
    }
    return stop;
  }

 private:
  TranslatedCode(Jit& jit, std::unique_ptr<HostCore> host) : jit_(jit), host_(std::move(host)) {}

  Jit& jit_;
  std::unique_ptr<HostCore> host_;
};

}  // namespace anynpu::npc
