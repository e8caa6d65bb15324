// SPDX-License-Identifier: Apache-2.0
#include "om/codec.h"
#include "ops/aipp/params.h"

namespace anynpu::om {

namespace {

WireWriter encode_info(const TensorInfo& info) {
  WireWriter out;
  out.text(1, info.name);
  out.integer(2, static_cast<int64_t>(info.dtype));
  out.integer(3, static_cast<int64_t>(info.format));
  out.packed(4, std::span<const int64_t>(info.shape));
  out.varint(5, info.size);
  if (info.role != Role::data) out.integer(6, static_cast<int64_t>(info.role));
  for (const Range& range : info.ranges) {
    const int64_t ends[] = {range.first, range.second};
    out.packed(7, std::span<const int64_t>(ends));
  }
  return out;
}

Result<TensorInfo> decode_info(const WireField& message) {
  TensorInfo info;
  WireReader reader(message);
  WireField field;
  int64_t number = 0;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        ANYNPU_TRY(field.to(info.name));
        break;
      case 2: {
        ANYNPU_TRY(field.to(number));
        ANYNPU_ASSIGN(info.dtype, decode_dtype(number));
        break;
      }
      case 3: {
        ANYNPU_TRY(field.to(number));
        ANYNPU_ASSIGN(info.format, decode_format(number));
        break;
      }
      case 4:
        ANYNPU_TRY(field.append_to(info.shape));
        break;
      case 5:
        ANYNPU_TRY(field.to(info.size));
        break;
      case 6: {
        ANYNPU_TRY(field.to(number));
        if (number < 0 || number > static_cast<int64_t>(Role::aipp)) {
          return fail(Code::corrupt_model, "the role {} of an input is unknown", number);
        }
        info.role = static_cast<Role>(number);
        break;
      }
      case 7: {
        std::vector<int64_t> ends;
        ANYNPU_TRY(field.append_to(ends));
        if (ends.size() != 2 || ends[0] < 0 || (ends[1] != -1 && ends[1] < ends[0])) {
          return fail(Code::corrupt_model, "a range of '{}' has no two ends in order", info.name);
        }
        info.ranges.emplace_back(ends[0], ends[1]);
        break;
      }
      default:
        break;
    }
  }
  ANYNPU_TRY(reader.status());
  if (info.shape != kUnknownRank) ANYNPU_TRY(check_shape(info.shape));
  if (!info.ranges.empty() && info.ranges.size() != info.shape.size()) {
    return fail(Code::corrupt_model, "'{}' has {} ranges for {} extents", info.name,
                info.ranges.size(), info.shape.size());
  }
  return info;
}

Result<Aipp> decode_aipp(const WireField& message) {
  Aipp aipp;
  int64_t input = 0, dynamic = 0, dtype = 0, nhwc = 0;
  std::span<const std::byte> bytes;
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(input));
    if (field.number == 2) ANYNPU_TRY(field.to(dynamic));
    if (field.number == 3) ANYNPU_TRY(field.to(aipp.max_source_bytes));
    if (field.number == 4) ANYNPU_TRY(field.to(bytes));
    if (field.number == 5) ANYNPU_TRY(field.to(dtype));
    if (field.number == 6) ANYNPU_TRY(field.append_to(aipp.shape));
    if (field.number == 7) ANYNPU_TRY(field.to(nhwc));
  }
  ANYNPU_TRY(reader.status());
  aipp.input = static_cast<size_t>(input);
  aipp.dynamic = dynamic != 0;
  aipp.nhwc = nhwc != 0;
  ANYNPU_ASSIGN(aipp.dtype, decode_dtype(dtype));
  ANYNPU_TRY(check_shape(aipp.shape));
  aipp.parameters.assign(bytes.begin(), bytes.end());
  const bool sized = aipp.dynamic
                         ? aipp.max_source_bytes > 0 && aipp.max_source_bytes <= ops::kMostAippBytes
                         : aipp.parameters.size() == ops::aipp_bytes(1);
  if (input < 0 || !sized || aipp.shape.size() != 4) {
    return fail(Code::corrupt_model,
                "AIPP of input {} has {} bytes of parameters and pictures of at most {} bytes",
                input, aipp.parameters.size(), aipp.max_source_bytes);
  }
  return aipp;
}

// Extents of all data inputs: what a gear of dims gives.
size_t count_dims(const Meta& meta) {
  size_t count = 0;
  for (const TensorInfo& info : meta.inputs) {
    if (info.role == Role::data) count += info.shape.size();
  }
  return count;
}

Status decode_option(const WireField& message, std::pair<std::string, std::string>& option) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(option.first));
    if (field.number == 2) ANYNPU_TRY(field.to(option.second));
  }
  return reader.status();
}

Status decode_origin(const WireField& message,
                     std::pair<std::string, std::vector<std::string>>& origin) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number == 1) ANYNPU_TRY(field.to(origin.first));
    if (field.number == 2) ANYNPU_TRY(field.to(origin.second.emplace_back()));
  }
  return reader.status();
}

}  // namespace

