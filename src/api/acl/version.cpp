// SPDX-License-Identifier: Apache-2.0
// Versions and the chip's name: which interface AnyNPU speaks, not which card software is
// installed. All of them may be called at any time.
#include <array>
#include <cstring>
#include <string_view>

#include "acl/acl.h"
#include "acl/rt/device_query.h"
#include "api/acl/entry.h"
#include "base/soc.h"

namespace anynpu::acl {

namespace {

// The release of the guide that AnyNPU follows.
constexpr std::string_view kVersion = "8.0.RC2.alpha001";
constexpr std::array<std::string_view, 4> kVersionParts = {"8", "0", "RC2", "alpha001"};

struct Package {
  std::string_view name;
  bool here;  // whether AnyNPU stands in for it
};

// In the order of aclCANNPackageName.
constexpr Package kPackages[] = {{"cann", true},       {"runtime", true}, {"compiler", true},
                                 {"hccl", true},       {"toolkit", true}, {"opp", true},
                                 {"opp_kernel", true}, {"driver", false}};

Status check_package(const Package& package) {
  if (package.here) return {};
  return fail(Code::file_not_found,
              "the package '{}' is not part of AnyNPU; expected cann, runtime, compiler, hccl, "
              "toolkit, opp "
              "or opp_kernel",
              package.name);
}

template <size_t size>
void put(char (&field)[size], std::string_view text) {
  const size_t length = text.size() < size ? text.size() : size - 1;
  std::memcpy(field, text.data(), length);
  std::memset(field + length, 0, size - length);
}

Status version_of(int name, aclCANNPackageVersion* version) {
  ANYNPU_TRY(check_pointer(version, "version"));
  if (name < 0 || name >= static_cast<int>(std::size(kPackages))) {
    return fail(Code::invalid_argument, "package name {} does not exist; expected 0 to {}", name,
                std::size(kPackages) - 1);
  }
  ANYNPU_TRY(check_package(kPackages[name]));
  put(version->version, kVersion);
  put(version->majorVersion, kVersionParts[0]);
  put(version->minorVersion, kVersionParts[1]);
  put(version->releaseVersion, kVersionParts[2]);
  put(version->patchVersion, kVersionParts[3]);
  put(version->reserved, "");
  return {};
}

// major * 10^7 + minor * 10^5 + patch * 10^3 of the release that the version leads to; an alpha, a
// beta and a candidate of it come before it, in that order.
constexpr int32_t kReleaseNumber = 8 * 10'000'000;
constexpr int32_t kVersionNumber = kReleaseNumber - 300 + 1;  // alpha001

Status version_number(const char* name, int32_t* number) {
  ANYNPU_TRY(check_pointer(name, "pkgName"));
  ANYNPU_TRY(check_pointer(number, "versionNum"));
  for (const Package& package : kPackages) {
    if (package.name != name) continue;
    ANYNPU_TRY(check_package(package));
    *number = kVersionNumber;
    return {};
  }
  return fail(Code::file_not_found,
              "there is no package '{}'; expected cann, runtime, compiler, hccl, toolkit, opp or "
              "opp_kernel",
              name);
}

Status version_text(const char* name, char* text) {
  ANYNPU_TRY(check_pointer(name, "pkgName"));
  ANYNPU_TRY(check_pointer(text, "versionStr"));
  for (const Package& package : kPackages) {
    if (package.name != name) continue;
    ANYNPU_TRY(check_package(package));
    std::memcpy(text, kVersion.data(), kVersion.size());
    text[kVersion.size()] = '\0';
    return {};
  }
  return fail(Code::invalid_argument,
              "there is no package '{}'; expected cann, runtime, compiler, hccl, toolkit, opp or "
              "opp_kernel",
              name);
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

const char* aclrtGetSocName(void) { return soc_name().data(); }

aclError aclrtGetVersion(int32_t* majorVersion, int32_t* minorVersion, int32_t* patchVersion) {
  return enter<When::always>(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(majorVersion, "majorVersion"));
    ANYNPU_TRY(check_pointer(minorVersion, "minorVersion"));
    ANYNPU_TRY(check_pointer(patchVersion, "patchVersion"));
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return {};
  });
}

aclError aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion* version) {
  return enter<When::always>(__func__, [&]() -> Status { return version_of(name, version); });
}

aclError aclsysGetVersionStr(char* pkgName, char* versionStr) {
  return enter<When::always>(__func__,
                             [&]() -> Status { return version_text(pkgName, versionStr); });
}

aclError aclsysGetVersionNum(char* pkgName, int32_t* versionNum) {
  return enter<When::always>(__func__, [&] { return version_number(pkgName, versionNum); });
}

}  // extern "C"
