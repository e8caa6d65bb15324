// SPDX-License-Identifier: Apache-2.0
// atc: the model converter, with the vendor's options, lines and exit codes.
#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/log.h"
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

Status run(const anynpu::CommandLine& line, const std::string& command) {
  ANYNPU_TRY(set_log(line.get("log")));
  ANYNPU_TRY(anynpu::atc::check_refused(line));
  for (const std::string& name : anynpu::atc::without_effect(line)) {
    ANYNPU_LOG(info, "--{} has no effect off the card", name);
  }
  ANYNPU_ASSIGN(const auto work, anynpu::atc::plan_conversion(line, command));
  return anynpu::compile::convert(work);
}

int report(const Status& status) {
  if (status.ok()) {
    std::puts(kSuccess);
    return 0;
  }
  std::fprintf(stderr, "ATC: %s\n", status.to_string().c_str());
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
  std::puts("ATC start working now, please wait for a moment.");
  std::fflush(stdout);
  return report(line.ok() ? run(*line, command) : line.status());
}
