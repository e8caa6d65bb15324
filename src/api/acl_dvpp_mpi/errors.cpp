// SPDX-License-Identifier: Apache-2.0
// From causes to the numbers of the units.
#include "api/acl_dvpp_mpi/mpi.h"

namespace anynpu::mpi {
namespace {

struct ErrorNumber {
  Code code;
  uint32_t number;
};
constexpr ErrorNumber kNumbers[] = {
    {Code::invalid_device, 2},   {Code::invalid_argument, 3}, {Code::unaligned_address, 3},
    {Code::shape_mismatch, 3},   {Code::file_invalid, 3},     {Code::already_exists, 4},
    {Code::not_found, 5},        {Code::invalid_handle, 6},   {Code::bad_call_order, 9},
    {Code::out_of_memory, 12},   {Code::not_complete, 14},    {Code::timeout, 14},
    {Code::limit_exceeded, 15},  {Code::not_initialized, 16}, {Code::no_context, 16},
    {Code::invalid_address, 17},
};

}  // namespace

hi_s32 number_of(Module module, Code code) {
  if (code == Code::unsupported_feature) return ACL_ERROR_FEATURE_UNSUPPORTED;
  uint32_t number = 21;  // a system error
  for (const ErrorNumber& row : kNumbers)
    if (row.code == code) number = row.number;
  // The system itself has no numbers for devices and addresses.
  if (module == Module::sys && (number == 2 || number == 17)) number = 3;
  return static_cast<hi_s32>(0xA0008000u | static_cast<uint32_t>(module) << 16 | number);
}

}  // namespace anynpu::mpi
