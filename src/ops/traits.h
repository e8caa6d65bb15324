// SPDX-License-Identifier: Apache-2.0
// OpTraits: what the compiler must know about an operator besides its types and shapes. Every
// schema states all of them: start from the preset below that fits and change what differs,
//   .traits = OpTraits::elementwise().with(PrecisionClass::black)
// A schema that leaves one undecided fails traits_test.cpp.
#pragma once

#include <cstdint>

namespace anynpu::ops {

// The cost of folding a node whose inputs are constants (compile/fold_budget.h).
enum class CostClass : uint8_t {
  undecided,
  linear,       // reads and writes each element a few times
  product,      // matrix product: each output element sums over the inner extent
  convolution,  // each output element sums over one filter
  unbounded,    // may be more: all elements times those of the largest input
};

// What the mixed precision modes of atc do with it (compile/precision.h).
enum class PrecisionClass : uint8_t {
  undecided,
  white,  // convolution or matrix product: computed in the short type
  gray,   // computed in the type of its producers: it moves elements or adds a rounding or two
  black,  // computed in the type of the model
  fixed,  // its types are part of what it computes (Cast, If): no mode or list changes them
};

// Which Transposes of inputs the compiler moves behind it (compile/remove_transposes.cpp).
enum class TransposeRule : uint8_t {
  undecided,
  elementwise,  // of input 0; the other inputs are scalars
  broadcast,    // of all inputs, which are broadcast to each other
  axis,         // of all inputs; the attribute `axis` is renumbered
  barrier,      // none
};

// What the shapes of the outputs depend on.
enum class SizedBy : uint8_t {
  undecided,
  shapes,      // shapes and types of the inputs, and attributes
  parameters,  // also values of an input that says how to compute: axes, sizes, a count
  data,        // values of the data: NonZero, Unique; known after a run, or from constants
};

// Whether equal nodes with equal inputs have equal outputs.
enum class Purity : uint8_t { undecided, pure, random };

// How often a 16-bit result is rounded if each operator stores its own
// (rounds_often() of import/singleop/table.h).
enum class Rounding : uint8_t {
  undecided,
  exact,       // never: elements are moved, chosen or compared
  once,        // the result
  every_step,  // a state that goes from step to step: LSTM
};

// Whether the shape that the model states for the output also applies to inputs of unknown shape
// (compile/stated_shape.cpp).
enum class StatedShape : uint8_t {
  undecided,
  ignored,
  of_first,      // of input 0
  of_broadcast,  // of every input that is no scalar
};

// Whether the compiler can fold it on strings (ops/text/text.h).
enum class Strings : uint8_t {
  undecided,
  refused,
  moved,  // moves or compares elements, whatever they are
};

// Whether its input 0 should be stored in blocks of channels (ops/blocked_layout.h) by the node
// that computes it (exec/blocked_values.h).
enum class BlockedInput : uint8_t {
  undecided,
  no,
  yes,        // convolutions
  if_output,  // where its output should be: it keeps the layout
};

struct OpTraits {
  CostClass cost = {};
  PrecisionClass precision = {};
  TransposeRule transposes = {};
  SizedBy sized_by = {};
  Purity purity = {};
  Rounding rounding = {};
  StatedShape stated_shape = {};
  Strings strings = {};
  BlockedInput blocked_input = {};

  bool operator==(const OpTraits&) const = default;

  constexpr bool decided() const {
    return cost != CostClass::undecided && precision != PrecisionClass::undecided &&
           transposes != TransposeRule::undecided && sized_by != SizedBy::undecided &&
           purity != Purity::undecided && rounding != Rounding::undecided &&
           stated_shape != StatedShape::undecided && strings != Strings::undecided &&
           blocked_input != BlockedInput::undecided;
  }

  // These traits with one of them changed.
  constexpr OpTraits with(CostClass value) const { return changed(&OpTraits::cost, value); }
  constexpr OpTraits with(PrecisionClass value) const {
    return changed(&OpTraits::precision, value);
  }
  constexpr OpTraits with(TransposeRule value) const {
    return changed(&OpTraits::transposes, value);
  }
  constexpr OpTraits with(SizedBy value) const { return changed(&OpTraits::sized_by, value); }
  constexpr OpTraits with(Purity value) const { return changed(&OpTraits::purity, value); }
  constexpr OpTraits with(Rounding value) const { return changed(&OpTraits::rounding, value); }
  constexpr OpTraits with(StatedShape value) const {
    return changed(&OpTraits::stated_shape, value);
  }
  constexpr OpTraits with(Strings value) const { return changed(&OpTraits::strings, value); }
  constexpr OpTraits with(BlockedInput value) const {
    return changed(&OpTraits::blocked_input, value);
  }

  // The families.

  // Nothing that would allow a rewrite: right for an operator that is not optimised, and the
  // default for a name that has no schema.
  static constexpr OpTraits general() {
    OpTraits traits;
    traits.cost = CostClass::unbounded;
    traits.precision = PrecisionClass::black;
    traits.transposes = TransposeRule::barrier;
    traits.sized_by = SizedBy::shapes;
    traits.purity = Purity::pure;
    traits.rounding = Rounding::once;
    traits.stated_shape = StatedShape::ignored;
    traits.strings = Strings::refused;
    traits.blocked_input = BlockedInput::no;
    return traits;
  }
  // Reads each element a few times: reductions, normalisations, comparisons.
  static constexpr OpTraits linear() { return general().with(CostClass::linear); }
  // One element in, one element out, in any order: Relu.
  static constexpr OpTraits elementwise() {
    return linear().with(PrecisionClass::gray).with(TransposeRule::elementwise);
  }
  // Element-wise on tensors that are broadcast to each other: Add.
  static constexpr OpTraits broadcast() { return elementwise().with(TransposeRule::broadcast); }
  // Elements only move: Slice.
  static constexpr OpTraits data_movement() {
    return linear().with(PrecisionClass::gray).with(Rounding::exact).with(Strings::moved);
  }
  // Convolutions and matrix products.
  static constexpr OpTraits matrix() { return general().with(PrecisionClass::white); }
  // Draws numbers.
  static constexpr OpTraits random() {
    return general().with(PrecisionClass::fixed).with(Purity::random);
  }

 private:
  template <typename T>
  constexpr OpTraits changed(T OpTraits::*member, T value) const {
    OpTraits copy = *this;
    copy.*member = value;
    return copy;
  }
};

}  // namespace anynpu::ops
