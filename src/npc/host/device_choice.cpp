// SPDX-License-Identifier: Apache-2.0
#include "npc/host/device_choice.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/text.h"

namespace anynpu::npc {

namespace {

// -1 for text that is no number.
int parse_id(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  int id = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  return error == std::errc() && end == text.data() + text.size() ? id : -1;
}

}  // namespace

std::vector<int> chosen_clusters(const std::optional<std::string>& set_devices, int clusters) {
  std::vector<int> chosen;
  if (!set_devices || set_devices->find(',') == std::string::npos) {
    const int first = set_devices ? parse_id(*set_devices) : 0;
    for (int id = first; first >= 0 && id < clusters; ++id) chosen.push_back(id);
    return chosen;
  }
  for (std::string_view word : split(*set_devices, ',')) {
    const int id = parse_id(word);
    if (id < 0 || id >= clusters || contains(chosen, id)) break;
    chosen.push_back(id);
  }
  return chosen;
}

}  // namespace anynpu::npc
