// SPDX-License-Identifier: Apache-2.0
#include "npc/host/objects.h"

#include <utility>
#include <vector>

#include "npc/cluster.h"
#include "npc/host/host.h"
#include "npc/host/registered_image.h"

namespace anynpu::npc {

namespace {

constexpr size_t kMostEvents = 65536;
constexpr uint32_t kMostFlags = 3;
constexpr unsigned char kMostKinds = static_cast<unsigned char>(Given::pointer);

thread_local CallConfiguration next_call;

// The object of a handle; `cause` when there is none.
template <typename T>
Result<std::shared_ptr<T>> find_object(Handle handle, Code cause) {
  auto pin = resolve<T>(handle);
  if (!pin.ok()) return pin.status().with_code(cause);
  return pin->share();
}

Result<std::shared_ptr<HostStream>> find_stream(Handle stream) {
  return find_object<HostStream>(stream, Code::invalid_stream);
}

Result<std::shared_ptr<HostEvent>> find_event(Handle event) {
  return find_object<HostEvent>(event, Code::invalid_event);
}

Status check_configuration(const CallConfiguration& call) {
  if (call.core_num < 1 || call.core_num > kCores) {
    return fail(Code::invalid_config, "core_num is {}; a cluster runs a kernel on 1 to {} NPCs",
                call.core_num, kCores);
  }
  if (call.flags > kMostFlags) {
    return fail(Code::invalid_argument, "the kernel flags are {}; expected 0 to {}", call.flags,
                kMostFlags);
  }
  return {};
}

Result<std::shared_ptr<HostModule>> find_module(Handle module) {
  if (module) return find_object<HostModule>(module, Code::invalid_handle);
  ANYNPU_ASSIGN(auto* device, current_device());
  return registered_module(*device);
}

Result<std::vector<Given>> read_kinds(const unsigned char* kinds, size_t count) {
  std::vector<Given> given;
  for (size_t i = 0; kinds && i < count; ++i) {
    if (kinds[i] > kMostKinds) {
      return fail(Code::invalid_argument, "kind {} of parameter {}; expected an stcParamKind",
                  kinds[i], i);
    }
    given.push_back(static_cast<Given>(kinds[i]));
  }
  return given;
}

}  // namespace

Result<std::shared_ptr<Lane>> find_lane(Handle stream, ClusterHost& host) {
  if (!stream) return host.default_lane();
  ANYNPU_ASSIGN(auto found, find_stream(stream));
  return found->next_lane(host);
}

Status destroy_stream(Handle stream) {
  auto& handles = HandleTable::instance();
  const auto removed = handles.remove<HostStream>(stream);
  if (!removed) {
    return handles.explain(stream, HandleTag::npc_stream).with_code(Code::invalid_stream);
  }
  for (const auto& lane : removed->lanes()) {
    ANYNPU_TRY(lane->stream().wait_for(lane->stream().submitted(), Deadline::never()));
  }
  return {};
}

Status synchronize_stream(Handle stream) {
  if (!stream) {
    ANYNPU_ASSIGN(auto* device, current_device());
    return device->default_lane()->synchronize(Deadline::never());
  }
  ANYNPU_ASSIGN(auto found, find_stream(stream));
  return found->synchronize(Deadline::never());
}

Status synchronize_unified_stream(Handle stream) {
  ANYNPU_ASSIGN(auto found, find_stream(stream));
  if (found->unified()) return found->synchronize(Deadline::never());
  return fail(Code::invalid_stream,
              "the stream belongs to one device; expected one of stcStreamCreateUnified");
}

Status clean_stream(Handle stream) {
  if (!stream) {
    ANYNPU_ASSIGN(auto* device, current_device());
    device->default_lane()->clean();
    return {};
  }
  ANYNPU_ASSIGN(auto found, find_stream(stream));
  found->clean();
  return {};
}

Status wait_event(Handle stream, Handle event) {
  ANYNPU_ASSIGN(auto mark, find_event(event));
  if (!stream) {
    ANYNPU_ASSIGN(auto* device, current_device());
    return mark->wait_in(*device->default_lane());
  }
  ANYNPU_ASSIGN(auto found, find_stream(stream));
  // A unified stream that was never used waits in the lane of the event's cluster.
  if (found->unified()) {
    ANYNPU_ASSIGN(auto lane, found->next_lane(mark->host()));
    return mark->wait_in(*lane);
  }
  return mark->wait_in(*found->lanes().front());
}

Result<std::shared_ptr<HostEvent>> create_event() {
  ANYNPU_ASSIGN(auto* device, current_device());
  if (HandleTable::instance().live(HandleTag::npc_event) >= kMostEvents) {
    return fail(Code::out_of_events, "{} events exist, the most there may be; destroy some",
                kMostEvents);
  }
  return std::make_shared<HostEvent>(*device);
}

Status destroy_event(Handle event) {
  auto& handles = HandleTable::instance();
  if (handles.remove<HostEvent>(event)) return {};
  return handles.explain(event, HandleTag::npc_event).with_code(Code::invalid_event);
}

Status synchronize_event(Handle event) {
  ANYNPU_ASSIGN(auto mark, find_event(event));
  return mark->synchronize(Deadline::never());
}

Status record_event(Handle event, Handle stream) {
  ANYNPU_ASSIGN(auto mark, find_event(event));
  if (!stream) return mark->record(mark->host().lanes());
  ANYNPU_ASSIGN(auto lane, find_lane(stream, mark->host()));
  return mark->record({lane});
}

Result<float> elapsed_ms(Handle start, Handle end) {
  ANYNPU_ASSIGN(auto from, find_event(start));
  ANYNPU_ASSIGN(auto to, find_event(end));
  ANYNPU_ASSIGN(const uint64_t begun, from->timestamp_ns());
  ANYNPU_ASSIGN(const uint64_t ended, to->timestamp_ns());
  return static_cast<float>((static_cast<double>(ended) - static_cast<double>(begun)) * 1e-6);
}

Status unload_module(Handle module) {
  auto& handles = HandleTable::instance();
  {
    auto pin = handles.find<HostModule>(module);
    if (pin && pin->launches() > 0) {
      return fail(Code::not_complete,
                  "{} launches of the module are queued or running; synchronize first",
                  pin->launches());
    }
  }
  if (handles.remove<HostModule>(module)) return {};
  return handles.explain(module, HandleTag::npc_module);
}

Status configure_call(const CallConfiguration& call) {
  next_call = call;
  return check_configuration(call);
}

Status launch_configured(const KernelCall& call) {
  const CallConfiguration how = std::exchange(next_call, {});
  ANYNPU_TRY(check_configuration(how));
  if (!call.name) {
    return fail(Code::invalid_argument, "name is null; expected the address of a variable or text");
  }
  if (call.count > Cluster::kMaxArgs || (call.count > 0 && !call.values)) {
    return fail(Code::invalid_argument, "{} parameters at {}; expected at most {}", call.count,
                static_cast<const void*>(call.values), Cluster::kMaxArgs);
  }
  ANYNPU_ASSIGN(auto module, find_module(call.module));
  ANYNPU_ASSIGN(auto lane, find_lane(how.stream, module->host()));
  LaunchRequest request;
  request.kernel = call.name;
  request.args.assign(call.values, call.values + call.count);
  ANYNPU_ASSIGN(request.given, read_kinds(call.kinds, call.count));
  request.core_num = how.core_num;
  request.flags = how.flags;
  return launch(module, std::move(request), lane);
}

}  // namespace anynpu::npc
