// SPDX-License-Identifier: Apache-2.0
// y = epilogue(a * b) in blocks: how b is packed, and how the work is tiled into tasks so that data
// that is read again is still in the L2 cache. gemm/gemm_amx.cpp and conv/conv_amx.cpp say where
// the rows of a are and where results go.
#pragma once

#include <algorithm>

#include "base/align.h"
#include "ops/amx/tiles.h"
#include "ops/kernel.h"
#include "ops/parallel.h"

namespace anynpu::ops::amx {

// Packed b: [panel][step][2][16 pairs][16 columns][2] (VNNI pairs); k and n padded with zeros.
struct PackedB {
  int64_t k = 0, n = 0;
  int64_t spare_steps = 0;  // between panels

  int64_t steps() const { return ceil_div(k, kDepth); }
  int64_t panels() const { return ceil_div(n, kPanel); }
  int64_t panel_elements() const { return (steps() + spare_steps) * kStepElements; }
  int64_t panel_bytes() const { return panel_elements() * static_cast<int64_t>(sizeof(BF16)); }
  int64_t elements() const { return panels() * panel_elements(); }

  // `at(k, column)` is the element.
  template <typename At>
  void pack_panel(int64_t panel, const At& at, BF16* packed) const {
    BF16* to = packed + panel * panel_elements();
    for (int64_t step = 0; step < steps(); ++step) {
      for (int64_t half = 0; half < 2; ++half) {
        const int64_t first = panel * kPanel + half * kRows;
        for (int64_t row = step * kDepth; row < (step + 1) * kDepth; row += 2) {
          for (int64_t column = first; column < first + kRows; ++column) {
            const bool there = column < n;
            *to++ = there && row < k ? at(row, column) : BF16{};
            *to++ = there && row + 1 < k ? at(row + 1, column) : BF16{};
          }
        }
      }
    }
  }
  // Packs a matrix whose rows are `row_step` elements apart.
  void pack_rows(const Engine& engine, int64_t panel, const BF16* from, int64_t row_step,
                 BF16* packed) const;
  // Packs a transposed matrix: columns are `column_step` elements apart.
  void pack_lines(int64_t panel, const BF16* from, int64_t column_step, BF16* packed) const;
};

// How the product is tiled into tasks: rows and column panels of each.
struct TaskTiling {
  int64_t m = 0, panels = 0;  // of the product
  int64_t rows = 0;           // of a task: whole panels
  int64_t task_panels = 0;    // of columns of a task
  bool columns_outside = false;

  int64_t row_tasks() const { return ceil_div(m, rows); }
  int64_t column_tasks() const { return ceil_div(panels, task_panels); }
  int64_t tasks() const { return row_tasks() * column_tasks(); }
  // The first row of a task and the end of its rows; tasks of the same columns follow each other.
  int64_t first_row(int64_t task) const { return task % row_tasks() * rows; }
  int64_t end_row(int64_t task) const { return std::min(m, first_row(task) + rows); }
  int64_t first_panel(int64_t task) const { return task / row_tasks() * task_panels; }
  int64_t end_panel(int64_t task) const {
    return std::min(panels, first_panel(task) + task_panels);
  }
};

// `row_bytes`: bytes of a that a task reads per row. Threads that share columns both read all of b,
// threads that share rows all of a; results do not depend on the choice.
inline TaskTiling tile_work(const PackedB& right, int64_t m, int64_t row_bytes, int64_t threads) {
  constexpr int64_t kLeftBytes = 512 << 10, kRightBytes = 768 << 10;
  constexpr int64_t kFewPanels = 4;  // arranging the left side costs as much as two of them
  TaskTiling tiling;
  tiling.m = m;
  tiling.panels = std::max<int64_t>(1, right.panels());
  const int64_t row_panels = std::max<int64_t>(1, ceil_div(m, kPanel));
  const int64_t most = std::max<int64_t>(1, kLeftBytes / std::max<int64_t>(1, row_bytes * kPanel));
  const bool large_right = right.panel_bytes() * tiling.panels > kRightBytes;
  int64_t wanted = 2 * threads;
  if (large_right || row_panels < threads) {
    const int64_t parts = tiling.panels >= wanted * kFewPanels ? wanted : threads;
    tiling.task_panels = ceil_div(tiling.panels, std::min(parts, tiling.panels));
    wanted = ceil_div(wanted, ceil_div(tiling.panels, tiling.task_panels));
  } else {
    tiling.task_panels = tiling.panels;
  }
  tiling.rows = std::min(most, ceil_div(row_panels, std::min(wanted, row_panels))) * kPanel;
  if (large_right && threads == 1) tiling.rows = std::min(most, row_panels) * kPanel;
  tiling.columns_outside = large_right;
  return tiling;
}

// Calls body(task, scratch) for every task, with the scratch of its thread.
template <typename Body>
void run_tasks(int64_t tasks, const KernelPlan& plan, const RunArgs& args, const Body& body) {
  // Without scratch there are no slots that could run out.
  const size_t threads = plan.thread_scratch_count > 0 ? plan.thread_scratch_count : SIZE_MAX;
  parallel_slots(threads, static_cast<size_t>(tasks), [&](size_t task, size_t slot) {
    body(static_cast<int64_t>(task), plan.thread_scratch(args, slot));
  });
}

}  // namespace anynpu::ops::amx
