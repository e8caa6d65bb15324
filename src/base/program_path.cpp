// SPDX-License-Identifier: Apache-2.0
#include "base/program_path.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <vector>

#include "anynpu.h"

namespace anynpu {

namespace {

namespace fs = std::filesystem;

struct Given {
  std::mutex mutex;
  std::string path;
};

Given& given() {
  static auto* g = new Given;
  return *g;
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::string folder_of(const fs::path& file) {
  std::error_code error;
  const fs::path full = fs::weakly_canonical(file, error);
  return error ? std::string() : full.parent_path().string();
}

}  // namespace

std::string script_of(std::string_view cmdline) {
  std::vector<std::string_view> arguments;
  while (!cmdline.empty()) {
    const size_t end = cmdline.find('\0');
    arguments.push_back(cmdline.substr(0, end));
    if (end == std::string_view::npos) break;
    cmdline.remove_prefix(end + 1);
  }
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument.empty() || argument == "-") return {};
    if (argument[0] != '-') return std::string(argument);
    if (argument.starts_with("--")) continue;
    // A group of one-letter options: c and m end them, W and X take the rest or the next argument.
    const size_t at = argument.find_first_of("cmWX", 1);
    if (at == std::string_view::npos) continue;
    if (argument[at] == 'c' || argument[at] == 'm') return {};
    if (at + 1 == argument.size()) ++i;
  }
  return {};
}

void set_program_path(const char* path) {
  // At once: the program may change its current folder later.
  std::error_code error;
  std::string full = path && *path ? fs::absolute(path, error).string() : std::string();
  std::lock_guard lock(given().mutex);
  given().path = std::move(full);
}

std::string program_folder() {
  {
    std::lock_guard lock(given().mutex);
    if (is_file(given().path)) return folder_of(given().path);
  }
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (error) return {};
  if (executable.filename().string().starts_with("python")) {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    const std::string cmdline{std::istreambuf_iterator<char>(file), {}};
    if (const std::string script = script_of(cmdline); !script.empty()) return folder_of(script);
  }
  return executable.parent_path().string();
}

Result<std::string> find_file(std::string_view path) {
  if (path.starts_with('/')) return std::string(path);
  const std::string folder = program_folder();
  if (!folder.empty()) {
    const fs::path beside = fs::path(folder) / path;
    if (is_file(beside)) return beside.string();
  }
  if (is_file(path)) return std::string(path);
  std::error_code error;
  return fail(
      Code::file_not_found,
      "'{}' exists neither in the program's folder '{}' nor in the current one '{}'; correct "
      "the path, or pass nothing for the defaults",
      path, folder, fs::current_path(error).string());
}

}  // namespace anynpu

extern "C" void anynpu_set_program_path(const char* path) { anynpu::set_program_path(path); }
