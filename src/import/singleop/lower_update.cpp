// SPDX-License-Identifier: Apache-2.0
// Steps of training: operators that write the parameters they read (VendorOp::writes).
#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {

ValueId square_root(Builder& b, ValueId x) { return b.node("Sqrt", 13, {x}); }

// One number as an input, spread over what it meets.
ValueId one_number(Builder& b, size_t index) { return b.reshape(b.in(index), {1}); }

ValueId one_of(Builder& b, ValueId like) { return b.ok() ? b.scalar(b.dtype(like), 1) : kNoValue; }

// A number that is an attribute in some forms and an input in others.
ValueId coefficient(Builder& b, const char* name, size_t index, bool attribute) {
  return attribute ? b.scalar(b.dtype(b.in(0)), b.f(name)) : one_number(b, index);
}

// old * share + fresh * (1 - share)
ValueId blend(Builder& b, ValueId old, ValueId fresh, ValueId share) {
  return add(b, mul(b, old, share), mul(b, fresh, sub(b, one_of(b, fresh), share)));
}

}  // namespace

// var, accum, lr, grad, momentum.
void lower_apply_momentum(Builder& b) {
  const ValueId grad = b.in(3), momentum = one_number(b, 4), rate = one_number(b, 2);
  const ValueId accum = add(b, mul(b, b.in(1), momentum), grad);
  const ValueId step =
      b.flag("use_nesterov", false) ? add(b, grad, mul(b, accum, momentum)) : accum;
  b.out(0, sub(b, b.in(0), mul(b, step, rate)));
  b.out(1, accum);
}

// var, accum, lr, grad.
void lower_apply_adagrad(Builder& b) {
  const ValueId grad = b.in(3);
  const ValueId accum =
      b.flag("update_slots", true) ? add(b, b.in(1), mul(b, grad, grad)) : b.in(1);
  b.out(0, sub(b, b.in(0), div(b, mul(b, grad, one_number(b, 2)), square_root(b, accum))));
  b.out(1, accum);
}

// var, m, v, beta1^t, beta2^t, lr, beta1, beta2, epsilon, grad.
void lower_apply_adam(Builder& b) {
  const ValueId grad = b.in(9), beta1 = one_number(b, 6), beta2 = one_number(b, 7);
  if (!b.ok()) return;
  const ValueId one = b.scalar(b.dtype(grad), 1);
  const ValueId rate =
      div(b, mul(b, one_number(b, 5), square_root(b, sub(b, one, one_number(b, 4)))),
          sub(b, one, one_number(b, 3)));
  const ValueId m = add(b, mul(b, b.in(1), beta1), mul(b, grad, sub(b, one, beta1)));
  const ValueId v = add(b, mul(b, b.in(2), beta2), mul(b, mul(b, grad, grad), sub(b, one, beta2)));
  const ValueId top = b.flag("use_nesterov", false)
                          ? add(b, mul(b, m, beta1), mul(b, grad, sub(b, one, beta1)))
                          : m;
  b.out(0, sub(b, b.in(0), div(b, mul(b, top, rate), add(b, square_root(b, v), one_number(b, 8)))));
  b.out(1, m);
  b.out(2, v);
}

// var - alpha * delta.
void lower_apply_gradient_descent(Builder& b) {
  b.out(0, sub(b, b.in(0), mul(b, b.in(2), one_number(b, 1))));
}

// var, mean of squares, momentum's sum, lr, (rho, momentum, epsilon,) grad.
void lower_apply_rms_prop(Builder& b) {
  const bool attributes = b.type().ends_with("D");
  const ValueId grad = b.in(attributes ? 4 : 7), rate = one_number(b, 3);
  if (!b.ok()) return;
  const ValueId rho = coefficient(b, "rho", 4, attributes),
                momentum = coefficient(b, "momentum", 5, attributes),
                epsilon = coefficient(b, "epsilon", 6, attributes);
  const ValueId squares = blend(b, b.in(1), mul(b, grad, grad), rho);
  const ValueId step = div(b, mul(b, grad, rate), square_root(b, add(b, squares, epsilon)));
  const ValueId sum = add(b, mul(b, b.in(2), momentum), step);
  b.out(0, sub(b, b.in(0), sum));
  b.out(1, squares);
  b.out(2, sum);
}

// var, mean of gradients, mean of squares, momentum's sum, (grad, lr) or (lr), rho, momentum,
// epsilon, grad.
void lower_apply_centered_rms_prop(Builder& b) {
  const ValueId grad = b.in(8), rate = one_number(b, 4), rho = one_number(b, 5);
  const ValueId mean = blend(b, b.in(1), grad, rho),
                squares = blend(b, b.in(2), mul(b, grad, grad), rho);
  const ValueId spread = add(b, sub(b, squares, mul(b, mean, mean)), one_number(b, 7));
  const ValueId step = div(b, mul(b, grad, rate), square_root(b, spread));
  const ValueId sum = add(b, mul(b, b.in(3), one_number(b, 6)), step);
  b.out(0, sub(b, b.in(0), sum));
  b.out(1, mean);
  b.out(2, squares);
  b.out(3, sum);
}

