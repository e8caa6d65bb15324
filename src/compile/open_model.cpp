// SPDX-License-Identifier: Apache-2.0
#include "compile/open_model.h"

#include "base/log.h"
#include "base/mapped_file.h"
#include "base/quiet_write.h"
#include "compile/compile.h"
#include "om/sections.h"
#include "om/vendor.h"

namespace anynpu::compile {

namespace {

Result<om::Model> compile_vendor(const om::VendorFile& file, const ge::ModelDef& description,
                                 std::shared_ptr<const void> owner) {
  ANYNPU_ASSIGN(graph::Graph graph, om::rebuild_vendor_graph(file, std::move(owner)));
  Options options;
  options.model_name = file.header.name.empty() ? description.name : file.header.name;
  options.soc_version = description.string_attr("soc_version");
  options.producer = om::describe_vendor_file(file, &description);
  options.command_line = description.string_attr("atc_cmdline");
  for (graph::ValueId id : graph.inputs) {
    const graph::Value& value = graph.values[static_cast<size_t>(id)];
    if (value.shape.size() == 4 && value.format == Format::nhwc) {
      options.input_format = Format::nhwc;
    }
  }
  return compile(std::move(graph), options);
}

void say_rebuilt(const om::Model& model) {
  const std::string line = format(
      "'{}' is {}: its graph was rebuilt from the description in the file and runs without the "
      "chip's code",
      model.meta.name, model.meta.producer);
  ANYNPU_LOG(warning, "{}", line);
  write_error_text(format("anynpu: {}\n", line));
}

}  // namespace

Result<om::Model> rebuild_vendor(std::span<const std::byte> bytes,
                                 std::shared_ptr<const void> owner) {
  ANYNPU_ASSIGN(const om::VendorFile file, om::read_vendor_file(bytes));
  const auto description = om::read_vendor_description(file);
  const ge::ModelDef* known = description.ok() ? &*description : nullptr;
  Status why = description.status();
  if (known) {
    auto model = compile_vendor(file, *known, std::move(owner));
    if (model.ok()) return model;
    why = model.status();
  }
  if (why.code() == Code::corrupt_model || why.code() == Code::parse_error) {
    return why.with_code(Code::corrupt_model);
  }
  return fail(Code::version_mismatch,
              "the file is {} and holds code for that chip. Its graph cannot be rebuilt here: {}\n"
              "Make one that runs here from the source model, with atc of AnyNPU: {}",
              om::describe_vendor_file(file, known), why.to_string(),
              om::vendor_command(file, known));
}

Result<om::Model> open_file(const std::string& path, const om::WeightSource& weights) {
  ANYNPU_ASSIGN(auto file, MappedFile::open(path), "while loading the model '{}'", path);
  if (!om::is_vendor_file(file->bytes())) return om::read_file(path, weights);
  ANYNPU_ASSIGN(om::Model model, rebuild_vendor(file->bytes(), file),
                "while loading the model '{}'", path);
  say_rebuilt(model);
  return model;
}

Result<om::Model> open_copy(std::span<const std::byte> bytes, const om::WeightSource& weights) {
  if (!om::is_vendor_file(bytes)) return om::read_copy(bytes, weights);
  ANYNPU_ASSIGN(const auto copy, om::aligned_copy(bytes));
  ANYNPU_ASSIGN(om::Model model, rebuild_vendor(copy.bytes, copy.owner));
  say_rebuilt(model);
  return model;
}

Result<om::Meta> open_meta(std::span<const std::byte> bytes) {
  if (!om::is_vendor_file(bytes)) return om::read_meta(bytes);
  ANYNPU_ASSIGN(om::Model model, rebuild_vendor(bytes, nullptr));
  return std::move(model.meta);
}

}  // namespace anynpu::compile
