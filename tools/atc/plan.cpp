// SPDX-License-Identifier: Apache-2.0
// From a command line to the work of mode 0, with every documented check.
#include <filesystem>

#include "base/soc.h"
#include "base/text.h"
#include "compile/pass_switch.h"
#include "options.h"

namespace anynpu {
const char* version();
}

namespace anynpu::atc {

namespace {

Status need(const CommandLine& line, std::string_view name) {
  if (!line.get(name).empty()) return {};
  return fail(Code::invalid_argument,
              "--{} is missing; expected --model, --framework, --output and --soc_version", name);
}

// The guide asks for both files of a Caffe model.
Status check_weight(const CommandLine& line, bool caffe) {
  if (caffe && line.get("weight").empty()) {
    return fail(Code::invalid_argument,
                "--weight is missing; a Caffe model has two files, --model=net.prototxt and "
                "--weight=net.caffemodel");
  }
  if (caffe || !line.has("weight")) return {};
  return fail(Code::invalid_argument,
              "--weight is '{}'; an ONNX model holds its weights itself, leave the option out",
              line.get("weight"));
}

Result<Format> parse_format(const std::string& text, bool caffe) {
  if (text == "NCHW") return Format::nchw;
  if (text == "ND") return Format::nd;
  if (text == "NHWC" && !caffe) return Format::nhwc;
  if (text == "NCDHW" && !caffe) return Format::ncdhw;
  return fail(Code::invalid_argument, "--input_format is '{}'; for {} expected {}", text,
              caffe ? "Caffe" : "ONNX", caffe ? "NCHW or ND" : "NCHW, NHWC, NCDHW or ND");
}

Result<bool> parse_switch(const CommandLine& line, std::string_view option) {
  const std::string text = line.get(option);
  if (text == "0" || text == "1") return text == "1";
  return fail(Code::invalid_argument, "--{} is '{}'; expected 0 or 1", option, text);
}

// The options of dynamic shapes, with what they exclude and need.
Status parse_shapes(const CommandLine& line, compile::Options& options) {
  ANYNPU_ASSIGN(options.gears,
                compile::parse_gears(line.get("dynamic_batch_size"), line.get("dynamic_image_size"),
                                     line.get("dynamic_dims")));
  const bool gears = options.gears.kind != om::GearKind::none;
  if (line.has("input_shape_range")) {
    if (gears || line.has("input_shape")) {
      return fail(Code::invalid_argument,
                  "--input_shape_range excludes --input_shape and the options of gears; write the "
                  "ranges in --input_shape");
    }
    ANYNPU_ASSIGN(options.input_shapes,
                  compile::parse_input_shape_range(line.get("input_shape_range")));
    return {};
  }
  ANYNPU_ASSIGN(options.input_shapes, compile::parse_input_shapes(line.get("input_shape")));
  if (gears && !line.has("input_shape")) {
    return fail(Code::invalid_argument,
                "--input_shape is missing; gears need it, with -1 where they choose");
  }
  if (options.gears.kind == om::GearKind::dims && line.has("insert_op_conf")) {
    return fail(Code::invalid_argument,
                "--insert_op_conf and --dynamic_dims exclude each other; give one of them");
  }
  if (options.gears.kind == om::GearKind::dims && options.input_format != Format::nd) {
    return fail(Code::invalid_argument, "--dynamic_dims needs --input_format=ND, which is {}",
                line.get("input_format"));
  }
  if (options.gears.kind == om::GearKind::image && options.input_format != Format::nchw &&
      options.input_format != Format::nhwc) {
    return fail(Code::invalid_argument,
                "--dynamic_image_size needs --input_format=NCHW or NHWC, which is {}",
                line.get("input_format"));
  }
  return {};
}

// "true,false" of the two hw_layout options: `count` of them.
Result<std::vector<bool>> parse_layouts(const CommandLine& line, std::string_view option,
                                        std::string_view needed, size_t count) {
  std::vector<bool> layouts;
  if (!line.has(option)) return layouts;
  if (count == 0)
    return fail(Code::invalid_argument, "--{} needs --{}, which is not given", option, needed);
  for (const std::string& word : split_words(line.get(option), ',')) {
    if (word != "true" && word != "false") {
      return fail(Code::invalid_argument, "--{} is '{}'; expected true or false, by commas", option,
                  line.get(option));
    }
    layouts.push_back(word == "true");
  }
  if (layouts.size() == count) return layouts;
  return fail(Code::invalid_argument, "--{} has {} entries, --{} has {}; expected one for each",
              option, layouts.size(), needed, count);
}

// What the model takes and returns.
Status parse_ends(const CommandLine& line, compile::Options& options) {
  ANYNPU_ASSIGN(options.out_nodes, compile::parse_out_nodes(line.get("out_nodes")));
  ANYNPU_ASSIGN(options.output_types, compile::parse_output_types(line.get("output_type")));
  if (!options.output_types.of_output.empty() && options.out_nodes.empty()) {
    return fail(Code::invalid_argument,
                "--output_type={} names single outputs, which needs --out_nodes in the style "
                "node:index",
                line.get("output_type"));
  }
  options.fp16_inputs = split_words(line.get("input_fp16_nodes"), ';');
  ANYNPU_ASSIGN(options.blocked_inputs,
                parse_layouts(line, "is_input_adjust_hw_layout", "input_fp16_nodes",
                              options.fp16_inputs.size()));
  ANYNPU_ASSIGN(options.blocked_outputs, parse_layouts(line, "is_output_adjust_hw_layout",
                                                       "out_nodes", options.out_nodes.size()));
  return {};
}

Status parse_aipp_option(const CommandLine& line, compile::Options& options) {
  if (!line.has("insert_op_conf")) return {};
  ANYNPU_ASSIGN(options.aipp, compile::read_aipp_file(line.get("insert_op_conf")));
  if (options.input_format == Format::nchw || options.input_format == Format::nhwc) return {};
  return fail(Code::invalid_argument,
              "--insert_op_conf needs --input_format=NCHW or NHWC, which is {}",
              line.get("input_format"));
}

// "dir/name" -> "dir/name.om"; the folder must be there.
Result<std::string> parse_output(const std::string& text) {
  namespace fs = std::filesystem;
  const fs::path path(text);
  std::error_code error;
  if (path.filename().empty() || fs::is_directory(path, error)) {
    return fail(Code::invalid_argument, "--output is '{}', a folder; add the name of the file",
                text);
  }
  const fs::path folder = path.parent_path();
  if (!folder.empty() && !fs::is_directory(folder, error)) {
    return fail(Code::file_not_found, "--output is '{}', but there is no folder '{}'; create it",
                text, folder.string());
  }
  return path.extension() == ".om" ? text : text + ".om";
}

// What is read and written besides the model.
Status parse_extras(const CommandLine& line, compile::Conversion& work) {
  if (line.has("op_name_map")) {
    if (work.framework != compile::Framework::caffe) {
      return fail(Code::invalid_argument,
                  "--op_name_map is for Caffe models (--framework=0); leave it out");
    }
    ANYNPU_ASSIGN(const std::string text, read_text(line, "op_name_map"));
    ANYNPU_ASSIGN(work.layer_types, compile::parse_op_name_map(text));
  }
  const std::string place = line.get("external_weight");
  if (place != "0" && place != "1" && place != "2") {
    return fail(Code::invalid_argument, "--external_weight is '{}'; expected 0, 1 or 2", place);
  }
  work.weights = place == "0"   ? om::WeightPlace::inside
                 : place == "1" ? om::WeightPlace::file_each
                                : om::WeightPlace::one_file;
  const std::string original = line.get("save_original_model");
  if (original != "true" && original != "false") {
    return fail(Code::invalid_argument, "--save_original_model is '{}'; expected true or false",
                original);
  }
  work.keep_original = original == "true";
  return {};
}

}  // namespace

Result<compile::Precision> parse_precision(const CommandLine& line) {
  if (line.has("precision_mode") && line.has("precision_mode_v2")) {
    return fail(Code::invalid_argument,
                "--precision_mode and --precision_mode_v2 exclude each other; give one of them");
  }
  compile::Precision precision;
  if (line.has("precision_mode")) {
    ANYNPU_ASSIGN(precision.mode, compile::parse_precision_mode(line.get("precision_mode")));
  } else {
    ANYNPU_ASSIGN(precision.mode, compile::parse_precision_mode_v2(line.get("precision_mode_v2")));
  }
  ANYNPU_ASSIGN(precision.clip_weights, parse_switch(line, "is_weight_clip"));
  const bool mixed = precision.mode == compile::PrecisionMode::mixed_float16 ||
                     precision.mode == compile::PrecisionMode::mixed_bfloat16;
  if (line.has("modify_mixlist")) {
    if (!mixed) {
      return fail(Code::invalid_argument,
                  "--modify_mixlist needs a mixed precision mode, such as "
                  "--precision_mode=allow_mix_precision or --precision_mode_v2=mixed_float16");
    }
    ANYNPU_ASSIGN(const std::string text, read_text(line, "modify_mixlist"));
    ANYNPU_TRY(compile::parse_mix_list(text, precision));
  }
  if (line.has("keep_dtype")) {
    ANYNPU_ASSIGN(const std::string text, read_text(line, "keep_dtype"));
    ANYNPU_TRY(compile::parse_keep_dtype(text, precision));
  }
  if (line.has("customize_dtypes")) {
    ANYNPU_ASSIGN(const std::string text, read_text(line, "customize_dtypes"));
    ANYNPU_TRY(compile::parse_custom_dtypes(text, precision));
  }
  return precision;
}

void record(const CommandLine& line, const std::string& command, compile::Options& options) {
  options.soc_version = line.get("soc_version");
  options.producer = format("AnyNPU {}", version());
  options.given = line.given();
  options.command_line = command;
}

Result<compile::Conversion> plan_conversion(const CommandLine& line, const std::string& command) {
  for (std::string_view name : {"model", "framework", "output", "soc_version"}) {
    ANYNPU_TRY(need(line, name));
  }
  compile::Conversion work;
  ANYNPU_ASSIGN(work.framework, compile::parse_framework(line.get("framework")));
  ANYNPU_TRY(check_soc_name(line.get("soc_version")), "in --soc_version");
  ANYNPU_ASSIGN(work.options.precision, parse_precision(line));
  const bool caffe = work.framework == compile::Framework::caffe;
  ANYNPU_TRY(check_weight(line, caffe));
  ANYNPU_ASSIGN(work.output_path, parse_output(line.get("output")));
  ANYNPU_ASSIGN(work.options.input_format, parse_format(line.get("input_format"), caffe));
  ANYNPU_TRY(parse_shapes(line, work.options));
  ANYNPU_TRY(parse_aipp_option(line, work.options));
  ANYNPU_TRY(parse_ends(line, work.options));
  if (line.has("fusion_switch_file")) {
    ANYNPU_ASSIGN(const std::string text, read_text(line, "fusion_switch_file"));
    ANYNPU_ASSIGN(work.options.passes_off, compile::parse_fusion_switch(text));
  }
  ANYNPU_TRY(parse_switch(line, "status_check").status());  // recorded with the options
  ANYNPU_TRY(parse_switch(line, "display_model_info").status());
  ANYNPU_TRY(parse_switch(line, "dump_mode").status());
  ANYNPU_TRY(parse_extras(line, work));
  work.model_path = line.get("model");
  work.weight_path = line.get("weight");
  work.options.model_name = std::filesystem::path(work.output_path).stem().string();
  record(line, command, work.options);
  return work;
}

}  // namespace anynpu::atc
