// SPDX-License-Identifier: Apache-2.0
#include "device/device_list.h"

#include <algorithm>
#include <charconv>

#include "base/env.h"
#include "base/text.h"
#include "device/cpu/cpu_device.h"

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
  int32_t count = 0;
  const std::string all(wanted);
  while (!wanted.empty()) {
    const std::string_view entry = next_entry(wanted);
    const std::string_view kind = entry.substr(0, entry.find(':'));
    const int32_t number =
        kind.size() == entry.size() ? 1 : number_in(entry.substr(kind.size() + 1));
    if (kind == "cpu" && number >= 0 && count + number <= kMostDevices) {
      count += number;
    } else if (kind == "cuda") {
      list.problem =
          format("ANYNPU_DEVICES='{}': '{}' is left out, because this build has no CUDA plug-in",
                 all, entry);
    } else {
      list.problem = format(
          "ANYNPU_DEVICES='{}': '{}' is left out; expected cpu:N (N up to {} in all) or cuda:N",
          all, entry, kMostDevices);
    }
  }
  std::vector<int32_t> ids;
  if (visible && !visible->empty()) {
    ids = visible_ids(*visible, count);
  } else {
    for (int32_t i = 0; i < count; ++i) ids.push_back(i);
  }
  const auto bytes = static_cast<size_t>(env::integer(env::Name::device_memory));
  for (size_t i = 0; i < ids.size(); ++i) {
    list.devices.push_back(std::make_shared<CpuDevice>(static_cast<int32_t>(i), ids[i], bytes));
  }
  return list;
}

}  // namespace anynpu::device
