// SPDX-License-Identifier: Apache-2.0
// Collective operations as tasks of a stream. Types and operations are the numbers of HCCL, arrays
// of counts and displacements have one uint64 a rank and are read at once. Thread-safe.
#pragma once

#include <cstdint>
#include <span>

#include "base/handle_table.h"
#include "collective/plans.h"

namespace anynpu::service {

struct Where {
  Handle communicator;
  Handle stream;
};

// How the elements of an array are divided among the ranks: `count` for each, or as the arrays of
// counts and displacements say.
struct Spread {
  uint64_t count = 0;
  const void* counts = nullptr;
  const void* offsets = nullptr;
};

Status all_reduce(const Where& where, const void* in, void* out, uint64_t count, int64_t type,
                  int64_t reduce_op);
Status reduce(const Where& where, const void* in, void* out, uint64_t count, int64_t type,
              int64_t reduce_op, uint32_t root);
Status broadcast(const Where& where, void* data, uint64_t count, int64_t type, uint32_t root);
Status scatter(const Where& where, const void* in, void* out, uint64_t count, int64_t type,
               uint32_t root);
Status barrier(const Where& where);
Status all_gather(const Where& where, const void* in, uint64_t count, void* out,
                  const Spread& spread, int64_t type);
Status reduce_scatter(const Where& where, const void* in, const Spread& spread, void* out,
                      uint64_t count, int64_t type, int64_t reduce_op);
Status all_to_all(const Where& where, const void* in, const Spread& sent, int64_t sent_type,
                  void* out, const Spread& received, int64_t received_type);
// The same with a matrix of counts: row r has the counts that rank r sends to each rank. Data is
// contiguous.
Status all_to_all_matrix(const Where& where, const void* in, const void* matrix, int64_t sent_type,
                         void* out, int64_t received_type);

struct TransferRequest {
  bool sends;
  void* at;
  uint64_t count;
  int64_t type;
  uint32_t peer;
};
// Several sends and receives at the same time. The peer may be this rank itself.
Status transfer(const Where& where, std::span<const TransferRequest> requests);
// One send or receive. The peer is another rank.
Status transfer_one(const Where& where, const TransferRequest& request);

}  // namespace anynpu::service
