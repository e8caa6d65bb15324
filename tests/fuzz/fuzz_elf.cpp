// SPDX-License-Identifier: Apache-2.0
// Any bytes as a device program: linked, its debug information read, its kernels interpreted for a
// few thousand instructions on two cores.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "npc/cluster.h"
#include "npc/module.h"

namespace {

using namespace anynpu;

npc::Cluster& cluster() {
  static npc::Cluster* made = [] {
    setenv("ANYNPU_NPC_INTERPRET", "1", 1);
    auto found = npc::Cluster::get(0);
    if (!found.ok()) std::abort();
    return *found;
  }();
  return *made;
}

void launch(const npc::Module& module, const std::string& kernel, uint32_t buffer) {
  npc::LaunchRequest request;
  request.kernel = kernel;
  request.args = {buffer, 9};
  request.core_num = 2;
  request.budget = 5000;
  request.print = [](int, std::string_view) {};
  npc::LaunchStats stats;
  const Status status = cluster().launch(module, request, &stats);
  if (!status.ok() && status.message().empty()) std::abort();  // every failure has a sentence
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const uint32_t buffer = cluster().allocate(4096).value();
  const size_t before = cluster().free_bytes();
  {
    const auto module = npc::Module::load(cluster(), std::as_bytes(std::span(data, size)));
    if (module.ok()) {
      size_t count = 0;
      for (const std::string& kernel : (*module)->kernels()) {
        if (++count > 4) break;
        launch(**module, kernel, buffer);
      }
    }
  }
  if (cluster().free_bytes() != before) std::abort();  // memory of modules comes back
  return 0;
}
