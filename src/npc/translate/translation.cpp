// SPDX-License-Identifier: Apache-2.0
#include "npc/translate/translation.h"

#include <unistd.h>

#include <cstdio>
#include <optional>

#include "base/env.h"
#include "base/format.h"
#include "base/progress.h"
#include "base/quiet_write.h"
#include "npc/image.h"
#include "npc/translate/code_cache.h"
#include "npc/translate/host_calls.h"
#include "npc/translate/jit_api.h"
#include "npc/translate/plugin.h"

namespace anynpu::npc {

namespace {

// About 0.3 ms of compiling for each: larger programs would hold up their loading for long.
constexpr size_t kMostInstructions = 40'000;

size_t instructions_of(const Program& program) {
  size_t half_words = 0;
  for (const auto& [entry, f] : program.functions) {
    for (const auto& [begin, block] : f.code) half_words += (block.end - block.begin) / 2;
  }
  return half_words / 2;
}

// The host code of a program. When it takes long, a terminal shows how far it is: the program that
// loads the kernel stands still meanwhile.
std::string compile(Jit& jit, const Program& program, std::string& error) {
  ProgressLine line(STDERR_FILENO, true);
  const ProgressWatch watch([&](const Progress& p) { line.show(p); });
  std::optional<Progress> progress;
  const auto on_step = [&](uint64_t done, uint64_t total) {
    if (!progress) progress.emplace("translating kernels", total, "steps");
    progress->step(done - progress->done());
  };
  return jit.compile(program, on_step, error);
}

}  // namespace

Translation::~Translation() = default;

void* Translation::kernel(uint32_t entry) const { return code_ ? code_->kernel(entry) : nullptr; }

std::string Translation::why_not(uint32_t entry) const {
  if (!why_not_.empty()) return why_not_;
  const auto found = refused_.find(entry);
  return found == refused_.end() ? std::string() : found->second;
}

void Translation::adopt(std::unique_ptr<HostCode> code, const Image& image) {
  code_ = std::move(code);
  functions_.assign(image.code_bytes / 2 + 1, nullptr);
  for (const uint32_t address : image.address_taken) {
    const uint32_t entry = address - image.code_base;
    if (entry < image.code_bytes) functions_[entry / 2] = code_->indirect(entry);
  }
}

std::shared_ptr<const Translation> Translation::make(const Program& program, Jit& jit) {
  std::shared_ptr<Translation> made(new Translation);
  const std::string object = compile(jit, program, made->why_not_);
  if (object.empty()) return made;
  auto code = jit.load(object, host_helpers(), made->why_not_);
  if (code) made->adopt(std::move(code), *program.image);
  made->refused_ = program.refused;
  return made;
}

std::shared_ptr<const Translation> Translation::make(const Image& image) {
  std::shared_ptr<Translation> made(new Translation);
  Jit* jit = translator(made->why_not_);
  if (!jit) return made;
  const CodeCache cache(image, jit->signature());
  if (const auto object = cache.find()) {
    std::string error;
    if (auto code = jit->load(*object, host_helpers(), error)) {
      made->adopt(std::move(code), image);
      made->from_cache_ = true;
      return made;
    }
  }
  const Program program = find_program(image);
  made->refused_ = program.refused;
  if (const size_t count = instructions_of(program); count > kMostInstructions) {
    made->why_not_ = format("the program has {} instructions, more than {} are not translated",
                            count, kMostInstructions);
    return made;
  }
  if (env::lists(env::Name::verbose, "dispatch")) {
    for (const auto& [entry, reason] : program.refused) {
      write_error_text(
          format("kernel '{}' is interpreted: {}\n", program.functions.at(entry).name, reason));
    }
  }
  if (program.kernels.empty()) return made;
  const std::string object = compile(*jit, program, made->why_not_);
  if (object.empty()) return made;
  auto code = jit->load(object, host_helpers(), made->why_not_);
  if (!code) return made;
  made->adopt(std::move(code), image);
  cache.keep(object);
  return made;
}

}  // namespace anynpu::npc
