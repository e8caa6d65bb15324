// SPDX-License-Identifier: Apache-2.0
// What the Python binding needs beyond the public interface (anynpu.h): our messages, and ways to
// drop objects in any order without waiting.
#include "anynpu.h"
#include "base/fork_guard.h"
#include "base/handle_table.h"
#include "base/recent_failure.h"
#include "npc/host/host_stream.h"
#include "npc/host/launch.h"

using namespace anynpu;

const char* anynpu_hpe_last_sentence(void) { return last_message(Interface::hpe); }

// Queued requests hold what they use, so the handle may go at once.
void anynpu_hpe_drop_stream(void* stream) {
  if (in_forked_child()) return;
  HandleTable::instance().remove<npc::HostStream>(reinterpret_cast<Handle>(stream));
}

void anynpu_hpe_drop_module(void* module) {
  if (in_forked_child()) return;
  HandleTable::instance().remove<npc::HostModule>(reinterpret_cast<Handle>(module));
}

int anynpu_hpe_drain(void) {
  if (in_forked_child()) return 0;
  for (npc::ClusterHost* host : npc::ClusterHost::used()) {
    const Status status = host->synchronize(Deadline::never());
    if (status.code() == Code::cancelled) return 1;
  }
  return 0;
}
