// SPDX-License-Identifier: Apache-2.0
#include "base/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/format.h"

namespace anynpu {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kQuiet = 2 * kSecond;   // work that is done sooner shows nothing
constexpr uint64_t kRedraw = kSecond / 5;  // on a terminal
constexpr uint64_t kLog = 30 * kSecond;    // elsewhere, so that a log of hours shows life

thread_local ProgressWatch* innermost = nullptr;

void write_text(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written <= 0) return;  // nobody can read it
    text.remove_prefix(static_cast<size_t>(written));
  }
}

// "5 s", "2 min 05 s", "1 h 02 min"
std::string duration_text(double seconds) {
  const auto whole = static_cast<uint64_t>(seconds + 0.5);
  if (whole < 60) return format("{} s", whole);
  if (whole < 3600) return format("{} min {:02} s", whole / 60, whole % 60);
  return format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

Progress::Progress(std::string_view part, uint64_t total, std::string_view unit)
    : part_(part), unit_(unit), total_(total) {
  if (!innermost || std::exchange(innermost->busy_, true)) return;
  is_outermost_ = true;
}

Progress::~Progress() {
  if (is_outermost_ && innermost) innermost->busy_ = false;
}

void Progress::tell() const {
  if (innermost) innermost->show_(*this);
}

ProgressWatch::ProgressWatch(Show show)
    : show_(std::move(show)), outer_(std::exchange(innermost, this)) {}

ProgressWatch::~ProgressWatch() { innermost = outer_; }

ProgressLine::ProgressLine(int file, bool terminal_only, uint64_t (*now)())
    : file_(file),
      terminal_(::isatty(file) == 1),
      silent_(terminal_only && !terminal_),
      now_(now),
      next_(now() + kQuiet) {}

void ProgressLine::show(const Progress& progress) {
  if (silent_) return;
  const uint64_t now = now_();
  if (progress.part() != part_) {
    part_ = progress.part();
    part_begin_ = now;
  }
  if (now < next_) return;
  const double seconds = static_cast<double>(now - part_begin_) / static_cast<double>(kSecond);
  const std::string text = progress_text(progress, seconds);
  write_text(file_, terminal_ ? "\r\033[K" + text : text + "\n");
  drawn_ = true;
  next_ = now + (terminal_ ? kRedraw : kLog);
}

void ProgressLine::clear() {
  if (drawn_ && terminal_) write_text(file_, "\r\033[K");
  drawn_ = false;
}

std::string progress_text(const Progress& progress, double seconds) {
  std::string text = format("{}: {} of {} {}", progress.part(), progress.done(), progress.total(),
                            progress.unit());
  const double rate = static_cast<double>(progress.done()) / std::max(seconds, 1e-9);
  if (seconds <= 0 || rate <= 0) return text;
  text += rate >= 10 ? format(", {} a second", static_cast<uint64_t>(rate))
                     : format(", {} a second", std::round(rate * 100) / 100);
  if (progress.done() >= progress.total()) return text;
  return text +
         format(", {} left",
                duration_text(static_cast<double>(progress.total() - progress.done()) / rate));
}

}  // namespace anynpu
