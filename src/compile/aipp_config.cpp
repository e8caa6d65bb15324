// SPDX-License-Identifier: Apache-2.0
#include "compile/aipp_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>

#include "base/mapped_file.h"
#include "base/prototext.h"
#include "base/text.h"
#include "ops/aipp/params.h"

namespace anynpu::compile {

namespace {

using ops::AippBatch;
using ops::AippHeader;

constexpr std::array<std::string_view, 4> kFormats = {"YUV420SP_U8", "XRGB8888_U8", "RGB888_U8",
                                                      "YUV400_U8"};
constexpr std::string_view kSideNames[] = {"left_padding_size", "right_padding_size",
                                           "top_padding_size", "bottom_padding_size"};

// Reads one aipp_op and forgets the fields it has read, so that what is left is unknown.
class Reader {
 public:
  explicit Reader(const TextField& op) : op_(op) {}

  template <typename T>
  Status get(std::string_view name, T& out) {
    known_.emplace_back(name);
    const TextField* field = op_.find(name);
    if (!field) return {};
    return field->to(out).with_note(format("in '{}'", name));
  }

  template <typename T>
  Status integer(std::string_view name, T& out, int64_t low, int64_t high) {
    auto value = static_cast<int64_t>(out);
    ANYNPU_TRY(get(name, value));
    if (value < low || value > high) {
      return fail(Code::parse_error, "AIPP: {} is {} ({}); expected {} to {}", name, value,
                  where(name), low, high);
    }
    out = static_cast<T>(value);
    return {};
  }

  Status flag(std::string_view name, int8_t& out) {
    bool value = out != 0;
    ANYNPU_TRY(get(name, value));
    out = value ? 1 : 0;
    return {};
  }

  Status number(std::string_view name, float& out) {
    ANYNPU_TRY(get(name, out));
    if (std::isfinite(out) && std::abs(out) <= 65504) return {};
    return fail(Code::parse_error, "AIPP: {} is {} ({}); expected -65504 to 65504", name, out,
                where(name));
  }

  bool has(std::string_view name) const { return op_.find(name) != nullptr; }
  // "missing", or "'YUV' (aipp.cfg:2:3)".
  std::string given(std::string_view name) const {
    const TextField* field = op_.find(name);
    if (!field) return format("missing in the aipp_op at {}", op_.where());
    return format("'{}' ({})", field->text, field->where());
  }
  std::string where(std::string_view name) const {
    const TextField* field = op_.find(name);
    return field ? field->where() : op_.where();
  }

  Status check_unknown() const {
    for (const TextField& field : op_.fields) {
      if (contains(known_, field.name)) continue;
      return fail(Code::parse_error,
                  "AIPP: '{}' ({}) is no field of aipp_op; correct the name, or take the line out",
                  field.name, field.where());
    }
    return {};
  }

