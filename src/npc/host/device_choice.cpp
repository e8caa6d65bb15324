// SPDX-License-Identifier: Apache-2.0
#include "npc/host/device_choice.h"

#include <algorithm>
#include <charconv>
#include <string_view>

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
  std::string_view rest = *set_devices;
  for (bool more = true; more;) {
    const size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const int id = parse_id(rest.substr(0, comma));
    const bool repeated = std::find(chosen.begin(), chosen.end(), id) != chosen.end();
    if (id < 0 || id >= clusters || repeated) break;
    chosen.push_back(id);
    if (more) rest.remove_prefix(comma + 1);
  }
  return chosen;
}

}  // namespace anynpu::npc
