// SPDX-License-Identifier: Apache-2.0
#include "device/device_list.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/env.h"
#include "base/text.h"
#include "device/backend.h"

namespace anynpu::device {

namespace {

constexpr int32_t kMostDevices = 64;

// A decimal number that makes up the whole text; -1 for anything else.
int32_t number_in(std::string_view text) {
  int32_t value = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

std::string_view next_entry(std::string_view& list) {
  const size_t comma = list.find(',');
  std::string_view entry = list.substr(0, comma);
  list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  return entry;
}

// One device of the list, before ASCEND_RT_VISIBLE_DEVICES.
struct Listed {
  const Backend* backend;
  int32_t unit;
};

// Adds the devices of one entry, "cpu:8" or "cuda:0"; says what is wrong with it otherwise.
std::string add_entry(std::string_view entry, std::vector<Listed>& listed) {
  const std::string_view name = entry.substr(0, entry.find(':'));
  const bool plain = name.size() == entry.size();
  const int32_t number = plain ? -1 : number_in(entry.substr(name.size() + 1));
  const auto backend = find_backend(name);
  if (!backend.ok() && name == "cuda") return ", because this build has no CUDA plug-in";
  const bool units = backend.ok() && (*backend)->number == Backend::Number::unit;
  const int32_t count = units || plain ? 1 : number;
  if (!backend.ok() || (!plain && number < 0) ||
      static_cast<int64_t>(listed.size()) + count > kMostDevices) {
    return format("; expected cpu:N (N up to {} in all) or cuda:N", kMostDevices);
  }
  for (int32_t i = 0; i < count; ++i) {
    listed.push_back({*backend, units ? std::max(number, 0) : i});
  }
  return {};
}

}  // namespace

std::vector<int32_t> visible_ids(std::string_view visible, int32_t count) {
  std::vector<int32_t> ids;
  while (!visible.empty()) {
    const int32_t id = number_in(next_entry(visible));
    const bool repeated = contains(ids, id);
    if (id < 0 || id >= count || repeated) break;  // the guide: only what stands before counts
    ids.push_back(id);
  }
  return ids;
}

DeviceList list_devices(std::string_view wanted, const std::optional<std::string>& visible) {
  DeviceList list;
  std::vector<Listed> listed;
  const std::string all(wanted);
  while (!wanted.empty()) {
    const std::string_view entry = next_entry(wanted);
    const std::string wrong = add_entry(entry, listed);
    if (wrong.empty()) continue;
    list.problem = format("ANYNPU_DEVICES='{}': '{}' is left out{}", all, entry, wrong);
  }
  const auto count = static_cast<int32_t>(listed.size());
  std::vector<int32_t> ids(listed.size());
  std::iota(ids.begin(), ids.end(), 0);
  if (visible && !visible->empty()) ids = visible_ids(*visible, count);
  const auto bytes = static_cast<size_t>(env::integer(env::Name::device_memory));
  for (const int32_t physical : ids) {
    const Listed& one = listed[static_cast<size_t>(physical)];
    const auto id = static_cast<int32_t>(list.devices.size());
    auto device = one.backend->create({id, physical, one.unit, bytes});
    if (device.ok()) {
      list.devices.push_back(std::move(*device));
    } else {
      list.problem = format("ANYNPU_DEVICES='{}': {}:{} is left out, because {}", all,
                            one.backend->name, one.unit, device.status().to_string());
    }
  }
  return list;
}

}  // namespace anynpu::device
