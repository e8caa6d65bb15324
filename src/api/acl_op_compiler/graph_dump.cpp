// SPDX-License-Identifier: Apache-2.0
// The graph of one operator as a file. Only descriptions and constants say what it is: data in the
// buffers is not read.
#include <filesystem>

#include "acl/acl_op_compiler.h"
#include "api/acl/object_calls.h"
#include "api/acl_op_compiler/compile.h"
#include "base/crc32c.h"
#include "compile/stages.h"
#include "import/singleop/table.h"
#include "service/op/op_call.h"
#include "tensor/data_buffer.h"

namespace anynpu::acl {

// aclGraphDumpOption: there is nothing to choose yet.
struct GraphDumpOption {};

}  // namespace anynpu::acl

namespace anynpu {
ANYNPU_HANDLE_TYPE(acl::GraphDumpOption, graph_dump_option);
}

namespace anynpu::acl {

namespace {

using namespace service;

// Every tensor that is not left out has a buffer.
template <typename Buffer>
Status check_buffers(const std::vector<TensorDesc>& descs, Buffer* const* buffers,
                     const char* name) {
  if (descs.empty()) return {};
  ANYNPU_TRY(check_pointer(buffers, name));
  for (size_t i = 0; i < descs.size(); ++i) {
    if (descs[i].dtype == DType::undefined) continue;
    ANYNPU_TRY(resolve<DataBuffer>(to_handle(buffers[i])).status(), "item {} of {}", i, name);
  }
  return {};
}

// In a folder the file is named after what the operator computes, so that others stay.
std::string file_of(const char* path, const singleop::SingleOp& op) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  const std::string key = singleop::key_of(op);
  const std::string name =
      format("ge_proto_{}_{}.txt", op.type, crc32c(std::as_bytes(std::span(key))));
  return (std::filesystem::path(path) / name).string();
}

Status dump(const OpArguments& arguments, const OpBuffers& buffers, aclopEngineType engine,
            const char* path, const aclGraphDumpOption* option) {
  ANYNPU_TRY(check_engine(engine));
  ANYNPU_TRY(check_pointer(path, "graphDumpPath"));
  if (!*path) {
    return fail(Code::invalid_argument, "graphDumpPath is empty; expected a file or a folder");
  }
  if (option) ANYNPU_TRY(resolve<GraphDumpOption>(to_handle(option)).status());
  auto op = read_op(arguments);
  if (!op.ok()) return op.status();
  ANYNPU_TRY(check_buffers(op->inputs, buffers.input, "inputs"));
  ANYNPU_TRY(check_buffers(op->outputs, buffers.output, "outputs"));
  auto graph = singleop::build_graph(*op);
  if (!graph.ok()) return op_failure(graph.status());
  return compile::write_graph_text(*graph, op->type, file_of(path, *op));
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclGraphDumpOption* aclCreateGraphDumpOpt(void) {
  return create<aclGraphDumpOption*, GraphDumpOption>(__func__);
}

aclError aclDestroyGraphDumpOpt(const aclGraphDumpOption* graphDumpOpt) {
  return destroy<GraphDumpOption>(__func__, graphDumpOpt);
}

aclError aclGenGraphAndDumpForOp(const char* opType, int numInputs,
                                 const aclTensorDesc* const inputDesc[],
                                 const aclDataBuffer* const inputs[], int numOutputs,
                                 const aclTensorDesc* const outputDesc[],
                                 aclDataBuffer* const outputs[], const aclopAttr* attr,
                                 aclopEngineType engineType, const char* graphDumpPath,
                                 const aclGraphDumpOption* graphDumpOpt) {
  return enter(__func__, [&] {
    return dump({opType, numInputs, inputDesc, numOutputs, outputDesc, attr},
                {numInputs, inputs, numOutputs, outputs}, engineType, graphDumpPath, graphDumpOpt);
  });
}

}  // extern "C"
