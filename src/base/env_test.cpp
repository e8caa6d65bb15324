// SPDX-License-Identifier: Apache-2.0
#include "base/env.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace anynpu::env {
namespace {

// Sets a variable for one test and puts the old value back.
class Scoped {
 public:
  Scoped(Name name, const char* value) : name_(variable(name).name) {
    if (const char* old = std::getenv(name_)) old_ = old;
    value ? setenv(name_, value, 1) : unsetenv(name_);
  }
  ~Scoped() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

TEST(Env, SizesTakeKMG) {
  EXPECT_EQ(parse_size("1024"), 1024);
  EXPECT_EQ(parse_size("64K"), 65536);
  EXPECT_EQ(parse_size("8g"), int64_t{8} << 30);
  for (const char* bad : {"", "G", "-1K", "1.5G", "8 G", "8T", "9999999999G", "1x"}) {
    EXPECT_FALSE(parse_size(bad)) << bad;
  }
}

TEST(Env, UnsetAndEmptyGiveTheDefaultOfTheTable) {
  Scoped unset(Name::device_memory, nullptr);
  EXPECT_FALSE(get(Name::device_memory));
  EXPECT_EQ(integer(Name::device_memory), int64_t{8} << 30);
  Scoped empty(Name::soc, "");
  EXPECT_EQ(get(Name::soc), "");
  EXPECT_EQ(text(Name::soc), "Ascend310P3");
}

TEST(Env, AValueOfTheWrongKindIsIgnoredAndReported) {
  Scoped streams(Name::max_streams, "many");
  Scoped mode(Name::run_mode, "card");
  Scoped strict(Name::strict, "2");
  EXPECT_EQ(integer(Name::max_streams), 1024);
  EXPECT_EQ(integer(Name::max_streams, 7), 7);
  EXPECT_FALSE(flag(Name::strict));
  const auto problems = check();
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0],
            "ANYNPU_RUN_MODE is 'card', expected host or device; it is ignored and host "
            "is used");
}

TEST(Env, CommaListsAreSearchedByWord) {
  Scoped verbose(Name::verbose, "dispatch,log");
  EXPECT_TRUE(lists(Name::verbose, "log"));
  EXPECT_FALSE(lists(Name::verbose, "disp"));
}

TEST(Env, TheProcessLogPathWinsOverTheWorkPath) {
  Scoped log(Name::log_path, nullptr);
  Scoped work(Name::work_path, "/repo/task001");
  EXPECT_EQ(log_path(), "/repo/task001/log");
  Scoped own(Name::log_path, "/var/plog");
  EXPECT_EQ(log_path(), "/var/plog");
}

TEST(Env, TheCachePathWinsOverTheUsersFolders) {
  Scoped home(Name::home, "/home/me");
  Scoped xdg(Name::xdg_cache_home, nullptr);
  Scoped own(Name::cache_path, nullptr);
  EXPECT_EQ(cache_path(), "/home/me/.cache/anynpu");
  Scoped set(Name::cache_path, "/repo/task001/cache");
  EXPECT_EQ(cache_path(), "/repo/task001/cache");
}

}  // namespace
}  // namespace anynpu::env
