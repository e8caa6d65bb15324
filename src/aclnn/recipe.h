// SPDX-License-Identifier: Apache-2.0
// A recipe turns one call of an aclnn operator into a graph of our operators (src/ops). It runs for
// the first such call; the plan is cached and reused for calls with the same types, shapes, strides
// and attributes (service/aclnn/plan_cache.h).
//
//   void add(Recipe& r) {                                  // aclnnAdd(self, other, alpha, out)
//     const DType type = promote(r.dtype("self"), r.dtype("other"));
//     const Value scaled = r.op("Mul", {r.cast(r.in("other"), type), r.number("alpha", type)});
//     r.out("out", r.op("Add", {r.cast(r.in("self"), type), scaled}));
//   }
//
// Values are contiguous tensors whose type and shape are known as soon as they are made: a node
// that does not fit its schema is refused immediately. A refusal is thrown and becomes the Status
// of phase 1, so recipes check nothing twice. Strided arguments are read and written through
// MoveView nodes; outputs that share memory with inputs are written last.
//
// Scalars: number() makes a tensor that each run fills with the value of that call. integer(),
// real(), scalar() read the value now: it becomes part of the plan, and a call with another value
// gets another plan. Use number() for what changes from step to step (a learning rate, a seed), and
// list() for arrays that do (lengths of sequences).
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "aclnn/call.h"
#include "aclnn/checked_list.h"
#include "aclnn/promote.h"
#include "aclnn/row.h"
#include "graph/graph.h"

namespace anynpu::aclnn {

// Thrown by recipes, caught by build().
struct Refusal {
  Status status;
};
template <typename... Args>
[[noreturn]] void refuse(Code code, FormatString<Args...> text, const Args&... args) {
  throw Refusal{fail(code, text, args...)};
}
// Refuses a shape, type or value that the operator does not support.
template <typename... Args>
[[noreturn]] void refuse(FormatString<Args...> text, const Args&... args) {
  throw Refusal{fail(Code::invalid_argument, text, args...)};
}

// In recipes, reading an extent or entry that does not exist refuses the call.
using Shape = CheckedList<int64_t>;
using Ints = CheckedList<int64_t>;
using Floats = CheckedList<float>;
using Doubles = CheckedList<double>;

// A tensor of the graph. Empty: an operand that is left out.
struct Value {
  graph::ValueId id = graph::kNoValue;
  explicit operator bool() const { return id != graph::kNoValue; }
};
using Values = CheckedList<Value>;

// A parameter by its name in the header or by its position. "self" and "out" also find "selfRef",
// the tensor of in-place operators.
struct Param {
  std::string_view name;
  int index = -1;
  Param(const char* text) : name(text) {}  // NOLINT: implicit by design
  Param(int place) : index(place) {}       // NOLINT
};

struct AttrValue {
  graph::Attr attr;
  AttrValue(int value) : attr(int64_t{value}) {}                   // NOLINT
  AttrValue(int64_t value) : attr(value) {}                        // NOLINT
  AttrValue(bool value) : attr(int64_t{value}) {}                  // NOLINT
  AttrValue(double value) : attr(static_cast<float>(value)) {}     // NOLINT
  AttrValue(const char* text) : attr(std::string(text)) {}         // NOLINT
  AttrValue(std::string text) : attr(std::move(text)) {}           // NOLINT
  AttrValue(std::vector<int64_t> list) : attr(std::move(list)) {}  // NOLINT
  AttrValue(std::vector<float> list) : attr(std::move(list)) {}    // NOLINT
};
using Attrs = std::initializer_list<std::pair<const char*, AttrValue>>;

// What a run binds to an input or output of a part's graph.
struct Feed {
  enum class From : uint8_t { tensor, value, list, shared } from = From::tensor;
  uint32_t index = 0;  // among the call's tensors, or its values; of a list, its parameter
  size_t offset = 0;   // shared: in the memory that parts have in common
  size_t bytes = 0;    // accessed; for a tensor, counted from the first byte of its view
  DType dtype = DType::undefined;  // value: the type it is converted to
  bool dynamic_shape = false;      // output: the run decides its shape
  int64_t least = 0, most = 0;     // list: what its values may be
};

// An output of a graph that shares memory with an input of it. `in_step`: the same elements at the
// same places.
struct Overwrite {
  graph::ValueId input = graph::kNoValue, output = graph::kNoValue;
  bool in_step = false;
};

// What the ranks of a group do with each other's data.
enum class Exchange : uint8_t {
  keep,            // nothing: the value is passed on as it is
  all_reduce,      // the sum of all
  all_gather,      // the data of all ranks, concatenated along axis 0
  reduce_scatter,  // this rank's part of the sum along axis 0
  all_to_all,      // rows of axis 0: as many to each rank and from each as Given says
};
// An exchange after the graph of a part, through the memory that the parts share.
struct Transfer {
  Exchange kind = Exchange::keep;
  std::string group;        // name of the communicator
  int64_t ranks = 0;        // that the recipe counts on; 0: any number
  size_t from = 0, to = 0;  // offsets
  uint64_t count = 0;       // elements that a rank gives, or gets of reduce_scatter
  DType dtype = DType::undefined;
  std::vector<uint64_t> sent, received;  // bytes to and from each rank of all_to_all
};

// A graph and what is bound to its inputs and outputs. Parts run one after the other.
struct Part {
  graph::Graph graph;
  std::vector<Overwrite> overwrites;
  std::vector<Feed> inputs, outputs;
  std::vector<Transfer> transfers;
};

// A condition of a plan: a value of the call, or whether that value equals `number`.
struct ReadValue {
  uint32_t place = 0;
  Scalar value;
  bool compared = false;  // the plan depends only on whether it equals `number`
  double number = 0;
  bool equal = false;

