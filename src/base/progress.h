// SPDX-License-Identifier: Apache-2.0
// How far long work is. The work counts its steps; whoever runs it (atc, the translation of a
// kernel) may show them in a line: what is done, how fast, and how long the rest will take at that
// speed. python/anynpu/terminal.py does the same for programs in Python.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace anynpu {

// One part of the work: `total` steps of `unit` ("nodes"). Tells the innermost ProgressWatch of the
// thread; without one a step is a load and a branch. Of nested parts only the outermost counts.
class Progress {
 public:
  Progress(std::string_view part, uint64_t total, std::string_view unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void step(uint64_t count = 1) {
    done_ += count;
    if (is_outermost_) tell();
  }

  std::string_view part() const { return part_; }
  std::string_view unit() const { return unit_; }
  uint64_t done() const { return done_; }
  uint64_t total() const { return total_; }

 private:
  void tell() const;
  const std::string_view part_, unit_;
  const uint64_t total_;
  uint64_t done_ = 0;
  bool is_outermost_ = false;
};

// While it lives, the parts of work on this thread are shown by `show`.
class ProgressWatch {
 public:
  using Show = std::function<void(const Progress&)>;
  explicit ProgressWatch(Show show);
  ~ProgressWatch();
  ProgressWatch(const ProgressWatch&) = delete;
  ProgressWatch& operator=(const ProgressWatch&) = delete;

 private:
  friend class Progress;
  const Show show_;
  ProgressWatch* const outer_;
  bool busy_ = false;  // a part is under way
};

// A line on `file` (standard error), from two seconds after it was made: redrawn on a terminal, a
// new one every half minute elsewhere, or none (`terminal_only`).
class ProgressLine {
 public:
  ProgressLine(int file, bool terminal_only, uint64_t (*now)() = now_ns);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const Progress& progress);
  // Removes the line from a terminal.
  void clear();

 private:
  const int file_;
  const bool terminal_, silent_;
  uint64_t (*const now_)();
  uint64_t next_;
  std::string part_;  // that is under way
  uint64_t part_begin_ = 0;
  bool drawn_ = false;
};

// "compiling: 1200 of 4000 nodes, 600 a second, 5 s left"
std::string progress_text(const Progress& progress, double seconds);

}  // namespace anynpu
