// SPDX-License-Identifier: Apache-2.0
// From the stream and event handles of a program to the objects behind them.
#pragma once

#include <memory>

#include "api/hpe/errors.h"
#include "base/handle_table.h"
#include "npc/host/host_stream.h"

namespace anynpu::hpe {

// The lane a request to `host` goes to: 0 means the cluster's default stream. The failure is
// stcErrorInvalidStream.
Failure find_lane(stcStream_t stream, npc::ClusterHost& host, std::shared_ptr<npc::Lane>* lane);

// A failure gives stcErrorInvalidStream, stcErrorInvalidEvent.
Failure find_stream(stcStream_t stream, std::shared_ptr<npc::HostStream>* found);
Failure find_event(stcEvent_t event, std::shared_ptr<npc::HostEvent>* found);

}  // namespace anynpu::hpe
