// SPDX-License-Identifier: Apache-2.0
// y = finish(a * b) in blocks: how the work is cut into tasks and chunks of k, so that what is read
// again lies in the second-level cache, and the packing of both sides. gemm.cpp and conv.cpp say
// where the elements of a are and where results go.
#pragma once

#include <algorithm>
#include <atomic>

#include "ops/amx/tiles.h"
#include "ops/parallel.h"

namespace anynpu::ops::amx {

// Right sides: [panel][step][2][16 pairs][16 columns][2]; k and n padded with zeros.
struct RightSide {
  int64_t k = 0, n = 0;

  int64_t steps() const { return (k + kDepth - 1) / kDepth; }
  int64_t panels() const { return (n + kPanel - 1) / kPanel; }
  int64_t panel_elements() const { return steps() * kStepElements; }
  int64_t elements() const { return panels() * panel_elements(); }

  // `at(k, column)` is the element.
  template <typename At>
  void pack_panel(int64_t panel, const At& at, BF16* packed) const {
    BF16* out = packed + panel * panel_elements();
    for (int64_t row = 0; row < steps() * kDepth; ++row) {
      for (int64_t j = 0; j < kPanel; ++j) {
        const int64_t column = panel * kPanel + j;
        BF16* to = out + row / kDepth * kStepElements + j / kRows * kRows * kDepth;
        to[row % kDepth / 2 * kDepth + j % kRows * 2 + row % 2] =
            row < k && column < n ? at(row, column) : BF16{};
      }
    }
  }
};

// Where element (row of a panel, k of a chunk) of a left side lies: [step][2][16 rows][32].
inline int64_t left_offset(int64_t row, int64_t k) {
  return k / kDepth * kStepElements + row * kDepth + k % kDepth;
}

struct Product {
  const Engine* engine = nullptr;
  RightSide right;
  int64_t m = 0;
  int64_t rows = 0;         // of a task: whole panels
  int64_t panels = 0;       // of columns of a task
  int64_t chunk_steps = 0;  // of k that are packed and multiplied at a time

  // Cuts the work for `threads` threads. The bytes of a result depend on chunk_steps alone, and
  // that on k alone.
  static Product cut(const Engine& engine, const RightSide& right, int64_t m, int64_t batch,
                     int64_t threads) {
    constexpr int64_t kRowsOfTask = 256, kPanelsOfTask = 8;
    constexpr int64_t kOneChunk = 32, kChunk = 16;  // steps: 1024 and 512 of k
    Product p{&engine, right, m, kRowsOfTask, std::max<int64_t>(1, right.panels()), 0};
    p.chunk_steps = right.steps() <= kOneChunk ? std::max<int64_t>(1, right.steps()) : kChunk;
    if (!p.one_chunk()) p.panels = std::min(p.panels, kPanelsOfTask);
    p.rows = std::min(p.rows, (std::max<int64_t>(1, m) + kPanel - 1) / kPanel * kPanel);
    while (batch * p.tasks() < 2 * threads && (p.panels > 2 || p.rows > kPanel)) {
      if (p.panels > 2) {
        p.panels = (p.panels + 1) / 2;
      } else {
        p.rows = (p.rows / kPanel + 1) / 2 * kPanel;
      }
    }
    return p;
  }

  bool one_chunk() const { return right.steps() <= chunk_steps; }
  int64_t row_tasks() const { return (m + rows - 1) / rows; }
  int64_t column_tasks() const { return (right.panels() + panels - 1) / panels; }
  int64_t tasks() const { return row_tasks() * column_tasks(); }
  // Workspace of a thread, in bytes: the packed left side, then the sums. With one chunk, results
  // are finished panel by panel.
  int64_t left_bytes() const { return rows * chunk_steps * kDepth * 2; }
  int64_t scratch_bytes() const {
    return left_bytes() + rows * (one_chunk() ? 1 : panels) * kPanel * 4;
  }

  // pack(row, rows, k, packed): rows [row, row + rows) of a, its chunk from k on, as one panel.
  // finish(row, column, sums): 16 sums of one row.
  template <typename Pack, typename Put>
  void run(int64_t task, const BF16* b, std::byte* scratch, const Pack& pack,
           const Put& put) const {
    const int64_t first = task % row_tasks() * rows, last = std::min(m, first + rows);
    const int64_t panel = task / row_tasks() * panels;
    const int64_t end = std::min(right.panels(), panel + panels);
    const int64_t row_panels = (last - first + kPanel - 1) / kPanel;
    Job job;
    BF16* left = reinterpret_cast<BF16*>(scratch);
    job.a = left;
    job.b_panel = right.panel_elements();
    job.row_panels = row_panels;
    job.sums = reinterpret_cast<float*>(scratch + left_bytes());
    for (int64_t step = 0; step < right.steps(); step += chunk_steps) {
      job.steps = std::min(chunk_steps, right.steps() - step);
      job.first = step == 0;
      for (int64_t i = 0; i < row_panels; ++i) {
        const int64_t row = first + i * kPanel;
        BF16* packed = left + i * job.steps * kStepElements;
        std::fill(packed, packed + job.steps * kStepElements, BF16{});
        pack(row, std::min(kPanel, last - row), step * kDepth,
             std::min(right.k - step * kDepth, job.steps * kDepth), packed);
      }
      job.b = b + panel * right.panel_elements() + step * kStepElements;
      if (!one_chunk()) {
        job.column_panels = end - panel;
        engine->multiply(job);
      }
    }
    for (int64_t p = panel; p < end; ++p) {
      const float* sums = job.sums;
      if (one_chunk()) {
        job.b = b + p * right.panel_elements();
        job.column_panels = 1;
        engine->multiply(job);
      } else {
        sums += (p - panel) * row_panels * kBlockSums;
      }
      for (int64_t row = first; row < last; ++row) {
        const int64_t at = row - first, tile = at / kRows * 2;
        for (int64_t half = 0; half < 2 && p * kPanel + half * kRows < right.n; ++half) {
          put(row, p * kPanel + half * kRows,
              sums + (tile + half) * kRows * kRows + at % kRows * kRows);
        }
      }
    }
  }
};

// body(task, scratch) for every task, with a piece of workspace per thread.
template <typename Body>
void run_tasks(int64_t tasks, std::byte* scratch, int64_t scratch_bytes, const Body& body) {
  std::atomic<int64_t> next{0};
  parallel(ThreadPool::instance().threads(), 1, [&](size_t slot, size_t) {
    std::byte* own = scratch + static_cast<int64_t>(slot) * scratch_bytes;
    for (int64_t task; (task = next.fetch_add(1, std::memory_order_relaxed)) < tasks;) {
      body(task, own);
    }
  });
}

}  // namespace anynpu::ops::amx
