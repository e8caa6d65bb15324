// SPDX-License-Identifier: Apache-2.0
// Operations on streams, events and modules by handle. Stream 0 is the default stream of the
// cluster. A bad handle is invalid_stream, invalid_event or, for modules, invalid_handle.
// Thread-safe.
#pragma once

#include <memory>

#include "base/handle_table.h"
#include "npc/host/host_stream.h"
#include "npc/host/launch.h"

namespace anynpu::npc {

// The lane that the next request of `stream` to `host` goes to.
Result<std::shared_ptr<Lane>> find_lane(Handle stream, ClusterHost& host);
Status destroy_stream(Handle stream);  // waits for its requests
Status synchronize_stream(Handle stream);
Status synchronize_unified_stream(Handle stream);
Status clean_stream(Handle stream);
Status wait_event(Handle stream, Handle event);

Result<std::shared_ptr<HostEvent>> create_event();  // out_of_events at the limit
Status destroy_event(Handle event);
Status synchronize_event(Handle event);
Status record_event(Handle event, Handle stream);
Result<float> elapsed_ms(Handle start, Handle end);

// Fails with not_complete while launches of it are queued or running.
Status unload_module(Handle module);

// The configuration of the thread's next launch. Checked, and stored even when it is wrong.
struct CallConfiguration {
  int core_num = kCores;
  Handle stream = 0;
  uint32_t flags = 0;
};
Status configure_call(const CallConfiguration& call);
struct KernelCall {
  Handle module = 0;  // 0: the registered image
  const char* name = nullptr;
  const uint32_t* values = nullptr;
  size_t count = 0;
  const unsigned char* kinds = nullptr;  // a Given for each value; may be null
};
// Uses up the configuration of the thread.
Status launch_configured(const KernelCall& call);

}  // namespace anynpu::npc
