// SPDX-License-Identifier: Apache-2.0
// The functions of hpe._hpe over stcpti.h.
#pragma once

#include "stable_python.h"

namespace anynpu::pyhpe {

// ("create" | "enable" | "disable" | "release") -> stcProfilerResult_t as an int.
PyObject* profiler_call(PyObject*, PyObject* args);
// The names of all events, by id.
PyObject* profiler_event_names(PyObject*, PyObject*);
// A list of (kernel name, [events of an NPC, ...], DMA events); an int, the result, on failure.
PyObject* profiler_data(PyObject*, PyObject*);

}  // namespace anynpu::pyhpe
