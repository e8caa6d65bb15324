// SPDX-License-Identifier: Apache-2.0
#include "device/process_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "base/env.h"
#include "base/format.h"
#include "base/quiet_write.h"
#include "base/thread_pool.h"
#include "device/device.h"

namespace anynpu::device {

namespace {

// The folder of this user, and of nobody else; "" when there can be none.
std::string run_folder() {
  std::string folder = env::text(env::Name::xdg_runtime_dir);
  folder = folder.empty() ? format("/tmp/anynpu-{}", static_cast<uint32_t>(getuid()))
                          : folder + "/anynpu";
  mkdir(folder.c_str(), 0700);
  struct stat found {};
  const bool own = lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) &&
                   found.st_uid == getuid() && (found.st_mode & 077) == 0;
  return own ? folder : std::string();
}

std::string read_text(const char* path) {
  char text[1024];
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  const ssize_t count = read(file, text, sizeof text);
  close(file);
  return count > 0 ? std::string(text, static_cast<size_t>(count)) : "";
}

// Field 22 of stat; the second one, the name in brackets, may have blanks.
uint64_t start_ticks() {
  const std::string text = read_text("/proc/self/stat");
  size_t at = text.rfind(')');
  for (int field = 3; at != std::string::npos && field <= 22; ++field) at = text.find(' ', at + 1);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at, nullptr, 10);
}

// The file of the page; it goes when the process ends.
struct PageFile {
  std::string path;
  pid_t owner = 0;
  ~PageFile() {
    if (!path.empty() && owner == getpid()) unlink(path.c_str());
  }
};
PageFile& page_file() {
  static PageFile file;
  return file;
}

ProcessPage* map_page() {
  const std::string folder = run_folder();
  if (folder.empty()) return nullptr;
  const std::string path = format("{}/{}", folder, static_cast<int64_t>(getpid()));
  unlink(path.c_str());  // of a process that was killed and had the same number
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  void* at = MAP_FAILED;
  const QuietWrite quiet;
  if (ftruncate(file, sizeof(ProcessPage)) == 0)
    at = mmap(nullptr, sizeof(ProcessPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (at == MAP_FAILED) {
    unlink(path.c_str());
    return nullptr;
  }
  auto* page = static_cast<ProcessPage*>(at);
  page->process = static_cast<uint32_t>(getpid());
  page->devices = kPublishedDevices;
  page->start_ticks = start_ticks();
  page->threads = static_cast<uint32_t>(ThreadPool::instance().threads());
  const std::string name = read_text("/proc/self/comm");
  std::strncpy(page->name, name.substr(0, name.find('\n')).c_str(), sizeof page->name - 1);
  for (PublishedDevice& device : page->list) device.physical_id = -1;
  std::memcpy(page->magic, "ANYNPU1", 8);
  page_file().path = path;
  page_file().owner = getpid();
  return page;
}

std::atomic<ProcessPage*> mapped{nullptr};

PublishedDevice* published(int32_t id) {
  ProcessPage* page = mapped.load(std::memory_order_relaxed);
  return page && id >= 0 && id < kPublishedDevices ? &page->list[static_cast<size_t>(id)] : nullptr;
}

}  // namespace

int32_t published_slot(const Device& device) {
  return device.capabilities().backend == "npc" ? -1 : device.id();
}

void publish_device(int32_t id, int32_t physical_id) {
  static ProcessPage* const page = map_page();
  mapped.store(page, std::memory_order_relaxed);
  if (PublishedDevice* device = published(id))
    device->physical_id.store(physical_id, std::memory_order_relaxed);
}

void publish_memory(int32_t id, size_t used) {
  if (PublishedDevice* device = published(id))
    device->memory.store(used, std::memory_order_relaxed);
}

void publish_task_begin(int32_t id, uint64_t now) {
  if (PublishedDevice* device = published(id)) {
    device->busy.fetch_sub(now, std::memory_order_relaxed);
    device->running.fetch_add(1, std::memory_order_relaxed);
  }
}

void publish_task_end(int32_t id, uint64_t now) {
  if (PublishedDevice* device = published(id)) {
    device->busy.fetch_add(now, std::memory_order_relaxed);
    device->running.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace anynpu::device
