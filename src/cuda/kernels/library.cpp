// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/library.h"

#include <dlfcn.h>

#include "base/env.h"
#include "base/text.h"

namespace anynpu::device::cuda {

namespace {

std::vector<std::string> folders() {
  std::vector<std::string> all{""};
  for (const std::string_view folder : split(env::text(env::Name::cuda_libraries), ':')) {
    if (!folder.empty()) all.push_back(std::string(folder) + "/");
  }
  all.emplace_back("/usr/local/cuda/lib64/");
  return all;
}

}  // namespace

Result<void*> open_library(const char* file, const char* package) {
  std::string tried;
  for (const std::string& folder : folders()) {
    if (void* const library = dlopen((folder + file).c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
    tried += format("{}{}", tried.empty() ? "" : "; ", dlerror());
  }
  return fail(Code::unsupported_feature,
              "{} cannot be opened ({}); install the CUDA 13 toolkit, or `pip install {}` and name "
              "its folder in ANYNPU_CUDA_LIBRARIES",
              file, tried, package);
}

Result<void*> function_of(void* library, const char* file, const char* name) {
  if (void* const found = dlsym(library, name)) return found;
  return fail(Code::unsupported_feature, "{} has no function {}; install the one of CUDA 13", file,
              name);
}

}  // namespace anynpu::device::cuda
