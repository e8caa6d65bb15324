// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/soc.h"

namespace anynpu {
const char* version();
}

namespace anynpu::atc {

namespace {

// These work.
constexpr std::array<OptionSpec, 18> kWorking = {{
    {"model", "path", "", "The model file: .onnx, or the .prototxt of Caffe."},
    {"framework", "0|1|3|5", "",
     "0 Caffe, 1 MindSpore, 3 TensorFlow, 5 ONNX; this release reads 0 and 5."},
    {"output", "path", "", "Path and name of the result; .om is added."},
    {"soc_version", "Ascend310P3|...", "", "The chip: 'Ascend' + the Name of npu-smi info."},
    {"input_shape", "\"name1:n,c,h,w;name2:n,c\"", "",
     "Shapes of the inputs; an extent is a number, -1 (any, or chosen by a gear) or a range 1~10; "
     "a "
     "scalar is \"name:\"."},
    {"input_shape_range", "\"name:[1~10,3,-1]\"", "", "Ranges of shapes, in the older form."},
    {"dynamic_batch_size", "\"1,2,4\"", "", "Gears of the batch: 2 to 100."},
    {"dynamic_image_size", "\"h1,w1;h2,w2\"", "", "Gears of height and width: 2 to 100."},
    {"dynamic_dims", "\"a1,b1;a2,b2\"", "",
     "Gears of every -1 in --input_shape: 2 to 100; needs --input_format=ND."},
    {"insert_op_conf", "path", "", "AIPP: pictures in bytes are converted inside the model."},
    {"input_format", "NCHW|NCDHW|ND", "NCHW", "Format of the inputs."},
    {"output_type", "FP32|FP16|...", "",
     "Type of the outputs; this release takes the type that they have."},
    {"mode", "0", "0", "0 makes a .om file."},
    {"log", "debug|info|warning|error|null", "null", "Level of the log on standard output."},
    {"precision_mode", "must_keep_origin_dtype|force_fp32|...", "must_keep_origin_dtype",
     "Precision; this release keeps the types of the model."},
    {"precision_mode_v2", "origin|...", "origin",
     "Precision, newer names; this release keeps the types of the model."},
    {"weight", "path", "", "Weights of a Caffe model: .caffemodel."},
    {"help", "", "", "Prints this text."},
}};

// Accepted: they steer the card or its tools and change no result here.
constexpr std::array<std::string_view, 42> kWithoutEffect = {"host_env_os",
                                                             "host_env_cpu",
                                                             "aicore_num",
                                                             "core_type",
                                                             "virtual_type",
                                                             "buffer_optimize",
                                                             "disable_reuse_memory",
                                                             "op_select_implmode",
                                                             "optypelist_for_implmode",
                                                             "op_precision_mode",
                                                             "allow_hf32",
                                                             "atomic_clean_policy",
                                                             "deterministic",
                                                             "sparsity",
                                                             "jit_compile",
                                                             "op_compiler_cache_mode",
                                                             "op_compiler_cache_dir",
                                                             "mdl_bank_path",
                                                             "op_bank_path",
                                                             "enable_small_channel",
                                                             "enable_single_stream",
                                                             "ac_parallel_enable",
                                                             "tiling_schedule_optimize",
                                                             "quant_dumpable",
                                                             "oo_level",
                                                             "op_debug_level",
                                                             "op_debug_config",
                                                             "debug_dir",
                                                             "enable_scope_fusion_passes",
                                                             "cluster_config",
                                                             "raw_ge_options",
                                                             "target",
                                                             "multi_stream_parallel_mode",
                                                             "h2d_overlapped_with_compute",
                                                             "optimization_switch",
                                                             "oo_constant_folding",
                                                             "static_model_ops_lower_limit",
                                                             "shape_generalized_build_mode",
                                                             "hccl_sub_comm_config",
                                                             "is_weight_clip",
                                                             "save_original_model",
                                                             "autotune_mode"};

// Documented and not there yet: refused, because ignoring them would change the result.
constexpr std::array<std::string_view, 19> kLater = {"out_nodes",
                                                     "input_fp16_nodes",
                                                     "is_input_adjust_hw_layout",
                                                     "is_output_adjust_hw_layout",
                                                     "modify_mixlist",
                                                     "keep_dtype",
                                                     "customize_dtypes",
                                                     "status_check",
                                                     "om",
                                                     "json",
                                                     "dump_mode",
                                                     "check_report",
                                                     "external_weight",
                                                     "display_model_info",
                                                     "op_name_map",
                                                     "singleop",
                                                     "fusion_switch_file",
                                                     "compression_optimize_conf",
                                                     "op_attrs"};

template <size_t N>
bool contains(const std::array<std::string_view, N>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

Status check_later(const CommandLine& line) {
  for (const auto& [name, value] : line.given()) {
    if (contains(kLater, name)) {
      return fail(Code::unsupported_feature,
                  "--{}={} is not in this release; leave it out, or wait for the next one", name,
                  value);
    }
  }
  return {};
}

Status check_precision(const CommandLine& line) {
  if (line.has("precision_mode") && line.has("precision_mode_v2")) {
    return fail(Code::invalid_argument,
                "--precision_mode and --precision_mode_v2 exclude each other; give one of them");
  }
  constexpr std::array<std::string_view, 3> kept = {"must_keep_origin_dtype", "force_fp32",
                                                    "cube_fp16in_fp32out"};
  constexpr std::array<std::string_view, 5> known = {
      "force_fp16", "allow_fp32_to_fp16", "allow_mix_precision", "allow_mix_precision_fp16",
      "allow_mix_precision_bf16"};
  constexpr std::array<std::string_view, 2> kept_v2 = {"origin", "cube_fp16in_fp32out"};
  constexpr std::array<std::string_view, 4> known_v2 = {"fp16", "mixed_float16", "mixed_bfloat16",
                                                        "mixed_hif8"};
  const auto check = [&](std::string_view option, const auto& working,
                         const auto& later) -> Status {
    const std::string mode = line.get(option);
    if (contains(working, mode)) return {};
    if (contains(later, mode)) {
      return fail(Code::unsupported_feature,
                  "--{}={} is not in this release, which keeps the types of the model; use {}",
                  option, mode, working[0]);
    }
    return fail(Code::invalid_argument, "--{} is '{}'; expected {} or another documented value",
                option, mode, working[0]);
  };
  ANYNPU_TRY(check("precision_mode", kept, known));
  return check("precision_mode_v2", kept_v2, known_v2);
}

Status need(const CommandLine& line, std::string_view name) {
  if (!line.get(name).empty()) return {};
  return fail(Code::invalid_argument,
              "--{} is missing; expected --model, --framework, --output and --soc_version", name);
}

// The guide asks for both files of a Caffe model.
Status need_weight(const CommandLine& line) {
  if (!line.get("weight").empty()) return {};
  return fail(Code::invalid_argument,
              "--weight is missing; a Caffe model has two files, --model=net.prototxt and "
              "--weight=net.caffemodel");
}

Result<Format> parse_format(const std::string& text) {
  if (text == "NCHW") return Format::nchw;
  if (text == "NCDHW") return Format::ncdhw;
  if (text == "ND") return Format::nd;
  return fail(Code::invalid_argument, "--input_format is '{}'; for ONNX expected NCHW, NCDHW or ND",
              text);
}

Result<DType> parse_output_type(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, DType>, 11> types = {{{"FP32", DType::f32},
                                                                         {"FP16", DType::f16},
                                                                         {"UINT8", DType::u8},
                                                                         {"INT8", DType::i8},
                                                                         {"UINT16", DType::u16},
                                                                         {"INT16", DType::i16},
                                                                         {"UINT32", DType::u32},
                                                                         {"INT32", DType::i32},
                                                                         {"UINT64", DType::u64},
                                                                         {"INT64", DType::i64},
                                                                         {"DOUBLE", DType::f64}}};
  if (text.empty()) return DType::undefined;
  for (const auto& [name, type] : types) {
    if (text == name) return type;
  }
  if (text.find(':') != std::string::npos) {
    return fail(Code::unsupported_feature,
                "--output_type={} names single outputs, which is not in this release", text);
  }
  return fail(Code::invalid_argument, "--output_type is '{}'; expected FP32, FP16, INT8, ...",
              text);
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

}  // namespace

std::span<const OptionSpec> options() {
  static const std::vector<OptionSpec> all = [] {
    std::vector<OptionSpec> list(kWorking.begin(), kWorking.end());
    for (std::string_view name : kWithoutEffect) {
      list.push_back({name, "value", "", "Accepted; has no effect off the card."});
    }
    for (std::string_view name : kLater) {
      list.push_back({name, "value", "", "Not in this release: refused."});
    }
    return list;
  }();
  return all;
}

std::vector<std::string> without_effect(const CommandLine& line) {
  std::vector<std::string> names;
  for (const auto& [name, value] : line.given()) {
    if (contains(kWithoutEffect, name)) names.push_back(name);
  }
  return names;
}

Result<compile::Conversion> plan_conversion(const CommandLine& line, const std::string& command) {
  if (line.get("mode") != "0") {
    return fail(Code::unsupported_feature,
                "--mode={} is not in this release; expected 0, which makes a .om file",
                line.get("mode"));
  }
  ANYNPU_TRY(check_later(line));
  for (std::string_view name : {"model", "framework", "output", "soc_version"}) {
    ANYNPU_TRY(need(line, name));
  }
  compile::Conversion work;
  ANYNPU_ASSIGN(work.framework, compile::parse_framework(line.get("framework")));
  ANYNPU_TRY(check_soc_name(line.get("soc_version")), "in --soc_version");
  ANYNPU_TRY(check_precision(line));
  const bool caffe = work.framework == compile::Framework::caffe;
  if (caffe) ANYNPU_TRY(need_weight(line));
  if (!caffe && line.has("weight")) {
    return fail(Code::invalid_argument,
                "--weight is '{}'; an ONNX model holds its weights itself, leave the option out",
                line.get("weight"));
  }
  ANYNPU_ASSIGN(work.output_path, parse_output(line.get("output")));
  ANYNPU_ASSIGN(work.options.input_format, parse_format(line.get("input_format")));
  ANYNPU_TRY(parse_shapes(line, work.options));
  if (line.has("insert_op_conf")) {
    ANYNPU_ASSIGN(work.options.aipp, compile::read_aipp_file(line.get("insert_op_conf")));
    if (work.options.input_format != Format::nchw && work.options.input_format != Format::nhwc) {
      return fail(Code::invalid_argument,
                  "--insert_op_conf needs --input_format=NCHW or NHWC, which is {}",
                  line.get("input_format"));
    }
  }
  ANYNPU_ASSIGN(work.options.output_type, parse_output_type(line.get("output_type")));
  work.model_path = line.get("model");
  work.weight_path = line.get("weight");
  work.options.model_name = std::filesystem::path(work.output_path).stem().string();
  work.options.soc_version = line.get("soc_version");
  work.options.producer = format("AnyNPU {}", version());
  work.options.given = line.given();
  work.options.command_line = command;
  return work;
}

std::string help() {
  return "usage: atc --model=model.onnx --framework=5 --output=model --soc_version=Ascend310P3\n"
         "       atc --model=net.prototxt --weight=net.caffemodel --framework=0 ...\n"
         "           [--input_shape=\"name:n,c,h,w\"] ...\n"
         "Converts a model into the offline form (.om) that AnyNPU loads. One dash works as well "
         "as "
         "two.\n\n" +
         option_help(options());
}

}  // namespace anynpu::atc
