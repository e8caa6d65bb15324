// SPDX-License-Identifier: Apache-2.0
// What src/npc/kernel_watch.cpp finds in kernels of NPC clusters while they run.
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/text.h"
#include "check/call.h"
#include "check/report.h"

namespace anynpu::check {

namespace {

// Lines "file<tab>line<tab>function".
Site kernel_site(std::string_view text) {
  Stack stack;
  for (const std::string_view line : split(text, '\n')) {
    const auto cells = split(line, '\t');
    if (cells.size() != 3) continue;
    stack.push_back({std::string(cells[0]),
                     std::strtoull(std::string(cells[1]).c_str(), nullptr, 10),
                     std::string(cells[2])});
  }
  return std::make_shared<const Stack>(std::move(stack));
}

}  // namespace

}  // namespace anynpu::check

extern "C" __attribute__((visibility("default"))) void anynpu_check_kernel_finding(
    const char* kind, const char* message, const char* frames) {
  using namespace anynpu::check;
  if (is_on()) report({kind, message, {{"in the kernel", kernel_site(frames)}}});
}
