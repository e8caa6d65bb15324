// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/library.h"

#include <dlfcn.h>

#include <filesystem>

#include "base/env.h"
#include "base/text.h"

namespace anynpu::device::cuda {

namespace {

constexpr int kMostLevels = 6;

// NVIDIA's packages of PyPI that are installed beside this library: nvidia/*/lib in a folder above
// it.
std::vector<std::string> package_folders() {
  std::vector<std::string> found;
  Dl_info self = {};
  if (!dladdr(reinterpret_cast<void*>(&package_folders), &self) || !self.dli_fname) return found;
  std::error_code error;
  std::filesystem::path above = std::filesystem::absolute(self.dli_fname, error).parent_path();
  for (int level = 0; level < kMostLevels && above.has_relative_path(); ++level) {
    for (const auto& package : std::filesystem::directory_iterator(above / "nvidia", error)) {
      if (std::filesystem::is_directory(package.path() / "lib", error))
        found.push_back((package.path() / "lib").string() + "/");
    }
    above = above.parent_path();
  }
  return found;
}

std::vector<std::string> folders() {
  std::vector<std::string> all{""};
  for (const std::string_view folder : split(env::text(env::Name::cuda_libraries), ':')) {
    if (!folder.empty()) all.push_back(std::string(folder) + "/");
  }
  for (std::string& folder : package_folders()) all.push_back(std::move(folder));
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
  return fail(
      Code::unsupported_feature,
      "{} cannot be opened ({}); install the CUDA 13 toolkit or `pip install {}` (all of them: "
      "`pip install anynpu[cuda]`), or name its folder in ANYNPU_CUDA_LIBRARIES",
      file, tried, package);
}

Result<void*> function_of(void* library, const char* file, const char* name) {
  if (void* const found = dlsym(library, name)) return found;
  return fail(Code::unsupported_feature, "{} has no function {}; install the one of CUDA 13", file,
              name);
}

}  // namespace anynpu::device::cuda
