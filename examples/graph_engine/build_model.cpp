// SPDX-License-Identifier: Apache-2.0
// Compiles an ONNX model in the program's own process, saves it, loads the bytes and prints what
// the model takes and returns.
//   g++ -std=c++17 build_model.cpp -I$ASCEND_HOME_PATH/include -L$ASCEND_HOME_PATH/lib64
//       -lfmk_onnx_parser -lascendcl -o build_model
//   ./build_model model.onnx "x:1,3,224,224" model
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "acl/acl.h"
#include "ge/ge_api_types.h"
#include "ge/ge_ir_build.h"
#include "parser/onnx_parser.h"

static int failed(const char* what) {
  const char* reason = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s: %s\n", what, reason ? reason : "no reason was given");
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s MODEL.onnx INPUT_SHAPE OUTPUT\n", argv[0]);
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::string onnx((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());

  std::map<ge::AscendString, ge::AscendString> global = {
      {ge::AscendString(ge::ir_option::SOC_VERSION), ge::AscendString("Ascend310P3")}};
  if (ge::aclgrphBuildInitialize(global) != ge::GRAPH_SUCCESS) return failed("initialise");

  ge::Graph graph("net");
  std::map<ge::AscendString, ge::AscendString> parser;
  if (ge::aclgrphParseONNXFromMem(onnx.data(), onnx.size(), parser, graph) != ge::GRAPH_SUCCESS) {
    return failed("parse");
  }
  std::map<ge::AscendString, ge::AscendString> options = {
      {ge::AscendString(ge::ir_option::INPUT_SHAPE), ge::AscendString(argv[2])}};
  ge::ModelBufferData model;
  if (ge::aclgrphBuildModel(graph, options, model) != ge::GRAPH_SUCCESS) return failed("build");
  if (ge::aclgrphSaveModel(argv[3], model) != ge::GRAPH_SUCCESS) return failed("save");
  ge::aclgrphBuildFinalize();

  if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return failed("init");
  uint32_t id = 0;
  if (aclmdlLoadFromMem(model.data.get(), model.length, &id) != ACL_SUCCESS) return failed("load");
  aclmdlDesc* desc = aclmdlCreateDesc();
  aclmdlGetDesc(desc, id);
  std::printf("%zu inputs of %zu bytes, %zu outputs of %zu bytes\n", aclmdlGetNumInputs(desc),
              aclmdlGetInputSizeByIndex(desc, 0), aclmdlGetNumOutputs(desc),
              aclmdlGetOutputSizeByIndex(desc, 0));
  aclmdlDestroyDesc(desc);
  aclmdlUnload(id);
  aclrtResetDevice(0);
  return aclFinalize() == ACL_SUCCESS ? 0 : 1;
}
