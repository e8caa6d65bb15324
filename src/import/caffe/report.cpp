// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"
#include "import/caffe/builder.h"
#include "import/model_kind.h"
#include "import/op_report.h"

namespace anynpu::caffe {

Result<std::vector<OpReport>> report_layers(const std::string& prototxt) {
  ANYNPU_ASSIGN(const auto file, MappedFile::open(prototxt), "while opening the Caffe prototxt");
  const auto bytes = file->bytes();
  ANYNPU_TRY(check_kind(bytes, 0), "while reading '{}'", prototxt);
  ANYNPU_ASSIGN(const NetText net,
                read_net({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, prototxt),
                "while reading the prototxt");
  std::vector<OpReport> reports;
  for (const Layer& layer : net.layers)
    reports.push_back({layer.name, layer.type, "", 0, refusal_of(layer.type)});
  return reports;
}

}  // namespace anynpu::caffe
