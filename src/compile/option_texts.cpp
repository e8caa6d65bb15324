// SPDX-License-Identifier: Apache-2.0
#include "compile/option_texts.h"

#include "base/mapped_file.h"
#include "base/text.h"
#include "compile/pass_switch.h"

namespace anynpu::compile {

namespace {

Result<Format> parse_format(const std::string& text, bool caffe) {
  if (text == "NCHW") return Format::nchw;
  if (text == "ND") return Format::nd;
  if (text == "NHWC" && !caffe) return Format::nhwc;
  if (text == "NCDHW" && !caffe) return Format::ncdhw;
  return fail(Code::invalid_argument, "--input_format is '{}'; for {} expected {}", text,
              caffe ? "Caffe" : "ONNX, TensorFlow and MindSpore",
              caffe ? "NCHW or ND" : "NCHW, NHWC, NCDHW or ND");
}

// The options of dynamic shapes, with what they exclude and need.
Status parse_shapes(const OptionTexts& texts, Options& options) {
  ANYNPU_ASSIGN(options.gears,
                parse_gears(texts.get("dynamic_batch_size"), texts.get("dynamic_image_size"),
                            texts.get("dynamic_dims")));
  const bool gears = options.gears.kind != om::GearKind::none;
  if (texts.has("input_shape_range")) {
    if (gears || texts.has("input_shape")) {
      return fail(Code::invalid_argument,
                  "--input_shape_range excludes --input_shape and the options of gears; write the "
                  "ranges in --input_shape");
    }
    ANYNPU_ASSIGN(options.input_shapes, parse_input_shape_range(texts.get("input_shape_range")));
    return {};
  }
  ANYNPU_ASSIGN(options.input_shapes, parse_input_shapes(texts.get("input_shape")));
  if (gears && !texts.has("input_shape")) {
    return fail(Code::invalid_argument,
                "--input_shape is missing; gears need it, with -1 where they choose");
  }
  if (options.gears.kind == om::GearKind::dims && texts.has("insert_op_conf")) {
    return fail(Code::invalid_argument,
                "--insert_op_conf and --dynamic_dims exclude each other; give one of them");
  }
  if (options.gears.kind == om::GearKind::dims && options.input_format != Format::nd) {
    return fail(Code::invalid_argument, "--dynamic_dims needs --input_format=ND, which is {}",
                texts.get("input_format"));
  }
  if (options.gears.kind == om::GearKind::image && options.input_format != Format::nchw &&
      options.input_format != Format::nhwc) {
    return fail(Code::invalid_argument,
                "--dynamic_image_size needs --input_format=NCHW or NHWC, which is {}",
                texts.get("input_format"));
  }
  return {};
}

// "true,false" of the two hw_layout options: `count` of them.
Result<std::vector<bool>> parse_layouts(const OptionTexts& texts, std::string_view option,
                                        std::string_view needed, size_t count) {
  std::vector<bool> layouts;
  if (!texts.has(option)) return layouts;
  if (count == 0)
    return fail(Code::invalid_argument, "--{} needs --{}, which is not given", option, needed);
  for (const std::string& word : split_words(texts.get(option), ',')) {
    if (word != "true" && word != "false") {
      return fail(Code::invalid_argument, "--{} is '{}'; expected true or false, by commas", option,
                  texts.get(option));
    }
    layouts.push_back(word == "true");
  }
  if (layouts.size() == count) return layouts;
  return fail(Code::invalid_argument, "--{} has {} entries, --{} has {}; expected one for each",
              option, layouts.size(), needed, count);
}

// What the model takes and returns.
Status parse_ends(const OptionTexts& texts, Options& options) {
  ANYNPU_ASSIGN(options.out_nodes, parse_out_nodes(texts.get("out_nodes")));
  ANYNPU_ASSIGN(options.output_types, parse_output_types(texts.get("output_type")));
  if (!options.output_types.of_output.empty() && options.out_nodes.empty()) {
    return fail(Code::invalid_argument,
                "--output_type={} names single outputs, which needs --out_nodes in the style "
                "node:index",
                texts.get("output_type"));
  }
  options.fp16_inputs = split_words(texts.get("input_fp16_nodes"), ';');
  ANYNPU_ASSIGN(options.blocked_inputs,
                parse_layouts(texts, "is_input_adjust_hw_layout", "input_fp16_nodes",
                              options.fp16_inputs.size()));
  ANYNPU_ASSIGN(options.blocked_outputs, parse_layouts(texts, "is_output_adjust_hw_layout",
                                                       "out_nodes", options.out_nodes.size()));
  return {};
}

Status parse_aipp_option(const OptionTexts& texts, Options& options) {
  if (!texts.has("insert_op_conf")) return {};
  ANYNPU_ASSIGN(options.aipp, read_aipp_file(texts.get("insert_op_conf")));
  if (options.input_format == Format::nchw || options.input_format == Format::nhwc) return {};
  return fail(Code::invalid_argument,
              "--insert_op_conf needs --input_format=NCHW or NHWC, which is {}",
              texts.get("input_format"));
}

}  // namespace

Result<std::string> read_option_file(const OptionTexts& texts, std::string_view option) {
  ANYNPU_ASSIGN(const auto file, MappedFile::open(texts.get(option)), "in --{}", option);
  const auto bytes = file->bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

Result<bool> read_switch(const OptionTexts& texts, std::string_view option) {
  const std::string text = texts.get(option);
  if (text == "0" || text == "1") return text == "1";
  return fail(Code::invalid_argument, "--{} is '{}'; expected 0 or 1", option, text);
}

Result<Precision> read_precision(const OptionTexts& texts) {
  if (texts.has("precision_mode") && texts.has("precision_mode_v2")) {
    return fail(Code::invalid_argument,
                "--precision_mode and --precision_mode_v2 exclude each other; give one of them");
  }
  Precision precision;
  if (texts.has("precision_mode")) {
    ANYNPU_ASSIGN(precision.mode, parse_precision_mode(texts.get("precision_mode")));
  } else {
    ANYNPU_ASSIGN(precision.mode, parse_precision_mode_v2(texts.get("precision_mode_v2")));
  }
  ANYNPU_ASSIGN(precision.clip_weights, read_switch(texts, "is_weight_clip"));
  const bool mixed = precision.mode == PrecisionMode::mixed_float16 ||
                     precision.mode == PrecisionMode::mixed_bfloat16;
  if (texts.has("modify_mixlist")) {
    if (!mixed) {
      return fail(Code::invalid_argument,
                  "--modify_mixlist needs a mixed precision mode, such as "
                  "--precision_mode=allow_mix_precision or --precision_mode_v2=mixed_float16");
    }
    ANYNPU_ASSIGN(const std::string text, read_option_file(texts, "modify_mixlist"));
    ANYNPU_TRY(parse_mix_list(text, precision));
  }
  if (texts.has("keep_dtype")) {
    ANYNPU_ASSIGN(const std::string text, read_option_file(texts, "keep_dtype"));
    ANYNPU_TRY(parse_keep_dtype(text, precision));
  }
  if (texts.has("customize_dtypes")) {
    ANYNPU_ASSIGN(const std::string text, read_option_file(texts, "customize_dtypes"));
    ANYNPU_TRY(parse_custom_dtypes(text, precision));
  }
  return precision;
}

Status read_model_options(const OptionTexts& texts, bool caffe, Options& options) {
  ANYNPU_ASSIGN(options.precision, read_precision(texts));
  ANYNPU_ASSIGN(options.input_format, parse_format(texts.get("input_format"), caffe));
  ANYNPU_TRY(parse_shapes(texts, options));
  ANYNPU_TRY(parse_aipp_option(texts, options));
  ANYNPU_TRY(parse_ends(texts, options));
  if (!texts.has("fusion_switch_file")) return {};
  ANYNPU_ASSIGN(const std::string text, read_option_file(texts, "fusion_switch_file"));
  ANYNPU_ASSIGN(options.passes_off, parse_fusion_switch(text));
  return {};
}

}  // namespace anynpu::compile
