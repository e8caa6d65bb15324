// SPDX-License-Identifier: Apache-2.0
#include "om/codec.h"

namespace anynpu::om {

namespace {

WireWriter encode_info(const TensorInfo& info) {
  WireWriter out;
  out.text(1, info.name);
  out.integer(2, static_cast<int64_t>(info.dtype));
  out.integer(3, static_cast<int64_t>(info.format));
  out.packed(4, std::span<const int64_t>(info.shape));
  out.varint(5, info.size);
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
      default:
        break;
    }
  }
  ANYNPU_TRY(reader.status());
  ANYNPU_TRY(check_shape(info.shape));
  return info;
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
      default:
        break;
    }
  }
  ANYNPU_TRY(reader.status(), "in the description of the model");
  return meta;
}

}  // namespace anynpu::om