Result<DType> decode_dtype(int64_t number) {
  const auto type = static_cast<DType>(number);
  if (number != static_cast<int32_t>(number) ||
      (type != DType::undefined && name_of(type) == "undefined")) {
    return fail(Code::corrupt_model, "the data type {} is unknown", number);
  }
  return type;
}

Result<Format> decode_format(int64_t number) {
  const auto format = static_cast<Format>(number);
  if (number != static_cast<int32_t>(number) || name_of(format) == "UNKNOWN") {
    return fail(Code::corrupt_model, "the format {} is unknown", number);
  }
  return format;
}

WireWriter encode_meta(const Meta& meta) {
  WireWriter out;
  out.text(1, meta.name);
  out.text(2, meta.soc_version);
  out.text(3, meta.producer);
  out.text(4, meta.command_line);
  for (const auto& [key, value] : meta.options) {
    WireWriter option;
    option.text(1, key);
    option.text(2, value);
    out.message(5, option);
  }
  for (const TensorInfo& info : meta.inputs) out.message(6, encode_info(info));
  for (const TensorInfo& info : meta.outputs) out.message(7, encode_info(info));
  if (meta.has_gears()) out.integer(8, static_cast<int64_t>(meta.gear_kind));
  for (const auto& gear : meta.gears) out.packed(9, std::span<const int64_t>(gear));
  for (const Aipp& aipp : meta.aipp) {
    WireWriter one;
    one.integer(1, static_cast<int64_t>(aipp.input));
    one.integer(2, aipp.dynamic ? 1 : 0);
    one.integer(3, aipp.max_source_bytes);
    one.bytes(4, aipp.parameters);
    one.integer(5, static_cast<int64_t>(aipp.dtype));
    one.packed(6, std::span<const int64_t>(aipp.shape));
    if (aipp.nhwc) one.integer(7, 1);
    out.message(10, one);
  }
  for (const std::string& pass : meta.passes_off) out.text(11, pass);
  for (const auto& [op, names] : meta.origins) {
    WireWriter one;
    one.text(1, op);
    for (const std::string& name : names) one.text(2, name);
    out.message(12, one);
  }
  return out;
}

Result<Meta> decode_meta(WireReader reader) {
  Meta meta;
  WireField field;
  while (reader.next(field)) {
    switch (field.number) {
      case 1:
        ANYNPU_TRY(field.to(meta.name));
        break;
      case 2:
        ANYNPU_TRY(field.to(meta.soc_version));
        break;
      case 3:
        ANYNPU_TRY(field.to(meta.producer));
        break;
      case 4:
        ANYNPU_TRY(field.to(meta.command_line));
        break;
      case 5:
        ANYNPU_TRY(decode_option(field, meta.options.emplace_back()));
        break;
      case 6:
      case 7: {
        ANYNPU_ASSIGN(TensorInfo info, decode_info(field), "in the description of the model");
        (field.number == 6 ? meta.inputs : meta.outputs).push_back(std::move(info));
        break;
      }
      case 8: {
        int64_t kind = 0;
        ANYNPU_TRY(field.to(kind));
        if (kind < 0 || kind > static_cast<int64_t>(GearKind::dims)) {
          return fail(Code::corrupt_model, "the kind {} of gears is unknown", kind);
        }
        meta.gear_kind = static_cast<GearKind>(kind);
        break;
      }
      case 9:
        ANYNPU_TRY(field.append_to(meta.gears.emplace_back()));
        break;
      case 10: {
        ANYNPU_ASSIGN(Aipp aipp, decode_aipp(field), "in the description of the model");
        meta.aipp.push_back(std::move(aipp));
        break;
      }
      case 11:
        ANYNPU_TRY(field.to(meta.passes_off.emplace_back()));
        break;
      case 12:
        ANYNPU_TRY(decode_origin(field, meta.origins.emplace_back()));
        break;
      default:
        break;
    }
  }
  ANYNPU_TRY(reader.status(), "in the description of the model");
  for (const Aipp& aipp : meta.aipp) {
    if (aipp.input < meta.inputs.size() && meta.inputs[aipp.input].shape.size() == 4) continue;
    return fail(Code::corrupt_model, "AIPP belongs to input {}, which is no picture", aipp.input);
  }
  if (meta.has_gears() == meta.gears.empty() || meta.gears.size() > kMaxGears) {
    return fail(Code::corrupt_model, "the description has {} gears of kind {}", meta.gears.size(),
                static_cast<int>(meta.gear_kind));
  }
  const size_t count = meta.gear_kind == GearKind::batch   ? 1
                       : meta.gear_kind == GearKind::image ? 2
                                                           : count_dims(meta);
  for (const auto& gear : meta.gears) {
    if (gear.size() == count && !gear.empty()) continue;
    return fail(Code::corrupt_model, "a gear has {} numbers, expected {}", gear.size(), count);
  }
  return meta;
}

}  // namespace anynpu::om
