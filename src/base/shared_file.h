// SPDX-License-Identifier: Apache-2.0
// A block of memory that other processes of the same user can map. It is anonymous (memfd):
// another process needs only a ticket (process, descriptor, secret), and the block ends with its
// last user. A page after the data lists who may open it; this library enforces the list, the
// operating system only checks the user. Thread-safe; creating, opening and mapping make system
// calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace anynpu {

// What to hand to another process.
struct ShareTicket {
  int32_t pid = 0;
  int32_t fd = -1;
  uint64_t secret = 0;
};

// A ticket as text of at most 64 characters; `kind` is a word that from_key compares.
std::string to_key(std::string_view kind, const ShareTicket& ticket);
Result<ShareTicket> from_key(std::string_view kind, std::string_view key);

class SharedFile {
 public:
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kMostPids = 512;

  // Zero-filled; `bytes` is rounded up to pages. Nobody may open it yet; those who do get `label`.
  static Result<std::shared_ptr<SharedFile>> create(size_t bytes, uint64_t label);
  // Opens the block of a ticket. Fails when the process or block is gone, when the secret is wrong,
  // when the block was closed to others, and when this process was not admitted. Only the low
  // `secret_bits` of the secret are compared.
  static Result<std::shared_ptr<SharedFile>> open(const ShareTicket& ticket, int secret_bits = 64);
  ~SharedFile();

  // Maps [offset, offset + bytes) at `at`, replacing what is there; null lets the system choose.
  Result<void*> map(void* at, size_t bytes, size_t offset) const;

  size_t bytes() const { return bytes_; }
  uint64_t label() const;

  // For the process that created it. Each opening to others starts with a new secret.
  enum class Admit { listed, anyone };
  ShareTicket share(Admit admit);
  Status let_in(std::span<const int32_t> pids);
  void let_anyone_in();
  void close_to_others();
  bool is_shared() const;
  ShareTicket ticket() const;

  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

 private:
  struct Gate;
  SharedFile(int fd, size_t bytes, Gate* gate) : fd_(fd), bytes_(bytes), gate_(gate) {}
  static Result<std::shared_ptr<SharedFile>> adopt(int fd, size_t bytes);

  const int fd_;
  const size_t bytes_;
  Gate* const gate_;
};

}  // namespace anynpu