  bool fits(const Scalar& other) const {
    return compared ? (other.real() == number) == equal : other == value;
  }
};

struct Built {
  std::vector<Part> parts;
  size_t shared_bytes = 0;
  std::vector<ReadValue> read_values;
};

class Recipe {
 public:
  Recipe(const Call& call, const Row& row);
  ~Recipe();

  // The recipe's row in the table.
  const Row& row() const { return row_; }

  // --- arguments
  bool has_parameter(Param param) const;  // variants of an operator differ in them
  bool is_tensor(Param param) const;      // and not a scalar
  bool is_list(Param param) const;        // of tensors
  bool is_scalar_list(Param param) const;
  // The parameter that operators with one output write.
  Param result() const;
  bool given(Param param) const;                // not null
  const TensorView& tensor(Param param) const;  // refuses null
  DType dtype(Param param) const { return tensor(param).dtype; }
  Shape shape(Param param) const { return tensor(param).shape.shape(); }
  size_t rank(Param param) const { return tensor(param).shape.size(); }
  size_t length(Param list) const;  // of any list or array; refuses null
  size_t length_if(Param list) const { return given(list) ? length(list) : 0; }
  const TensorView& tensor(Param list, size_t index) const;
  bool given(Param list, size_t index) const;
  int64_t integer(Param param);
  bool flag(Param param) { return integer(param) != 0; }
  double real(Param param);
  std::string text(Param param) const;  // "" for null
  Ints ints(Param param) const;         // {} for null
  Floats floats(Param param) const;
  std::vector<bool> bools(Param param) const;
  const Scalar& scalar(Param param);  // its value, part of the plan
  const Scalar& scalar(Param list, size_t index);
  DType scalar_type(Param param) const;
  DType scalar_type(Param list, size_t index) const;
  // Whether a scalar or number equals `value`; all other values share one plan.
  bool equals(Param param, double value);
  // The axis counted from the front, if it was given from the end; `axes` empty or null: all axes.
  int64_t axis(Param param, size_t rank);
  Ints axes(Param param, size_t rank) const;

  // --- values
  Value in(Param param);  // the tensor, packed if it is strided
  Value in(Param list, size_t index);
  // A matrix whose last two axes may be stored transposed: no copy, but `transposed` is set.
  Value matrix(Param param, bool& transposed);
  Value matrix(Param list, size_t index, bool& transposed);
  Value number(Param param, DType dtype);  // an aclScalar or C number, filled by each run
  Value number(Param list, size_t index, DType dtype);
  // An aclIntArray that the row names in `lists`, int64, at run time; values outside of
  // [least, most] are refused by phase 1.
  Value list(Param param, int64_t least, int64_t most);
  Value constant(DType dtype, double value);         // scalar
  Value constant(const std::vector<int64_t>& list);  // of int64
  Value constant(DType dtype, Shape shape, const std::vector<double>& values);
  Value constant_of(Shape shape, const std::vector<int64_t>& values);  // of int64
  Value filled(DType dtype, const Shape& shape, double value);         // broadcast, takes no memory

  Value op(const char* name, std::initializer_list<Value> inputs, Attrs attrs = {});
  Value op(const char* name, const std::vector<Value>& inputs, Attrs attrs = {});
  Values ops(const char* name, const std::vector<Value>& inputs, size_t outputs, Attrs attrs = {});

  DType dtype(Value value) const;
  Shape shape(Value value) const;  // of a value whose shape is known
  int64_t extent(Value value, int64_t axis) const;
  bool has_shape(Value value) const;

  Value cast(Value value, DType dtype);  // as torch: to bool is != 0
  // The same bytes as elements of another type: the last axis has more of them, or fewer.
  Value reinterpret(Value value, DType dtype);
  Value reshape(Value value, const Shape& shape);
  Value expand(Value value, const Shape& shape);
  Value transpose(Value value, std::vector<int64_t> order);
  Value slice(Value value, int64_t axis, int64_t begin, int64_t end, int64_t step = 1);

  // --- outputs
  void out(Param param, Value value);  // cast to the type of the tensor
  void out(Param list, size_t index, Value value);
  void out_if(Param param, Value value) {
    if (value && given(param)) out(param, value);
  }
  // Starts a new graph that runs after the previous ones; values cannot be used across graphs.
  void next_part();
  // The same with values that go on: as they are, or after an exchange with the other ranks of the
  // group that a text parameter names. `ranks` is needed to gather and to scatter.
  struct Given {
    Value value;
    Exchange exchange = Exchange::keep;
    Ints sent = {}, received = {};  // rows to and from each rank of all_to_all
  };
  Values next_part(Param group, int64_t ranks, const std::vector<Given>& given);

  Built finish();

 private:
  struct State;
  const Argument& argument(Param param, ArgumentKind kind) const;
  const Argument* find(Param param) const;
  std::string label(Param param) const;
  const TensorView& view(uint32_t tensor) const;
  void normalise();
  Value read_tensor(uint32_t tensor);
  Value read_matrix(uint32_t tensor, bool& transposed);
  void write_tensor(uint32_t tensor, const std::string& name, Value value);
  Value value_input(uint32_t place, DType dtype);
  void note_value(uint32_t place, const Scalar& value);
  void close_part(std::vector<Transfer> transfers = {});
  void note_overwrites(const Feed& output, graph::ValueId written, Part& part) const;
  void write_view_last(size_t place);

  const Call& call_;
  const Row& row_;
  std::unique_ptr<State> state_;
};

// Runs the row's recipe over the call.
Result<Built> build(const Call& call, const Row& row);

}  // namespace anynpu::aclnn
