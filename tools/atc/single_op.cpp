// SPDX-License-Identifier: Apache-2.0
// atc --singleop: one .om per operator of a JSON file, in the folder --output.
#include "compile/single_op.h"

#include <filesystem>

#include "base/format.h"
#include "base/soc.h"
#include "import/singleop/table.h"
#include "om/container.h"
#include "options.h"

namespace anynpu::atc {

namespace {

// One run names all operators that are not there.
Status check_supported(const std::vector<singleop::SingleOp>& ops, const std::string& path) {
  std::string list;
  size_t count = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (singleop::find_vendor_op(ops[i].type)) continue;
    list += format("\n  {} '{}' (operator {})", ops[i].type, ops[i].name, i);
    ++count;
  }
  if (count == 0) return {};
  return fail(Code::unsupported_op,
              "{} operators of '{}' are not supported:{}\ndocs/operator_names.md lists the names "
              "that are there",
              count, path, list);
}

}  // namespace

Status convert_single_ops(const CommandLine& line, const std::string& command) {
  ANYNPU_TRY(check_with_single_op(line));
  const std::string path = line.get("singleop"), folder = line.get("output");
  if (line.get("soc_version").empty() || folder.empty()) {
    return fail(Code::invalid_argument, "--singleop needs --output and --soc_version; add them");
  }
  ANYNPU_TRY(check_soc_name(line.get("soc_version")), "in --soc_version");
  ANYNPU_TRY(compile::read_precision(texts_of(line))
                 .status());  // an operator keeps the types of its description
  ANYNPU_ASSIGN(const std::string text, compile::read_option_file(texts_of(line), "singleop"));
  ANYNPU_ASSIGN(const auto ops, singleop::parse_file_text(text, path));
  ANYNPU_TRY(check_supported(ops, path));
  // All are compiled before the first is written.
  std::vector<om::Model> models;
  for (size_t i = 0; i < ops.size(); ++i) {
    compile::Options options;
    record(line, command, options);
    options.model_name = ops[i].name.empty() ? singleop::file_name(ops[i], i) : ops[i].name;
    ANYNPU_ASSIGN(om::Model model, compile::compile_single_op(ops[i], options),
                  "operator {} of '{}'", i, path);
    models.push_back(std::move(model));
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return fail(Code::io_error, "--output: folder '{}' cannot be made: {}", folder,
                error.message());
  }
  for (const om::Model& model : models) {
    ANYNPU_TRY(om::write_file(model, folder + "/" + model.meta.name + ".om"));
  }
  return {};
}

}  // namespace anynpu::atc
