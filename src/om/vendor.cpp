// SPDX-License-Identifier: Apache-2.0
#include "om/vendor.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "import/ge/ge.h"

namespace anynpu::om {

namespace {

using VendorBytes = std::span<const std::byte>;

constexpr std::array<char, 4> kImod = {'I', 'M', 'O', 'D'};
constexpr size_t kHeaderBytes = 256, kTableStart = 8, kEntryBytes = 24;
constexpr uint32_t kMostParts = 64, kMostModels = 64;

struct PartName {
  uint32_t type;
  std::string_view name;
};
constexpr PartName kPartNames[] = {
    {0, "model description"},
    {1, "weights"},
    {2, "task list"},
    {3, "kernels of the chip"},
    {4, "kernels of the AI CPU"},
    {5, "shared objects"},
    {6, "flow model"},
    {7, "flow model"},
    {8, "inputs and outputs"},
    {9, "tasks"},
    {10, "tasks"},
    {11, "tiling data"},
    {12, "tiling data"},
};

template <typename T>
T read_at(VendorBytes bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// A text in a field of fixed length; what is no character of ASCII becomes '?'.
std::string text_at(VendorBytes bytes, size_t offset, size_t length) {
  std::string text(reinterpret_cast<const char*>(bytes.data()) + offset, length);
  text.resize(std::min(text.find('\0'), text.size()));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
  }
  return text;
}

VendorHeader read_header(VendorBytes bytes) {
  VendorHeader header;
  header.version = read_at<uint32_t>(bytes, 8);
  header.encrypted = read_at<uint8_t>(bytes, 80) != 0;
  header.model_type = read_at<uint8_t>(bytes, 82);
  header.name = text_at(bytes, 84, 32);
  header.user_text = text_at(bytes, 120, 32);
  header.ir_version = read_at<uint32_t>(bytes, 152);
  header.model_count = std::max<uint32_t>(1, read_at<uint32_t>(bytes, 156));
  header.platform = text_at(bytes, 160, 20);
  header.is_dynamic = read_at<uint8_t>(bytes, 193) != 0;
  return header;
}

// One table and its parts; `at` moves to where the next table would be.
Result<std::vector<VendorPart>> read_table(VendorBytes bytes, size_t& at) {
  if (bytes.size() - at < kTableStart) {
    return fail(Code::corrupt_model,
                "the file of the vendor's atc has {} bytes, its table of parts at {} does not fit; "
                "it is cut short",
                bytes.size(), at);
  }
  const auto count = read_at<uint32_t>(bytes, at);
  if (count == 0 || count > kMostParts ||
      size_t{count} * kEntryBytes > bytes.size() - at - kTableStart) {
    return fail(Code::corrupt_model,
                "the file of the vendor's atc names {} parts in {} bytes, expected 1 to {}; it is "
                "cut short or damaged",
                count, bytes.size(), kMostParts);
  }
  const size_t data = at + kTableStart + size_t{count} * kEntryBytes;
  size_t end = data;
  std::vector<VendorPart> parts;
  for (uint32_t n = 0; n < count; ++n) {
    const size_t entry = at + kTableStart + size_t{n} * kEntryBytes;
    const auto type = read_at<uint32_t>(bytes, entry);
    const auto offset = read_at<uint64_t>(bytes, entry + 8);
    const auto size = read_at<uint64_t>(bytes, entry + 16);
    if (offset > bytes.size() - data || size > bytes.size() - data - offset) {
      return fail(
          Code::corrupt_model,
          "part {} ({}) of the vendor's model lies at {} with {} bytes, the file has {}; it "
          "is cut short or damaged",
          n, vendor_part_name(type), data + offset, size, bytes.size());
    }
    parts.push_back({type, bytes.subspan(data + offset, size)});
    end = std::max(end, static_cast<size_t>(data + offset + size));
  }
  at = end;
  return parts;
}

std::string first_of(const ge::ModelDef* model, std::initializer_list<const char*> keys) {
  if (!model) return {};
  for (const char* key : keys) {
    if (std::string value = model->string_attr(key); !value.empty()) return value;
  }
  return {};
}

}  // namespace

std::span<const std::byte> VendorFile::part(uint32_t type) const {
  if (models.empty()) return {};
  for (const VendorPart& part : models[0]) {
    if (part.type == type) return part.bytes;
  }
  return {};
}

bool is_vendor_file(VendorBytes bytes) {
  return bytes.size() >= kImod.size() && std::memcmp(bytes.data(), kImod.data(), kImod.size()) == 0;
}

std::string_view vendor_part_name(uint32_t type) {
  for (const PartName& row : kPartNames) {
    if (row.type == type) return row.name;
  }
  return "another kind";
}

Result<VendorFile> read_vendor_file(VendorBytes bytes) {
  if (!is_vendor_file(bytes) || bytes.size() < kHeaderBytes) {
    return fail(Code::corrupt_model,
                "the file has {} bytes, expected the header of {} bytes of the vendor's atc; it is "
                "cut short",
                bytes.size(), kHeaderBytes);
  }
  VendorFile file;
  file.header = read_header(bytes);
  if (file.header.encrypted) {
    return fail(Code::unsupported_feature,
                "the file '{}' of the vendor's atc is encrypted; convert the source model again "
                "with atc of AnyNPU",
                file.header.name);
  }
  if (file.header.model_count > kMostModels) {
    return fail(Code::corrupt_model,
                "the file of the vendor's atc says that it holds {} models, expected at most {}",
                file.header.model_count, kMostModels);
  }
  size_t at = kHeaderBytes;
  for (uint32_t n = 0; n < file.header.model_count; ++n) {
    ANYNPU_ASSIGN(auto parts, read_table(bytes, at), "in model {} of the file", n);
    file.models.push_back(std::move(parts));
  }
  return file;
}

Result<ge::ModelDef> read_vendor_description(const VendorFile& file) {
  const VendorBytes bytes = file.part(kVendorDescription);
  if (bytes.empty()) {
    return fail(
        Code::unsupported_feature,
        "the file of the vendor's atc has no description of the model (part 0); convert the "
        "source model again with atc of AnyNPU");
  }
  ANYNPU_ASSIGN(ge::ModelDef model, ge::read_model_def(bytes),
                "in part 0 of the file of the vendor's atc");
  return model;
}

std::string describe_vendor_file(const VendorFile& file, const ge::ModelDef* model) {
  std::string name = file.header.name;
  if (name.empty() && model) name = model->name;
  const std::string chip = first_of(model, {"soc_version"});
  const std::string release = first_of(model, {"atc_version", "opp_version"});
  std::string text = format("a model of the vendor's atc ('{}'", name);
  text += format(", for {}", chip.empty() ? "a chip that the file does not name" : chip);
  if (!release.empty()) text += format(", made by release {}", release);
  if (!file.header.platform.empty()) text += format(", platform {}", file.header.platform);
  return text + ")";
}

std::string vendor_command(const VendorFile& file, const ge::ModelDef* model) {
  const std::string recorded = first_of(model, {"atc_cmdline"});
  if (recorded.find("--model") != recorded.npos) {
    const size_t first = recorded.find("--");
    return "atc " + recorded.substr(first);
  }
  const std::string chip = first_of(model, {"soc_version"});
  return format(
      "atc --model=<source model> --framework=<0, 1, 3 or 5> --output={} "
      "--soc_version={}",
      file.header.name.empty() ? "model" : file.header.name, chip.empty() ? "Ascend310P3" : chip);
}

Result<graph::Graph> rebuild_vendor_graph(const VendorFile& file,
                                          std::shared_ptr<const void> owner) {
  ANYNPU_ASSIGN(const ge::ModelDef model, read_vendor_description(file));
  if (file.models.size() > 1 || file.header.is_dynamic) {
    return fail(Code::unsupported_feature, "it holds {} models{}; expected one with fixed shapes",
                file.models.size(),
                file.header.is_dynamic ? " with shapes that come at run time" : "");
  }
  return ge::build_graph(model, {std::move(owner), file.part(kVendorWeights)});
}

}  // namespace anynpu::om
