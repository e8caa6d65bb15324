// SPDX-License-Identifier: Apache-2.0
// What a trap costs before it names its line: the debug information of a kernel with one inlined
// call, read and asked (docs/decisions/0014-dwarf-reader.md). The target is what LLVM's reader
// takes for its first context.
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "../harness.h"
#include "npc/cluster.h"
#include "npc/debug_info.h"
#include "npc/image.h"
#include "npc/line_table.h"
#include "npc/module.h"

namespace anynpu::bench {
namespace {

constexpr char kSource[] = R"(
static inline void store(int* data, int value) { data[value & 7] = value; }
extern "C" void kernel(int* data, int value) { store(data, value + 1); }
)";

// A device object with debug information; empty when the toolchain is missing.
std::vector<std::byte> compile() {
  std::string folder = (std::filesystem::temp_directory_path() / "npc-debug-XXXXXX").string();
  if (!mkdtemp(folder.data())) return {};
  std::ofstream(folder + "/kernel.cc") << kSource;
  const std::string command = "cd " + folder +
                              " && " ANYNPU_STC_BIN
                              "/stc-clang++ -O2 -g -c kernel.cc && " ANYNPU_STC_BIN
                              "/stc-ld.lld kernel.o /usr/local/hpe/riscv32npu/lib/libnpurt_hld.a "
                              "-r -o device.o";
  std::vector<std::byte> object;
  if (std::system(command.c_str()) == 0) {
    std::ifstream in(folder + "/device.o", std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    object.resize(bytes.size());
    std::memcpy(object.data(), bytes.data(), bytes.size());
  }
  std::filesystem::remove_all(folder);
  return object;
}

ANYNPU_BENCH(npc_debug_info) {
  constexpr const char* kWhat = "debug information of a kernel: read, line and inlined call found";
  const auto object = compile();
  if (object.empty()) return report.skip(kWhat, "stc-clang++ is missing");
  auto cluster = npc::Cluster::get(0);
  if (!cluster.ok()) return report.skip(kWhat, cluster.status().to_string());
  const auto module = npc::Module::load(**cluster, object);
  if (!module.ok()) return report.skip(kWhat, module.status().to_string());
  const npc::Image& image = (*module)->image();
  const auto read_and_ask = [&] {
    const npc::LineTable lines = npc::LineTable::read(image);
    const npc::DebugInfo info = npc::DebugInfo::read(image);
    for (uint32_t at = image.code_base; at < image.code_base + image.code_bytes; at += 2) {
      const auto inlined = info.inlined_at(at);
      if (inlined.empty()) continue;
      keep(inlined);
      keep(lines.find(at));
      return;
    }
  };
  report.add({kWhat, 170, "us", value_of([&] { return ns_per_call(20, read_and_ask) / 1e3; }), ""});
}

}  // namespace
}  // namespace anynpu::bench
