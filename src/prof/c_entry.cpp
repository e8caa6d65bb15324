// SPDX-License-Identifier: Apache-2.0
#include "prof/c_entry.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "base/crc32c.h"
#include "device/device_facts.h"
#include "device/runtime.h"
#include "prof/ownership.h"
#include "prof/session.h"
#include "prof/stamps.h"

namespace anynpu::prof {

namespace {

struct Sessions {
  std::mutex mutex;
  uint64_t last = 0;
  std::map<uint64_t, std::shared_ptr<Session>> running;
};

Sessions& sessions() {
  static auto* one = new Sessions;
  return *one;
}

std::string health_text(const device::DeviceHealth& health) {
  json::Value value;
  value.set("product", health.product);
  const auto set = [&](const char* key, double number) {
    if (number >= 0) value.set(key, number);
  };
  if (!health.bus.empty()) value.set("bus", health.bus);
  set("memory_total", static_cast<double>(health.memory_total));
  set("memory_used", static_cast<double>(health.memory_used));
  set("load_percent", health.load_percent);
  set("temperature_c", health.temperature_c);
  set("power_w", health.power_w);
  return value.dump();
}

void tell(const std::string& text, char* message, size_t bytes) {
  if (!message || bytes == 0) return;
  const size_t length = std::min(text.size(), bytes - 1);
  std::memcpy(message, text.data(), length);
  message[length] = '\0';
}

Result<uint64_t> start(const char* output, uint64_t data_types, uint32_t metrics,
                       const char* settings) {
  SessionConfig config;
  config.output = output ? output : "";
  config.data_types = with_implied(data_types);
  config.metrics = metrics;
  ANYNPU_ASSIGN(const json::Value given,
                json::parse(settings && *settings ? settings : "{}", "settings"));
  if (const json::Object* members = given.object()) {
    for (const auto& [key, value] : *members) {
      if (const std::string* text = value.string()) config.settings[key] = *text;
    }
  }
  if (auto app = config.settings.extract("app")) config.app = app.mapped();
  Sessions& all = sessions();
  const std::lock_guard lock(all.mutex);
  if (!claim(Owner::framework)) {
    return fail(Code::bad_call_order,
                "profiling is controlled by {}; the two ways exclude each other: end that first",
                name_of(owner()));
  }
  auto session = Session::start(config);
  if (!session.ok()) {
    if (all.running.empty()) release(Owner::framework);
    return session.status();
  }
  all.running[++all.last] = std::move(*session);
  return all.last;
}

Status stop(uint64_t number) {
  Sessions& all = sessions();
  const std::lock_guard lock(all.mutex);
  const auto found = all.running.find(number);
  if (found == all.running.end()) {
    return fail(Code::not_found, "no session has the number {}; it was stopped already", number);
  }
  Status status = found->second->stop();
  all.running.erase(found);
  if (all.running.empty()) release(Owner::framework);
  return status;
}

trace::NameId name_or_none(const char* text) { return text ? trace::intern(text) : 0; }

Status mark_stream(const char* text, const char* domain, uint64_t handle) {
  ANYNPU_ASSIGN(const auto stream, device::Runtime::instance().stream(handle));
  return mark_ex({name_or_none(text), name_or_none(domain)}, *stream);
}

}  // namespace

}  // namespace anynpu::prof

using namespace anynpu;

uint32_t anynpu_crc32c(const void* data, size_t bytes) {
  return crc32c({static_cast<const std::byte*>(data), bytes});
}

uint64_t anynpu_prof_start(const char* output, uint64_t data_types, uint32_t metrics,
                           const char* settings, char* message, size_t message_bytes) {
  const auto started = prof::start(output, data_types, metrics, settings);
  if (started.ok()) return *started;
  prof::tell(started.status().to_string(), message, message_bytes);
  return 0;
}

int anynpu_prof_taken(void) {
  const prof::Owner owner = prof::owner();
  return owner != prof::Owner::nobody && owner != prof::Owner::framework ? 1 : 0;
}

const char* anynpu_prof_path(uint64_t session) {
  prof::Sessions& all = prof::sessions();
  const std::lock_guard lock(all.mutex);
  const auto found = all.running.find(session);
  return found == all.running.end() ? "" : found->second->path().c_str();
}

int anynpu_device_health(int32_t device, char* text, size_t text_bytes) {
  const auto found = device::Runtime::instance().device(device);
  const Status status = found.ok() ? Status() : found.status();
  const std::string shown = status.ok() ? prof::health_text(device::health_of(**found)) : "";
  prof::tell(status.ok() ? shown : status.to_string(), text, text_bytes);
  return status.ok() ? 0 : 1;
}

int anynpu_prof_stop(uint64_t session, char* message, size_t message_bytes) {
  const Status status = prof::stop(session);
  if (status.ok()) return 0;
  prof::tell(status.to_string(), message, message_bytes);
  return 1;
}

void anynpu_prof_mark(const char* text, const char* domain) {
  if (prof::stamps_on()) prof::mark({prof::name_or_none(text), prof::name_or_none(domain)});
}

int anynpu_prof_mark_ex(const char* text, const char* domain, uint64_t stream, char* message,
                        size_t message_bytes) {
  if (!prof::stamps_on()) return 0;
  const Status status = prof::mark_stream(text, domain, stream);
  if (status.ok()) return 0;
  prof::tell(status.to_string(), message, message_bytes);
  return 1;
}

uint32_t anynpu_prof_range_start(const char* text, const char* domain) {
  if (!prof::stamps_on()) return 0;
  return prof::start_range({prof::name_or_none(text), prof::name_or_none(domain)});
}

int anynpu_prof_range_stop(uint32_t range) { return prof::stop_range(range).ok() ? 0 : 1; }

int anynpu_prof_marks_on(void) { return prof::stamps_on() ? 1 : 0; }