 private:
  const TextField& op_;
  std::vector<std::string> known_;
};

Status read_mode(Reader& reader, AippConfig& config) {
  std::string mode;
  ANYNPU_TRY(reader.get("aipp_mode", mode));
  if (mode != "static" && mode != "dynamic") {
    return fail(Code::parse_error, "AIPP: aipp_mode is {}; expected static or dynamic",
                reader.given("aipp_mode"));
  }
  config.dynamic = mode == "dynamic";
  ANYNPU_TRY(reader.integer("related_input_rank", config.input_rank, 0, 255));
  ANYNPU_TRY(reader.get("related_input_name", config.input_name));
  ANYNPU_TRY(reader.integer("max_src_image_size", config.max_source_bytes, 0, ops::kMostAippBytes));
  if (config.dynamic && config.max_source_bytes == 0) {
    return fail(Code::parse_error,
                "AIPP: max_src_image_size is {}; expected the bytes of the largest picture, which "
                "dynamic AIPP needs",
                reader.given("max_src_image_size"));
  }
  return {};
}

Status read_format(Reader& reader, const AippConfig& config, AippHeader& header) {
  std::string name;
  ANYNPU_TRY(reader.get("input_format", name));
  for (size_t i = 0; i < kFormats.size(); ++i) {
    if (name == kFormats[i]) header.format = static_cast<uint8_t>(i + 1);
  }
  if (header.format != 0 || (config.dynamic && name.empty())) return {};
  return fail(Code::parse_error,
              "AIPP: input_format is {}; expected YUV420SP_U8, XRGB8888_U8, RGB888_U8 or YUV400_U8",
              reader.given("input_format"));
}

Status read_colours(Reader& reader, AippHeader& header, AippBatch& batch) {
  ANYNPU_TRY(reader.flag("csc_switch", header.csc));
  ANYNPU_TRY(reader.flag("rbuv_swap_switch", header.rbuv_swap));
  ANYNPU_TRY(reader.flag("ax_swap_switch", header.ax_swap));
  constexpr int16_t matrix[9] = {298, 516, 0, 298, -100, -208, 298, 0, 409};
  constexpr uint8_t bias[3] = {16, 128, 128};
  for (size_t i = 0; i < 9; ++i) {
    header.matrix[i] = matrix[i];
    const std::string name = format("matrix_r{}c{}", i / 3, i % 3);
    ANYNPU_TRY(reader.integer(name, header.matrix[i], -32768, 32767));
  }
  for (size_t i = 0; i < 3; ++i) {
    header.output_bias[i] = header.input_bias[i] = bias[i];
    ANYNPU_TRY(reader.integer(format("output_bias_{}", i), header.output_bias[i], 0, 255));
    ANYNPU_TRY(reader.integer(format("input_bias_{}", i), header.input_bias[i], 0, 255));
  }
  for (size_t i = 0; i < 4; ++i) {
    float low = 0, variance = 1;
    ANYNPU_TRY(reader.integer(format("mean_chn_{}", i), batch.mean[i], 0, 255));
    ANYNPU_TRY(reader.number(format("min_chn_{}", i), low));
    ANYNPU_TRY(reader.number(format("var_reci_chn_{}", i), variance));
    batch.set_min(i, low);
    batch.set_variance(i, variance);
  }
  return {};
}

Status read_sizes(Reader& reader, AippHeader& header, AippBatch& batch) {
  ANYNPU_TRY(reader.integer("src_image_size_w", header.source_w, 0, 4096));
  ANYNPU_TRY(reader.integer("src_image_size_h", header.source_h, 0, 4096));
  ANYNPU_TRY(reader.flag("crop", batch.crop));
  ANYNPU_TRY(reader.integer("load_start_pos_w", batch.crop_x, 0, 4095));
  ANYNPU_TRY(reader.integer("load_start_pos_h", batch.crop_y, 0, 4095));
  ANYNPU_TRY(reader.integer("crop_size_w", batch.crop_w, 0, 4096));
  ANYNPU_TRY(reader.integer("crop_size_h", batch.crop_h, 0, 4096));
  ANYNPU_TRY(reader.flag("padding", batch.padding));
  int32_t* sizes[] = {&batch.pad_left, &batch.pad_right, &batch.pad_top, &batch.pad_bottom};
  for (size_t i = 0; i < 4; ++i) ANYNPU_TRY(reader.integer(kSideNames[i], *sizes[i], 0, 32));
  ANYNPU_TRY(reader.number("padding_value", header.padding_value));
  if (header.source_w == 1) {
    return fail(Code::parse_error, "AIPP: src_image_size_w is 1 ({}); expected 0 or 2 to 4096",
                reader.where("src_image_size_w"));
  }
  if ((header.source_w == 0) != (header.source_h == 0)) {
    return fail(Code::parse_error,
                "AIPP: src_image_size_w is {} and src_image_size_h is {} ({}); expected both "
                "numbers, or 0 for both",
                header.source_w, header.source_h,
                reader.where(header.source_w ? "src_image_size_w" : "src_image_size_h"));
  }
  if (header.source_w == 0 && (batch.crop || batch.padding)) {
    const std::string_view on = batch.crop ? "crop" : "padding";
    return fail(Code::parse_error,
                "AIPP: {} ({}) is on and src_image_size_w and src_image_size_h are 0; expected the "
                "size of the source picture",
                on, reader.where(on));
  }
  return {};
}

// Fields of the documents that no chip of this kind uses.
Status read_reserved(Reader& reader) {
  int8_t resize = 0;
  int64_t ignored = 0;
  float value = 0;
  bool flag = false;
  ANYNPU_TRY(reader.flag("resize", resize));
  if (resize) {
    return fail(Code::unsupported_feature,
                "AIPP: resize ({}) is reserved and not supported; scale the pictures before",
                reader.where("resize"));
  }
  for (std::string_view name : {"resize_output_w", "resize_output_h", "raw_rgbir_to_f16_n"}) {
    ANYNPU_TRY(reader.get(name, ignored));
  }
  ANYNPU_TRY(reader.get("cpadding_value", value));
  ANYNPU_TRY(reader.get("rotation_angle", value));
  ANYNPU_TRY(reader.get("single_line_mode", flag));
  return reader.get("support_rotation", flag);
}

Result<AippConfig> read_op(const TextField& op) {
  if (op.kind != TextField::Kind::message) {
    return fail(Code::parse_error, "AIPP: aipp_op ({}) is '{}'; expected fields in braces",
                op.where(), op.text);
  }
  Reader reader(op);
  AippConfig config;
  AippHeader header;
  AippBatch batch;
  ANYNPU_TRY(read_mode(reader, config));
  ANYNPU_TRY(read_format(reader, config, header));
  ANYNPU_TRY(read_colours(reader, header, batch));
  ANYNPU_TRY(read_sizes(reader, header, batch));
  ANYNPU_TRY(read_reserved(reader));
  ANYNPU_TRY(reader.check_unknown());
  header.batches = 1;
  config.where = op.where();
  config.settings.dynamic = config.dynamic;
  config.settings.max_source_bytes = config.max_source_bytes;
  if (!config.dynamic) {
    config.settings.parameters.resize(ops::aipp_bytes(1));
    std::memcpy(config.settings.parameters.data(), &header, sizeof header);
    std::memcpy(config.settings.parameters.data() + sizeof header, &batch, sizeof batch);
  }
  return config;
}

}  // namespace

Result<std::vector<AippConfig>> parse_aipp(std::string_view text, std::string_view name) {
  ANYNPU_ASSIGN(const TextField file, parse_prototext(text, name));
  std::vector<AippConfig> configs;
  for (const TextField& field : file.fields) {
    if (field.name != "aipp_op") {
      return fail(Code::parse_error,
                  "AIPP: '{}' ({}) stands outside of aipp_op; expected aipp_op {{ ... }} with all "
                  "fields in it",
                  field.name, field.where());
    }
    ANYNPU_ASSIGN(AippConfig config, read_op(field));
    configs.push_back(std::move(config));
    if (configs.back().dynamic != configs.front().dynamic) {
      return fail(Code::parse_error,
                  "AIPP: the aipp_op at {} is {}, those before it are not; expected one aipp_mode "
                  "for all inputs of a model",
                  field.where(), configs.back().dynamic ? "dynamic" : "static");
    }
  }
  if (configs.empty()) {
    return fail(Code::parse_error,
                "AIPP: {}: there is no aipp_op; expected aipp_op {{ aipp_mode: static ... }}",
                file.where());
  }
  return configs;
}

Result<std::vector<AippConfig>> read_aipp_file(const std::string& path) {
  ANYNPU_ASSIGN(auto file, MappedFile::open(path), "while reading --insert_op_conf");
  const auto bytes = file->bytes();
  ANYNPU_ASSIGN(auto configs,
                parse_aipp({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path),
                "in --insert_op_conf={}", path);
  return configs;
}

}  // namespace anynpu::compile
