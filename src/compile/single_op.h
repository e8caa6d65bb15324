// SPDX-License-Identifier: Apache-2.0
// One operator as an offline model: what `atc --singleop` writes and what programs compile at run
// time. The model keeps the operator's description, by which it is found again. Pure; thread-safe.
#pragma once

#include "compile/compile.h"
#include "import/singleop/op.h"

namespace anynpu::compile {

// `options` gives names and producer; shapes come from the description.
Result<om::Model> compile_single_op(const singleop::SingleOp& op, Options options);

// The description that a model was compiled from. Fails when it is no single operator.
Result<singleop::SingleOp> single_op_of(const om::Meta& meta);

}  // namespace anynpu::compile
