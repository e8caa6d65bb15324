// SPDX-License-Identifier: Apache-2.0
#include "om/bundle.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "base/crc32c.h"
#include "base/mapped_file.h"
#include "om/container.h"
#include "om/layout.h"
#include "om/model_for_test.h"

namespace anynpu::om {
namespace {

namespace fs = std::filesystem;

class BundleTest : public testing::Test {
 protected:
  BundleTest() {
    fs::create_directories(folder_);
    for (const char* name : {"first", "second"}) {
      Model model = sample();
      model.meta.name = name;
      EXPECT_TRUE(write_file(model, path(name)).ok());
    }
  }
  ~BundleTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> two() const { return {path("first"), path("second")}; }
  std::vector<std::byte> bytes_of_two() const {
    EXPECT_TRUE(write_bundle(two(), path("all")).ok());
    const auto file = MappedFile::open(path("all"));
    const auto bytes = (*file)->bytes();
    return {bytes.begin(), bytes.end()};
  }

 private:
  fs::path folder_ = testing::TempDir() + format("bundle_test_{}", ::getpid());
};

void seal(std::vector<std::byte>& bytes) {
  Header header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.checksum = 0;
  const auto table =
      std::span(bytes).subspan(sizeof header, header.section_count * sizeof(Section));
  header.checksum = crc32c(table, crc32c(std::as_bytes(std::span(&header, 1))));
  std::memcpy(bytes.data(), &header, sizeof header);
}

TEST_F(BundleTest, ModelsComeBackInOrderAsViewsIntoTheFile) {
  ASSERT_TRUE(write_bundle(two(), path("all")).ok());
  const auto models = read_bundle_file(path("all"));
  ASSERT_TRUE(models.ok()) << models.status().to_string();
  fs::remove(path("all"));
  ASSERT_EQ(models->size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const Model& model = (*models)[i];
    EXPECT_EQ(model.meta.name, i == 0 ? "first" : "second");
    EXPECT_EQ(graph::print(model.graph), graph::print(sample().graph));
    const auto weights = model.graph.values[1].constant->bytes;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(weights.data()) % kAlignment, 0u);
    EXPECT_EQ(std::memcmp(weights.data(), std::vector<float>{1, 2, 3}.data(), 12), 0);
  }
}

TEST_F(BundleTest, TheListHasNamesAndSizes) {
  ASSERT_TRUE(write_bundle(two(), path("all")).ok());
  const auto entries = list_bundle(path("all"));
  ASSERT_TRUE(entries.ok()) << entries.status().to_string();
  ASSERT_EQ(entries->size(), 2u);
  EXPECT_EQ((*entries)[1].meta.name, "second");
  EXPECT_EQ((*entries)[1].bytes, fs::file_size(path("second")));
}

TEST_F(BundleTest, EveryTruncationAndEveryFlippedBitIsRefused) {
  auto bytes = bytes_of_two();
  for (size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_FALSE(read_bundle_copy(std::span(bytes).first(size)).ok()) << size;
  }
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1u << (bit % 8));
    bytes[bit / 8] ^= mask;
    const Code code = read_bundle_copy(bytes).status().code();
    ASSERT_TRUE(code == Code::corrupt_model || code == Code::version_mismatch) << "bit " << bit;
    bytes[bit / 8] ^= mask;
  }
  EXPECT_TRUE(read_bundle_copy(bytes).ok());
  bytes.resize(bytes.size() + kAlignment);
  EXPECT_EQ(read_bundle_copy(bytes).status().code(), Code::corrupt_model);
}

TEST_F(BundleTest, HostileTablesWithGoodChecksumsAreRefused) {
  const auto bytes = bytes_of_two();
  const auto refused = [&](size_t at, uint64_t value, size_t size) {
    auto changed = bytes;
    std::memcpy(changed.data() + at, &value, size);
    seal(changed);
    const Status status = read_bundle_copy(changed).status();
    EXPECT_EQ(status.code(), Code::corrupt_model) << at << ": " << status.to_string();
  };
  const size_t entry = sizeof(Header);
  refused(entry + offsetof(Section, size), ~uint64_t{0}, 8);
  refused(entry + offsetof(Section, size), 0, 8);
  refused(entry + offsetof(Section, offset), ~uint64_t{63}, 8);
  refused(entry + offsetof(Section, offset), 0, 8);
  refused(entry + offsetof(Section, kind), 1, 4);
  refused(offsetof(Header, section_count), 0, 4);
  refused(offsetof(Header, section_count), 1, 4);
}

TEST_F(BundleTest, ABundleAndAModelAreNotTakenForEachOther) {
  ASSERT_TRUE(write_bundle(two(), path("all")).ok());
  Status status = read_file(path("all")).status();
  EXPECT_EQ(status.code(), Code::file_invalid);
  EXPECT_NE(status.message().find("aclmdlBundleLoadFromFile"), std::string::npos);
  status = read_bundle_file(path("first")).status();
  EXPECT_EQ(status.code(), Code::file_invalid);
  EXPECT_NE(status.message().find("aclmdlLoadFromFile"), std::string::npos);
  // Nor does one hold another.
  status = write_bundle({path("first"), path("all")}, path("outer"));
  EXPECT_EQ(status.code(), Code::file_invalid);
  EXPECT_FALSE(fs::exists(path("outer")));
}

TEST_F(BundleTest, NothingIsWrittenForWrongModels) {
  const auto code = [&](const std::vector<std::string>& models, const char* output) {
    const Status status = write_bundle(models, path(output));
    EXPECT_FALSE(fs::exists(path("new"))) << status.to_string();
    return status.code();
  };
  EXPECT_EQ(code({}, "new"), Code::invalid_argument);
  EXPECT_EQ(code(std::vector<std::string>(kMaxSections + 1, path("first")), "new"),
            Code::invalid_argument);
  EXPECT_EQ(code({path("first"), path("missing")}, "new"), Code::file_not_found);
  EXPECT_EQ(code(two(), "second"), Code::invalid_argument);
  EXPECT_TRUE(read_file(path("second")).ok()) << "the model is still there";
  fs::resize_file(path("second"), 100);
  EXPECT_EQ(code(two(), "new"), Code::corrupt_model);
}

TEST_F(BundleTest, WeightFilesAreExpectedBesideTheBundle) {
  ASSERT_TRUE(write_file(sample(), path("apart"), WeightPlace::one_file).ok());
  ASSERT_TRUE(write_bundle({path("apart")}, path("all")).ok());
  EXPECT_TRUE(read_bundle_file(path("all")).ok());
  fs::create_directories(path("elsewhere"));
  const Status status = write_bundle({path("apart")}, path("elsewhere/all"));
  EXPECT_EQ(status.code(), Code::file_not_found);
  EXPECT_NE(status.to_string().find("elsewhere/weight"), std::string::npos);
}

}  // namespace
}  // namespace anynpu::om
