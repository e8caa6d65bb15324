// SPDX-License-Identifier: Apache-2.0
#include "device/shared_marks.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/fork_guard.h"

namespace anynpu::device {

namespace {
constexpr std::string_view kEventKey = "anynpu-event";
}

// Zeros at first.
struct SharedMarks::Page {
  std::atomic<uint64_t> recorded;
  std::atomic<uint64_t> passed;
};

Result<std::shared_ptr<SharedMarks>> SharedMarks::attach(std::shared_ptr<SharedFile> file,
                                                         const Key& key) {
  ANYNPU_ASSIGN(void* page, file->map(nullptr, SharedFile::kPageBytes, 0));
  return std::shared_ptr<SharedMarks>(
      new SharedMarks(std::move(file), static_cast<Page*>(page), key));
}

Result<std::shared_ptr<SharedMarks>> SharedMarks::create() {
  ANYNPU_ASSIGN(auto file, SharedFile::create(sizeof(Page), 0));
  const std::string text = to_key(kEventKey, file->share(SharedFile::Admit::anyone));
  Key key{};
  std::memcpy(key.data(), text.data(), std::min(text.size(), key.size()));
  return attach(std::move(file), key);
}

Result<std::shared_ptr<SharedMarks>> SharedMarks::open(const Key& key) {
  const std::string_view text(key.data(), strnlen(key.data(), key.size()));
  ANYNPU_ASSIGN(const ShareTicket ticket, from_key(kEventKey, text));
  mark_runtime_used();
  ANYNPU_ASSIGN(auto file, SharedFile::open(ticket));
  return attach(std::move(file), key);
}

SharedMarks::~SharedMarks() { munmap(page_, SharedFile::kPageBytes); }

uint64_t SharedMarks::add() { return page_->recorded.fetch_add(1, std::memory_order_acq_rel) + 1; }

uint64_t SharedMarks::last() const { return page_->recorded.load(std::memory_order_acquire); }

void SharedMarks::pass(uint64_t mark) {
  uint64_t before = page_->passed.load(std::memory_order_relaxed);
  while (before < mark &&
         !page_->passed.compare_exchange_weak(before, mark, std::memory_order_acq_rel)) {
  }
}

bool SharedMarks::passed(uint64_t mark) const {
  return page_->passed.load(std::memory_order_acquire) >= mark;
}

}  // namespace anynpu::device
