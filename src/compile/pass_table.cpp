// SPDX-License-Identifier: Apache-2.0
#include "compile/pass_table.h"

#include <array>
#include <type_traits>

#include "base/progress.h"
#include "compile/pass_switch.h"

namespace anynpu::compile {

namespace {

template <auto pass>
Status run_pass(graph::Graph& graph, const NodeFilter& keep) {
  if constexpr (std::is_invocable_v<decltype(pass), graph::Graph&, const NodeFilter&>) {
    return pass(graph, keep);
  } else {
    return pass(graph);
  }
}

constexpr auto kPasses = std::to_array<Pass>({
#define X(name, shapes, off, does) \
  {#name, run_pass<&name>, PassShapes::shapes, PassSwitch::off, does},
#include "compile/passes.def"
#undef X
});

}  // namespace

std::span<const Pass> pass_table() { return kPasses; }

Status run_passes(graph::Graph& graph, PassShapes shapes,
                  const std::vector<std::string>& passes_off, const NodeFilter& keep) {
  Progress progress("optimising", kPasses.size(), "passes");
  for (const Pass& pass : kPasses) {
    if (pass.shapes == shapes && is_on(passes_off, pass.name)) ANYNPU_TRY(pass.run(graph, keep));
    progress.step();
  }
  return {};
}

}  // namespace anynpu::compile
