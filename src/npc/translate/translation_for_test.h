// SPDX-License-Identifier: Apache-2.0
// Runs kernels interpreted and translated, and compares all that can be seen of them.
#pragma once

#include <stdlib.h>

#include "npc/image.h"
#include "npc/kernel_for_test.h"
#include "npc/translate/plugin.h"
#include "npc/translate/translation.h"

namespace anynpu::npc {

class TranslationTest : public KernelTest {
 protected:
  void SetUp() override {
    KernelTest::SetUp();
    std::string why;
    if (!IsSkipped() && !translator(why)) {
#if defined(ANYNPU_HAS_TRANSLATOR) && !defined(__SANITIZE_THREAD__)
      FAIL() << why;
#endif
      GTEST_SKIP() << why;
    }
    folder = (std::filesystem::temp_directory_path() / "npc-cache-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    setenv("ASCEND_CACHE_PATH", folder.c_str(), 1);
  }
  void TearDown() override {
    setenv("ASCEND_CACHE_PATH", own_cache.folder.c_str(), 1);
    std::filesystem::remove_all(folder);
  }

  void load_translated(const std::vector<std::byte>& object) {
    auto loaded = Module::load(*cluster, object);
    ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
    module = *loaded;
  }

  struct Outcome {
    std::string status, report, printed;
    std::vector<CoreCounters> cores;
    std::array<uint64_t, kDmaEvents> dma{};
    std::vector<uint32_t> memory;
    bool translated = false;
  };
  Outcome outcome(const std::string& kernel, std::vector<uint32_t> args, int core_num,
                  uint64_t budget = 0) {
    std::vector<uint32_t> words(4096);
    for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<uint32_t>(i * 2654435761u);
    const uint32_t at = device_words(words);
    args.insert(args.begin(), at);
    printed.clear();
    Outcome o;
    o.status = run(kernel, args, core_num, budget).to_string();
    o.report = stats.trap_report;
    o.printed = printed;
    o.cores = stats.cores;
    o.dma = stats.dma;
    o.translated = stats.translated;
    o.memory = words_at(at, words.size());
    EXPECT_TRUE(cluster->release(at).ok());
    return o;
  }

  // Runs both ways and compares everything; addresses are the same because memory is given back.
  void expect_same(const std::vector<std::byte>& object, const std::string& kernel,
                   std::vector<uint32_t> args, int core_num = 8, uint64_t budget = 0) {
    SCOPED_TRACE(kernel);
    load_interpreted(object);
    ASSERT_TRUE(module);
    const Outcome expected = outcome(kernel, args, core_num, budget);
    module.reset();
    load_translated(object);
    const Outcome got = outcome(kernel, args, core_num, budget);
    EXPECT_FALSE(expected.translated);
    EXPECT_TRUE(got.translated) << module->image().translation->why_not(
        module->image().find_kernel(kernel) - module->image().code_base);
    EXPECT_EQ(got.status, expected.status);
    EXPECT_EQ(got.report, expected.report);
    EXPECT_EQ(got.printed, expected.printed);
    EXPECT_EQ(got.memory, expected.memory);
    EXPECT_EQ(got.dma, expected.dma);
    ASSERT_EQ(got.cores.size(), expected.cores.size());
    for (size_t i = 0; i < got.cores.size() && expected.report.empty(); ++i) {
      EXPECT_EQ(got.cores[i].instructions, expected.cores[i].instructions) << "core " << i;
      EXPECT_EQ(got.cores[i].events, expected.cores[i].events) << "core " << i;
    }
    module.reset();
  }

  std::string folder;
};

}  // namespace anynpu::npc
