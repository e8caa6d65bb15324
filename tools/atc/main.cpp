// SPDX-License-Identifier: Apache-2.0
// atc: the model converter, with the vendor's options, lines and exit codes.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "base/log.h"
#include "base/progress.h"
#include "base/version.h"
#include "modes.h"
#include "options.h"

namespace {

using anynpu::Status;

constexpr const char* kSuccess = "ATC run success, welcome to the next use.";

// --log goes to standard output, in the form of the process log.
Status set_log(const std::string& level) {
  constexpr std::array<std::string_view, 5> levels = {"debug", "info", "warning", "error", "null"};
  for (size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] != level) continue;
    if (level == "null") return {};
    ::setenv("ASCEND_GLOBAL_LOG_LEVEL", std::to_string(i).c_str(), 1);
    ::setenv("ASCEND_SLOG_PRINT_TO_STDOUT", "1", 1);
    anynpu::log::reload();
    return {};
  }
  return anynpu::fail(anynpu::Code::invalid_argument,
                      "--log is '{}'; expected debug, info, warning, error or null", level);
}

// One line that is overwritten while the work goes on; none if stdout is not a terminal.
void show_progress(std::string_view part) {
  if (!::isatty(STDOUT_FILENO)) return;
  std::printf("\r\033[K%.*s%s", static_cast<int>(part.size()), part.data(),
              part.empty() ? "" : " ...");
  std::fflush(stdout);
}

Status convert(const anynpu::CommandLine& line, const std::string& command) {
  ANYNPU_ASSIGN(auto work, anynpu::atc::plan_conversion(line, command));
  anynpu::ProgressLine counts(STDERR_FILENO, false);
  const anynpu::ProgressWatch watch([&](const anynpu::Progress& part) { counts.show(part); });
  work.on_part = show_progress;
  work.on_warning = [&](const std::string& message) {
    counts.clear();
    show_progress("");
    std::fprintf(stderr, "ATC: warning: %s\n", message.c_str());
  };
  Status status = anynpu::compile::convert(work);
  counts.clear();
  show_progress("");
  if (status.code() == anynpu::Code::unsupported_op && line.has("check_report")) {
    bool all_good = false;
    ANYNPU_TRY(anynpu::atc::write_report(line, all_good));
  }
  ANYNPU_TRY(std::move(status));
  return line.get("display_model_info") == "1" ? anynpu::atc::display_model(work.output_path)
                                               : Status{};
}

Status run(const anynpu::CommandLine& line, const std::string& command) {
  using namespace anynpu::atc;
  ANYNPU_TRY(set_log(line.get("log")));
  ANYNPU_TRY(check_refused(line));
  ANYNPU_TRY(check_values(line));
  for (const std::string& name : without_effect(line)) {
    ANYNPU_LOG(info, "--{} has no effect off the card", name);
  }
  if (line.has("singleop")) return convert_single_ops(line, command);
  const std::string mode = line.get("mode");
  if (mode == "0") return convert(line, command);
  if (mode == "1") return write_model_json(line);
  if (mode == "3") return check_model(line);
  if (mode == "5") return write_stage_json(line);
  if (mode == "6" && !line.get("om").empty()) return display_model(line.get("om"));
  if (mode == "6") {
    return anynpu::fail(anynpu::Code::invalid_argument, "--om is missing; --mode=6 needs it");
  }
  if (mode == "30") {
    return anynpu::fail(anynpu::Code::unsupported_feature,
                        "--mode is 30, which makes a program for the card itself; expected 0, 1, "
                        "3, 5 or 6");
  }
  return anynpu::fail(anynpu::Code::invalid_argument, "--mode is '{}'; expected 0, 1, 3, 5 or 6",
                      mode);
}

// Lines of a message that quote a whole file, say, without their middle.
std::string without_long_lines(const std::string& text) {
  constexpr size_t kLongest = 2000, kHead = 1500, kTail = 400;
  std::string shown;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const size_t size = line.size();
    shown += size <= kLongest ? line
                              : line.substr(0, kHead) +
                                    anynpu::format(" ... ({} bytes) ... ", size - kHead - kTail) +
                                    line.substr(size - kTail);
    shown += '\n';
    at = end + 1;
  }
  return shown;
}

int report(const Status& status) {
  if (status.ok()) {
    std::puts(kSuccess);
    return 0;
  }
  std::fprintf(stderr, "ATC: %s", without_long_lines(status.to_string()).c_str());
  std::puts(
      "ATC run failed, please check the message above; try 'atc --help' for more information.");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  std::string command = "atc";
  for (const std::string& arg : args) command += " " + arg;
  auto line = anynpu::CommandLine::parse(anynpu::atc::options(), args);
  if (line.ok() && (line->has("help") || args.empty())) {
    std::fputs(anynpu::atc::help().c_str(), stdout);
    return args.empty() ? 1 : 0;
  }
  if (line.ok() && line->has("version")) {
    std::printf("atc of AnyNPU %.*s\n", static_cast<int>(anynpu::kVersion.size()),
                anynpu::kVersion.data());
    return 0;
  }
  std::puts("ATC start working now, please wait for a moment.");
  std::fflush(stdout);
  try {
    return report(line.ok() ? run(*line, command) : line.status());
  } catch (const std::bad_alloc&) {
    return report(anynpu::fail(anynpu::Code::out_of_memory,
                               "the memory of this process ran out while '{}' was converted; "
                               "raise its limit (ulimit -v), or convert on a machine with more",
                               line->get("model")));
  }
}
