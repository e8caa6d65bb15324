// SPDX-License-Identifier: Apache-2.0
// From a command line to the work of mode 0, with every documented check.
#include <filesystem>

#include "base/soc.h"
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
              "--weight is '{}'; this model holds its weights itself, leave the option out",
              line.get("weight"));
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
    ANYNPU_ASSIGN(const std::string text, compile::read_option_file(texts_of(line), "op_name_map"));
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

compile::OptionTexts texts_of(const CommandLine& line) {
  return {[&line](std::string_view name) { return line.get(name); },
          [&line](std::string_view name) { return line.has(name); }};
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
  const bool caffe = work.framework == compile::Framework::caffe;
  ANYNPU_TRY(check_weight(line, caffe));
  ANYNPU_ASSIGN(work.output_path, parse_output(line.get("output")));
  const compile::OptionTexts texts = texts_of(line);
  ANYNPU_TRY(compile::read_model_options(texts, caffe, work.options));
  // TensorFlow keeps channels last unless the command line says otherwise.
  if (work.framework == compile::Framework::tensorflow && !line.has("input_format"))
    work.options.input_format = Format::nhwc;
  for (std::string_view name : {"status_check", "display_model_info", "dump_mode"}) {
    ANYNPU_TRY(compile::read_switch(texts, name).status());
  }
  ANYNPU_TRY(parse_extras(line, work));
  work.model_path = line.get("model");
  work.weight_path = line.get("weight");
  work.options.model_name = std::filesystem::path(work.output_path).stem().string();
  record(line, command, work.options);
  return work;
}

}  // namespace anynpu::atc