// var, accum, accum_update, lr, rho, epsilon, grad.
void lower_apply_adadelta(Builder& b) {
  const ValueId grad = b.in(6), rho = one_number(b, 4), epsilon = one_number(b, 5);
  const ValueId accum = blend(b, b.in(1), mul(b, grad, grad), rho);
  const ValueId scale =
      div(b, square_root(b, add(b, b.in(2), epsilon)), square_root(b, add(b, accum, epsilon)));
  const ValueId step = mul(b, scale, grad);
  b.out(0, sub(b, b.in(0), mul(b, step, one_number(b, 3))));
  b.out(1, accum);
  b.out(2, blend(b, b.in(2), mul(b, step, step), rho));
}

// var, m, v, beta1^t, lr, beta1, beta2, epsilon, grad.
void lower_apply_ada_max(Builder& b) {
  const ValueId grad = b.in(8), one = one_of(b, grad);
  const ValueId m = blend(b, b.in(1), grad, one_number(b, 5));
  const ValueId v =
      b.node("Max", 13, {mul(b, b.in(2), one_number(b, 6)), b.node("Abs", 13, {grad})});
  const ValueId rate = div(b, one_number(b, 4), sub(b, one, one_number(b, 3)));
  b.out(0, sub(b, b.in(0), div(b, mul(b, rate, m), add(b, v, one_number(b, 7)))));
  b.out(1, m);
  b.out(2, v);
}

// var, accum, linear, grad, lr, l1, l2, lr_power.
void lower_apply_ftrl(Builder& b) {
  const ValueId grad = b.in(3), rate = one_number(b, 4), l1 = one_number(b, 5),
                l2 = one_number(b, 6);
  if (!b.ok()) return;
  const ValueId power = b.node("Neg", 13, {one_number(b, 7)});
  const ValueId accum = add(b, b.in(1), mul(b, grad, grad));
  const ValueId root = b.node("Pow", 15, {accum, power});
  const ValueId change = div(b, sub(b, root, b.node("Pow", 15, {b.in(1), power})), rate);
  const ValueId linear = add(b, b.in(2), sub(b, grad, mul(b, change, b.in(0))));
  const ValueId two = b.scalar(b.dtype(grad), 2);
  const ValueId shrunk = sub(b, mul(b, b.node("Sign", 13, {linear}), l1), linear);
  const ValueId made = div(b, shrunk, add(b, div(b, root, rate), mul(b, two, l2)));
  const ValueId beyond = b.node("Greater", 13, {b.node("Abs", 13, {linear}), l1});
  b.out(0, b.node("Where", 16, {beyond, made, b.scalar(b.dtype(grad), 0)}));
  b.out(1, accum);
  b.out(2, linear);
}

// var, accum, lr, l1, l2, grad; without accum: var, lr, l1, l2, grad.
void lower_apply_proximal(Builder& b) {
  const bool adaptive = b.type().starts_with("ApplyProximalAdagrad");
  const size_t at = adaptive ? 2 : 1;
  const ValueId grad = b.in(at + 3), l1 = one_number(b, at + 1), l2 = one_number(b, at + 2);
  if (!b.ok()) return;
  ValueId rate = one_number(b, at), accum = kNoValue;
  if (adaptive) {
    accum = add(b, b.in(1), mul(b, grad, grad));
    rate = div(b, rate, square_root(b, accum));
  }
  const ValueId zero = b.scalar(b.dtype(grad), 0), one = one_of(b, grad);
  const ValueId moved = sub(b, b.in(0), mul(b, grad, rate));
  const ValueId left =
      b.node("Max", 13, {sub(b, b.node("Abs", 13, {moved}), mul(b, rate, l1)), zero});
  b.out(0, div(b, mul(b, b.node("Sign", 13, {moved}), left), add(b, one, mul(b, rate, l2))));
  b.out(1, accum);
}

// Parameters, gradient, learning rate, sum of gradients, momentum, whether this is the first step.
void lower_sgd(Builder& b) {
  const ValueId var = b.in(0), rate = one_number(b, 2), momentum = one_number(b, 4), stat = b.in(5);
  ValueId grad = b.in(1);
  if (!b.ok()) return;
  const DType type = b.dtype(grad);
  const ValueId zero = b.scalar(type, 0);
  const float decay = b.f("weight_decay", 0), dampening = b.f("dampening", 0);
  if (decay != 0) grad = add(b, grad, mul(b, var, b.scalar(type, decay)));
  const ValueId first = b.node("Greater", 13, {stat, b.scalar(b.dtype(stat), 0)});
  const ValueId later =
      add(b, mul(b, b.in(3), momentum), mul(b, grad, b.scalar(type, 1 - dampening)));
  const ValueId summed = b.node("Where", 16, {first, grad, later});
  const ValueId step = b.flag("nesterov", false) ? add(b, grad, mul(b, summed, momentum)) : summed;
  const ValueId used = b.node("Greater", 13, {momentum, zero});
  b.out(0, sub(b, var, mul(b, b.node("Where", 16, {used, step, grad}), rate)));
  b.out(1, b.node("Where", 16, {used, summed, b.in(3)}));
  b.out(2, b.node("Where", 16,
                  {b.cast(used, DType::boolean), mul(b, stat, b.scalar(b.dtype(stat), 0)), stat}));
}

void lower_assign(Builder& b) {
  const ValueId value = b.in(1);
  if (b.type() == "Assign") {
    b.leave(0);
    return b.out(0, b.node("Identity", 13, {value}));
  }
  b.out(0, b.type() == "AssignAdd" ? add(b, b.in(0), value) : sub(b, b.in(0), value));
}

}  // namespace anynpu::singleop
