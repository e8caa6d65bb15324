// SPDX-License-Identifier: Apache-2.0
// The pipeline of rewriting passes as data (passes.def), and what runs it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/passes.h"

namespace anynpu::compile {

enum class PassShapes : uint8_t { unknown, known };
enum class PassSwitch : uint8_t { by_name, always_on };

struct Pass {
  std::string_view name;
  Status (*run)(graph::Graph& graph, const NodeFilter& keep);
  PassShapes shapes;
  PassSwitch off;
  std::string_view does;  // one sentence, for docs/atc.md
};

// All rows of passes.def, in order.
std::span<const Pass> pass_table();

// Runs the passes of one kind that `passes_off` (pass_switch.h) leaves on, in order. Nodes that
// `keep` names are not folded away.
Status run_passes(graph::Graph& graph, PassShapes shapes,
                  const std::vector<std::string>& passes_off, const NodeFilter& keep = {});

}  // namespace anynpu::compile
