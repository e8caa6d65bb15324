// SPDX-License-Identifier: Apache-2.0
#include "service/model/data_buffer.h"

#include <cstdint>

namespace anynpu::service {

namespace {

Status check_size(size_t size) {
  if (size <= SIZE_MAX / 4) return {};
  return fail(Code::invalid_argument, "size is {}; expected at most {} (is it a negative number?)",
              size, SIZE_MAX / 4);
}

}  // namespace

Result<std::shared_ptr<DataBuffer>> make_data_buffer(void* data, size_t size) {
  ANYNPU_TRY(check_size(size));
  return std::make_shared<DataBuffer>(DataBuffer{data, size});
}

Status update_data_buffer(Handle buffer, void* data, size_t size) {
  ANYNPU_TRY(check_size(size));
  ANYNPU_ASSIGN(auto found, resolve<DataBuffer>(buffer));
  *found = {data, size};
  return {};
}

Result<DataBuffer> read_data_buffer(Handle buffer) {
  ANYNPU_ASSIGN(auto found, resolve<DataBuffer>(buffer));
  return *found;
}

}  // namespace anynpu::service
