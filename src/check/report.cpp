// SPDX-License-Identifier: Apache-2.0
#include "check/report.h"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "anynpu.h"
#include "base/format.h"
#include "base/quiet_write.h"
#include "check/call.h"
#include "check/guard.h"
#include "check/lifetimes.h"

namespace anynpu::check {

namespace {

struct Known {
  uint64_t number = 0, count = 0, bytes = 0;
};

std::mutex mutex;  // guards what follows
int file = -1;
pid_t process = 0;
std::map<std::string, Known>& known() {
  static auto* map = new std::map<std::string, Known>;
  return *map;
}
std::atomic<bool> on{false};
thread_local uint64_t reported = 0;

std::string plain(const std::string& text) {
  std::string out = text;
  for (char& letter : out) {
    if (letter == '\t' || letter == '\n' || letter == '\r') letter = ' ';
  }
  return out;
}

std::string lines_of(const std::vector<LabeledSite>& places) {
  std::string out;
  for (const LabeledSite& place : places) {
    if (!place.site) continue;
    for (const Frame& frame : *place.site) {
      out += format("frame\t{}\t{}\t{}\t{}\t{}\n", place.label, frame.native ? "native" : "python",
                    plain(frame.file), frame.line, plain(frame.function));
    }
  }
  return out;
}

void write_text(const std::string& text) {
  size_t done = 0;
  const QuietWrite quiet;
  while (file >= 0 && done < text.size()) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count <= 0) return;
    done += static_cast<size_t>(count);
  }
}

int is_hpe(dl_phdr_info* info, size_t, void*) {
  return std::strstr(info->dlpi_name, "/libhpert.so") != nullptr;
}

// HPE calls are not checked; the report says so, because silence would look like a clean result.
void note_what_is_not_checked() {
  if (dl_iterate_phdr(is_hpe, nullptr) == 0) return;
  report({"not-checked",
          "the program uses HPE (libhpert.so): its kernels are checked, its calls are not; "
          "suppress this finding when that is enough",
          {}});
}

void end_of_program() {
  if (!is_on()) return;
  note_what_is_not_checked();
  on.store(false);
  drop_guards();
  report_leaks();
  write_counts();
}

bool take_ending(std::string& text, std::string_view ending) {
  if (!text.ends_with(ending)) return false;
  text.resize(text.size() - ending.size());
  return true;
}

void in_forked_child() { on.store(false); }

// ANYNPU_CHECK: the folder for the findings, then ",guard" or ",no-guard" if requested.
__attribute__((constructor)) void start() {
  const char* value = std::getenv("ANYNPU_CHECK");
  if (!value || !*value) return;
  std::string folder = value;
  set_guard_mode(take_ending(folder, ",guard")      ? GuardMode::all
                 : take_ending(folder, ",no-guard") ? GuardMode::none
                                                    : GuardMode::pinned);
  process = getpid();
  const std::string path = format("{}/{}", folder, static_cast<int64_t>(process));
  file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return;
  // Out of the way of programs that count on the lowest numbers.
  const int high = fcntl(file, F_DUPFD_CLOEXEC, 900);
  if (high >= 0) {
    close(file);
    file = high;
  }
  pthread_atfork(nullptr, nullptr, in_forked_child);
  std::atexit(end_of_program);
  on.store(true);
}

}  // namespace

bool is_on() { return on.load(std::memory_order_relaxed); }

uint64_t reported_by_thread() { return reported; }

std::string with_article(const char* name) {
  return (std::strchr("aeio", name[0]) ? "an " : "a ") + std::string(name);
}

void report(Finding finding) {
  ++reported;
  const std::string frames = lines_of(finding.places);
  const std::lock_guard lock(mutex);
  Known& entry = known()[finding.kind + '\n' + frames];
  ++entry.count;
  entry.bytes += finding.bytes;
  if (entry.number != 0) return;
  entry.number = known().size();
  write_text(format("finding\t{}\t{}\t{}\n", entry.number, finding.kind, plain(finding.message)) +
             frames);
}

void write_counts() {
  const std::lock_guard lock(mutex);
  for (const auto& [key, entry] : known()) {
    write_text(format("count\t{}\t{}\t{}\n", entry.number, entry.count, entry.bytes));
  }
  write_text("end\n");
}

// What the library says about the failure.
std::string sentence() {
  static auto* message =
      reinterpret_cast<decltype(&anynpu_acl_last_message)>(find_real("anynpu_acl_last_message"));
  const std::string text = message();
  return text.empty() ? text : ": " + text;
}

void note_failure(Call& call) {
  // A report that does not come in time is no failure.
  if (std::string_view(call.function().name) == "aclrtProcessReport") return;
  if (call.told()) return;  // one finding a call
  // Whether native code looks at the result is decided by its instructions, when the report is
  // written (python/anynpu/check/native_results.py).
  const bool native = !is_in_python();
  if (!native && !result_is_dropped()) return;
  const char* kind = native ? "ignored-error-in-native-code" : "ignored-error";
  report({kind,
          format("{} returned {}, and the program does not look at it{}", call.function().shown(),
                 static_cast<int64_t>(static_cast<int32_t>(call.result())), sentence()),
          {{"called", call.site()}}});
}

void note_media(Call& call) {
  const std::string_view name = call.function().name;
  const bool first =
      name.starts_with("acldvpp") || name.starts_with("aclvdec") || name.starts_with("aclvenc");
  if (!first && !name.starts_with("hi_mpi_")) return;
  static std::mutex guard;
  static Site sites[2];
  static bool told = false;
  Site mine, other;
  {
    const std::lock_guard lock(guard);
    if (told || sites[first ? 0 : 1]) {
      if (told || !sites[first ? 1 : 0]) return;
    }
  }
  mine = call.site();
  {
    const std::lock_guard lock(guard);
    sites[first ? 0 : 1] = mine;
    other = sites[first ? 1 : 0];
    if (told || !other) return;
    told = true;
  }
  report({"mixed-media",
          format("{} is of {}, but the program also uses {}; the two must not be mixed in one "
                 "program (guide 5.2)",
                 call.function().shown(), first ? "media V1 (acl.media)" : "media V2 (acl.himpi)",
                 first ? "media V2 (acl.himpi)" : "media V1 (acl.media)"),
          {{"called", mine}, {"other version", other}}});
}

}  // namespace anynpu::check

// os._exit and its like run no handlers.
extern "C" __attribute__((noreturn, visibility("default"))) void _exit(int code) {
  using namespace anynpu::check;
  if (is_on() && process == getpid()) end_of_program();
  syscall(SYS_exit_group, code);
  __builtin_unreachable();
}
