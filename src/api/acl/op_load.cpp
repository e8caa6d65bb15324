// SPDX-License-Identifier: Apache-2.0
// Models of single operators: from a folder, from memory, and how many compiled ones are kept.
#include <algorithm>
#include <filesystem>

#include "acl/acl_op.h"
#include "api/acl/entry.h"
#include "om/container.h"
#include "service/model/load.h"
#include "service/op/op_call.h"

namespace anynpu::acl {

namespace {

namespace fs = std::filesystem;
constexpr int kLevels = 3;  // the folder itself and two below it

// The .om files, in order of their names.
Status list_models(const fs::path& folder, int levels, std::vector<fs::path>& out) {
  std::error_code error;
  std::vector<fs::path> files, folders;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->is_directory(error))
      folders.push_back(at->path());
    else if (at->path().extension() == ".om")
      files.push_back(at->path());
  }
  if (error) {
    return fail(Code::folder_invalid, "folder '{}' cannot be read: {}; expected one with .om files",
                folder.string(), error.message());
  }
  std::sort(files.begin(), files.end());
  std::sort(folders.begin(), folders.end());
  out.insert(out.end(), files.begin(), files.end());
  if (levels <= 1) return {};
  for (const fs::path& inner : folders) ANYNPU_TRY(list_models(inner, levels - 1, out));
  return {};
}

Status load_folder(const char* folder) {
  ANYNPU_TRY(check_pointer(folder, "modelDir"));
  std::vector<fs::path> files;
  ANYNPU_TRY(list_models(folder, kLevels, files));
  // All are read before the first counts: a damaged file changes nothing.
  std::vector<om::Model> models;
  for (const fs::path& file : files) {
    auto model = om::read_file(file.string());
    if (!model.ok()) return model.status().with_note(format("in '{}'", file.string()));
    models.push_back(std::move(*model));
  }
  service::prepare_op_models();
  for (size_t i = 0; i < models.size(); ++i) {
    ANYNPU_TRY(exec::OpModels::instance().add(std::move(models[i]), exec::OpModels::Origin::loaded),
               "in '{}'", files[i].string());
  }
  return {};
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclopSetModelDir(const char* modelDir) {
  return enter(__func__, [&] { return load_folder(modelDir); });
}

aclError aclopLoad(const void* model, size_t modelSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto range, service::check_model_memory(model, modelSize));
    ANYNPU_ASSIGN(om::Model read,
                  om::read_copy(std::as_bytes(std::span(range.address, modelSize))));
    service::prepare_op_models();
    return exec::OpModels::instance().add(std::move(read), exec::OpModels::Origin::loaded);
  });
}

aclError aclopSetMaxOpQueueNum(uint64_t maxOpNum) {
  return enter(__func__, [&]() -> Status {
    if (maxOpNum == 0) {
      return fail(Code::invalid_argument, "maxOpNum is 0; expected at least 1");
    }
    exec::OpModels::instance().set_limit(maxOpNum);
    return {};
  });
}

}  // extern "C"
