// SPDX-License-Identifier: Apache-2.0
// The operators of a source model and whether they are supported: the report of atc --mode=3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace anynpu {

struct OpReport {
  std::string name, type;
  std::string domain;  // ONNX: "" is the default one
  int64_t opset = 0;   // ONNX alone
  std::string cause;   // why it cannot be read; empty when it can
};

namespace onnx {
// Every node of the file, including subgraphs. Fails for files that are not ONNX models.
Result<std::vector<OpReport>> report_operators(const std::string& path);
}  // namespace onnx

namespace caffe {
// Every layer of the prototxt.
Result<std::vector<OpReport>> report_layers(const std::string& prototxt);
}  // namespace caffe

namespace tensorflow {
// Every node of the GraphDef and of its functions.
Result<std::vector<OpReport>> report_nodes(const std::string& path);
}  // namespace tensorflow

namespace mindspore {
// Every node of a .mindir, every operator of an .air.
Result<std::vector<OpReport>> report_operators(const std::string& path);
}  // namespace mindspore

}  // namespace anynpu
