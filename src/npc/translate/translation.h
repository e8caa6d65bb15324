// SPDX-License-Identifier: Apache-2.0
// The host code of one image: made when the module is loaded, or taken from the cache folder. What
// has no host code is interpreted, and why_not() says the reason.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "npc/translate/program.h"

namespace anynpu::npc {

class HostCode;
class Jit;
struct Image;

class Translation {
 public:
  // Never fails: an image that cannot be translated has no kernels here.
  static std::shared_ptr<const Translation> make(const Image& image);
  // For tests: this program, without the cache.
  static std::shared_ptr<const Translation> make(const Program& program, Jit& jit);
  ~Translation();

  // The host's start of the kernel at a code offset; null: it is interpreted.
  void* kernel(uint32_t entry) const;
  std::string why_not(uint32_t entry) const;
  void* const* functions() const { return functions_.data(); }
  const HostCode* code() const { return code_.get(); }
  bool from_cache() const { return from_cache_; }

 private:
  Translation() = default;
  void adopt(std::unique_ptr<HostCode> code, const Image& image);

  std::unique_ptr<HostCode> code_;
  std::vector<void*> functions_;  // by half-word: entry for calls through pointers
  std::map<uint32_t, std::string> refused_;
  std::string why_not_;
  bool from_cache_ = false;
};

}  // namespace anynpu::npc
