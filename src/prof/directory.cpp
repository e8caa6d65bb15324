// SPDX-License-Identifier: Apache-2.0
#include "prof/directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <thread>

#include "base/clock.h"
#include "base/format.h"
#include "base/log.h"
#include "base/soc.h"
#include "base/text.h"
#include "base/ticks.h"
#include "base/whole_file.h"
#include "prof/calendar.h"

namespace anynpu::prof {

namespace {

std::string padded(uint64_t number, int width) { return format("{:0{}}", number, width); }

// Eight letters from A to R, so that names of one millisecond differ.
std::string random_letters() {
  std::random_device source;
  std::string letters;
  for (int i = 0; i < 8; ++i) letters += static_cast<char>('A' + source() % 18);
  return letters;
}

std::string cpu_name() {
  std::FILE* file = std::fopen("/proc/cpuinfo", "re");
  if (!file) return "";
  char line[256];
  std::string name;
  while (name.empty() && std::fgets(line, sizeof line, file)) {
    const std::string_view text(line);
    if (!text.starts_with("model name")) continue;
    const size_t colon = text.find(": ");
    if (colon != std::string_view::npos) name = text.substr(colon + 2);
    while (!name.empty() && name.back() == '\n') name.pop_back();
  }
  std::fclose(file);
  return name;
}

// Of the counter that stamps events, in MHz.
std::string counter_frequency() {
  const auto hertz = static_cast<uint64_t>(1e9 / tick_scale().ns_per_tick());
  return format("{}.{:06}", hertz / 1'000'000, hertz % 1'000'000);
}

json::Value info(const DirectoryFacts& facts) {
  utsname system{};
  uname(&system);
  struct sysinfo memory {};
  sysinfo(&memory);
  std::string devices;
  json::Array about;
  for (int32_t id : facts.devices) {
    devices += (devices.empty() ? "" : ",") + std::to_string(id);
    json::Value device;
    device.set("id", id);
    device.set("env_type", 0);
    device.set("ctrl_cpu_endian_little", 1);
    device.set("aic_frequency", "N/A");
    about.push_back(std::move(device));
  }
  json::Value cpu;
  cpu.set("Id", 0);
  cpu.set("Name", cpu_name());
  cpu.set("Logical_CPU_Count", static_cast<int64_t>(std::thread::hardware_concurrency()));
  cpu.set("Type", system.machine);
  cpu.set("Frequency", counter_frequency());
  json::Value out;
  out.set("jobInfo", facts.app);
  out.set("devices", devices);
  out.set("CPU", json::Array{std::move(cpu)});
  out.set("DeviceInfo", std::move(about));
  out.set("platform_version", "AnyNPU");
  out.set("pid", std::to_string(getpid()));
  out.set("pid_name", facts.app);
  out.set("OS", std::string(system.sysname) + " " + system.release);
  out.set("hostname", system.nodename);
  out.set("memoryTotal", static_cast<uint64_t>(memory.totalram) * memory.mem_unit / 1024);
  return out;
}

std::string start_info(uint64_t calendar, uint64_t raw) {
  json::Value out;
  out.set("collectionTimeBegin", std::to_string(calendar / 1000));
  out.set("clockMonotonicRaw", std::to_string(raw));
  return out.dump(2) + "\n";
}

std::string end_info(uint64_t calendar, uint64_t raw) {
  json::Value out;
  out.set("collectionTimeEnd", std::to_string(calendar / 1000));
  out.set("clockMonotonicRaw", std::to_string(raw));
  return out.dump(2) + "\n";
}

std::string start_log(const char* section) {
  return format("[{}]\nclock_monotonic_raw: {}\ncntvct: {}\ncntvct_diff: 0\n", section,
                raw_clock_ns(), read_clock_pair().ticks);
}

}  // namespace

std::string date_digits(uint64_t calendar) {
  const auto seconds = static_cast<time_t>(calendar / 1'000'000'000u);
  tm parts{};
  localtime_r(&seconds, &parts);
  char text[40];
  const size_t length = std::strftime(text, sizeof text, "%Y%m%d%H%M%S", &parts);
  return std::string(text, length) + padded(calendar / 1'000'000u % 1000, 3);
}

Status make_folders(const std::string& path) {
  for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
    const std::string part = path.substr(0, at);
    if (!part.empty() && ::mkdir(part.c_str(), 0750) != 0 && errno != EEXIST) {
      return fail(Code::io_error, "the folder '{}' cannot be made: {}; choose one that can be",
                  part, std::string(strerror(errno)));
    }
    if (at == std::string::npos) break;
  }
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return {};
  return fail(Code::io_error, "'{}' is no folder; choose a folder for the profile", path);
}

Status write_text(const std::string& path, const std::string& text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  return write_file_atomically(path, {&bytes, 1}, Durability::unsynced);
}

Status make_output_folder(const std::string& path) {
  ANYNPU_TRY(make_folders(path));
  if (::access(path.c_str(), W_OK | X_OK) == 0) return {};
  return fail(Code::io_error, "'{}' may not be written in: {}; choose another folder", path,
              std::string(strerror(errno)));
}

Result<Directory> Directory::create(const DirectoryFacts& facts) {
  ANYNPU_TRY(make_output_folder(facts.parent));
  Directory made;
  made.begin_calendar_ns_ = calendar_ns();
  made.begin_raw_ns_ = raw_clock_ns();
  made.devices_ = facts.devices;
  made.path_ = format("{}/PROF_{}_{}_{}{}", facts.parent, padded(facts.index, 6),
                      date_digits(made.begin_calendar_ns_),
                      padded(static_cast<uint64_t>(getpid()), 8), random_letters());
  if (Status status = made.fill(facts); !status.ok()) {
    made.remove();
    return status;
  }
  return made;
}

void Directory::remove() {
  std::error_code ignored;  // what cannot be removed stays
  std::filesystem::remove_all(path_, ignored);
}

Status Directory::fill(const DirectoryFacts& facts) {
  info_ = info(facts).dump(2) + "\n";
  sample_ = facts.sample.dump(2) + "\n";
  const std::string begin = start_info(begin_calendar_ns_, begin_raw_ns_);
  const std::string host = path_ + "/host";
  ANYNPU_TRY(make_folders(host + "/data"));
  ANYNPU_TRY(write_text(host + "/info.json", info_));
  ANYNPU_TRY(write_text(host + "/sample.json", sample_));
  ANYNPU_TRY(write_text(host + "/start_info", begin));
  ANYNPU_TRY(write_text(host + "/host_start.log", start_log("Host")));
  for (int32_t id : devices_) ANYNPU_TRY(fill_device(id));
  return {};
}

Status Directory::fill_device(int32_t id) const {
  const std::string number = std::to_string(id);
  const std::string device = path_ + "/device_" + number;
  ANYNPU_TRY(make_folders(device + "/data"));
  ANYNPU_TRY(write_text(device + "/info.json." + number, info_));
  ANYNPU_TRY(write_text(device + "/sample.json", sample_));
  ANYNPU_TRY(
      write_text(device + "/start_info." + number, start_info(begin_calendar_ns_, begin_raw_ns_)));
  ANYNPU_TRY(write_text(device + "/host_start.log." + number, start_log("Host")));
  return write_text(device + "/dev_start.log." + number, start_log(("Device" + number).c_str()));
}

Status Directory::add_device(int32_t id) {
  if (contains(devices_, id)) return {};
  ANYNPU_TRY(fill_device(id));
  devices_.push_back(id);
  return {};
}

Status Directory::describe_device(int32_t id, const std::string& text) {
  return write_text(format("{}/device_{}/anynpu_device.json", path_, id), text);
}

Status Directory::finish() {
  const std::string end = end_info(calendar_ns(), raw_clock_ns());
  ANYNPU_TRY(write_text(path_ + "/host/end_info", end));
  for (int32_t id : devices_) {
    ANYNPU_TRY(write_text(format("{}/device_{}/end_info.{}", path_, id, id), end));
  }
  return {};
}

}  // namespace anynpu::prof
