// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/special_math.h"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <numbers>

namespace anynpu::ops::elementwise {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kTiny = 1e-300;
constexpr double kEnough = 1e-17;
constexpr int kMostTerms = 2000;

// x^a e^-x / gamma(a)
double gamma_weight(double a, double x) { return std::exp(a * std::log(x) - x - std::lgamma(a)); }

double gamma_series(double a, double x) {
  double sum = 1 / a, term = sum;
  for (int n = 1; n < kMostTerms && std::fabs(term) > std::fabs(sum) * kEnough; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * gamma_weight(a, x);
}

// Lentz's way of continued fractions.
double gamma_fraction(double a, double x) {
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
  for (int n = 1; n < kMostTerms; ++n) {
    const double an = -n * (n - a);
    b += 2;
    d = an * d + b;
    if (std::fabs(d) < kTiny) d = kTiny;
    c = b + an / c;
    if (std::fabs(c) < kTiny) c = kTiny;
    d = 1 / d;
    const double step = d * c;
    h *= step;
    if (std::fabs(step - 1) < 1e-16) break;
  }
  return h * gamma_weight(a, x);
}

double beta_fraction(double a, double b, double x) {
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  if (std::fabs(d) < kTiny) d = kTiny;
  d = 1 / d;
  double h = d;
  for (int m = 1; m < kMostTerms; ++m) {
    for (const double term : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                              -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = 1 + term * d;
      if (std::fabs(d) < kTiny) d = kTiny;
      c = 1 + term / c;
      if (std::fabs(c) < kTiny) c = kTiny;
      d = 1 / d;
      h *= d * c;
    }
    if (std::fabs(d * c - 1) < 1e-16) break;
  }
  return h;
}

// The integrals of cos and sin(pi t^2 / 2): a series near 0, then their known behaviour far away.
double fresnel(double x, bool sine) {
  const double sign = x < 0 ? -1 : 1;
  x = std::fabs(x);
  if (x < 3.2) {
    const double z = std::numbers::pi / 2 * x * x;
    double term = sine ? x * z / 1 : x, sum = 0;
    for (int n = 0; n < 200; ++n) {
      const int order = sine ? 4 * n + 3 : 4 * n + 1;
      sum += term / order;
      const int k = sine ? 2 * n + 2 : 2 * n + 1;
      term *= -z * z / (static_cast<double>(k) * (k + 1));
      if (std::fabs(term) < kEnough * std::fabs(sum)) break;
    }
    return sign * sum;
  }
  if (std::isinf(x)) return sign * 0.5;
  const double w = std::numbers::pi * x * x;
  double f = 0, g = 0, tf = 1, tg = 1;
  for (int n = 0; n < 6; ++n) {
    f += tf;
    g += tg;
    tf *= -(4.0 * n + 1) * (4.0 * n + 3) / (w * w);
    tg *= -(4.0 * n + 3) * (4.0 * n + 5) / (w * w);
  }
  f /= std::numbers::pi * x;
  g /= std::numbers::pi * x * w;
  const double angle = w / 2;
  return sign * (sine ? 0.5 - f * std::cos(angle) - g * std::sin(angle)
                      : 0.5 + f * std::sin(angle) - g * std::cos(angle));
}

}  // namespace

double psi(double x) {
  if (x == 0) return std::copysign(kInf, -x);
  double result = 0;
  if (x < 0) {
    if (x == std::floor(x)) return kNan;
    result = -std::numbers::pi / std::tan(std::numbers::pi * x);
    x = 1 - x;
  }
  for (; x < 10; x += 1) result -= 1 / x;
  const double r = 1 / (x * x);
  return result + std::log(x) - 0.5 / x -
         r * (1.0 / 12 -
              r * (1.0 / 120 -
                   r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132 - r * 691.0 / 32760)))));
}

// A first guess (Winitzki's formula), then Halley's steps on erf.
double erf_inverse(double x) {
  if (std::isnan(x) || std::fabs(x) > 1) return kNan;
  if (std::fabs(x) == 1) return std::copysign(kInf, x);
  const double ln = std::log1p(-x * x), part = 2 / (std::numbers::pi * 0.147) + ln / 2;
  double y = std::copysign(std::sqrt(std::sqrt(part * part - ln / 0.147) - part), x);
  for (int step = 0; step < 4; ++step) {
    const double error = x > 0.5    ? (1 - x) - std::erfc(y)
                         : x < -0.5 ? std::erfc(-y) - (1 + x)
                                    : std::erf(y) - x;
    const double slope = 2 * std::numbers::inv_sqrtpi * std::exp(-y * y);
    if (slope == 0) break;
    const double u = error / slope;
    y -= u / (1 + y * u);
  }
  return y;
}

double normal_quantile(double p) {
  if (!(p >= 0 && p <= 1)) return kNan;
  return std::numbers::sqrt2 * erf_inverse(2 * p - 1);
}

// Rybicki's sum: exponentials at odd multiples of a step, exact to e^-(pi / 2h)^2.
double dawson(double x) {
  constexpr double h = 0.2;
  if (std::isinf(x)) return 0.0;
  if (std::fabs(x) < 0.2) {
    const double z = x * x;
    return x *
           (1 - z * 2 / 3 * (1 - z * 0.4 * (1 - z * 2 / 7 * (1 - z * 2 / 9 * (1 - z * 2 / 11)))));
  }
  const double a = std::fabs(x), n0 = 2 * std::floor(0.5 * a / h + 0.5), rest = a - n0 * h;
  double sum = 0;
  for (int i = 0; i < 15; ++i) {
    const double k = 2 * i + 1, e = std::exp(-(k * h) * (k * h));
    sum += e * (std::exp(2 * rest * k * h) / (n0 + k) + std::exp(-2 * rest * k * h) / (n0 - k));
  }
  return std::copysign(std::numbers::inv_sqrtpi * std::exp(-rest * rest) * sum, x);
}

double dilogarithm(double x) {
  constexpr double full = std::numbers::pi * std::numbers::pi / 6;
  if (!(x >= 0)) return kNan;
  if (x == 0) return full;
  if (x == 1) return 0.0;
  if (x > 2) {  // to 1/x
    const double ln = std::log(x);
    return -0.5 * ln * ln - dilogarithm(1 / x);
  }
  if (x < 0.5) return full - std::log(x) * std::log1p(-x) - dilogarithm(1 - x);
  if (x > 1.5) {
    const double ln = std::log(x);
    return -0.5 * ln * ln - dilogarithm(1 / x);
  }
  const double z = 1 - x;
  double sum = 0, power = z;
  for (int k = 1; k < 200 && std::fabs(power) > kEnough; ++k, power *= z) sum += power / k / k;
  return sum;
}

double fresnel_sine(double x) { return std::isnan(x) ? x : fresnel(x, true); }
double fresnel_cosine(double x) { return std::isnan(x) ? x : fresnel(x, false); }

double bessel_i0e(double x) {
  const double a = std::fabs(x);
  if (a < 600) return std::cyl_bessel_i(0.0, a) * std::exp(-a);
  return (1 + 1 / (8 * a)) / std::sqrt(2 * std::numbers::pi * a);
}

double bessel_i1e(double x) {
  const double a = std::fabs(x);
  const double y = a < 600 ? std::cyl_bessel_i(1.0, a) * std::exp(-a)
                           : (1 - 3 / (8 * a)) / std::sqrt(2 * std::numbers::pi * a);
  return std::copysign(y, x);
}

double bessel_k(double order, double x) {
  if (x == 0) return kInf;
  if (!(x > 0)) return kNan;
  return std::cyl_bessel_k(order, x);
}

// Euler and Maclaurin: the first terms, an integral, and corrections by Bernoulli numbers.
double hurwitz_zeta(double x, double q) {
  if (x == 1) return kInf;
  if (!(x > 1)) return kNan;
  if (q <= 0) return q == std::floor(q) ? kInf : kNan;
  constexpr double bernoulli[] = {1.0 / 12,       -1.0 / 720,     1.0 / 30240,
                                  -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0};
  constexpr int first = 12;
  double sum = 0;
  for (int n = 0; n < first; ++n) sum += std::pow(q + n, -x);
  const double a = q + first;
  double power = std::pow(a, -x);
  sum += a * power / (x - 1) + 0.5 * power;
  double factor = x;
  for (int k = 0; k < 6; ++k) {
    power /= a;
    sum += bernoulli[k] * factor * power;
    factor *= (x + 2 * k + 1) * (x + 2 * k + 2);
    power /= a;
  }
  return sum;
}

double polygamma(double n, double x) {
  if (n < 0 || n != std::floor(n)) return kNan;
  if (n == 0) return psi(x);
  const double sign = std::fmod(n, 2) == 0 ? -1 : 1;
  return sign * std::tgamma(n + 1) * hurwitz_zeta(n + 1, x);
}

double gamma_lower(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || a < 0 || x < 0) return kNan;
  if (a == 0) return x > 0 ? 1.0 : kNan;
  if (x == 0) return 0.0;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 0.0;
  if (std::isinf(x)) return 1.0;
  return x < a + 1 ? gamma_series(a, x) : 1 - gamma_fraction(a, x);
}

double gamma_upper(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || a < 0 || x < 0) return kNan;
  if (a == 0) return x > 0 ? 0.0 : kNan;
  if (x == 0) return 1.0;
  if (std::isinf(a)) return std::isinf(x) ? kNan : 1.0;
  if (std::isinf(x)) return 0.0;
  return x < a + 1 ? 1 - gamma_series(a, x) : gamma_fraction(a, x);
}

// Below a + 1 the power series, term by term: t(n) = x^(a + n) e^-x / gamma(a + n + 1). Above, the
// integral of t^(a - 1) e^-t (log t - psi(a)) over what the lower function leaves, with t = x + u
// and u = exp(pi / 2 sinh s), by the trapezoidal rule.
double gamma_lower_slope(double a, double x) {
  if (std::isnan(a) || std::isnan(x) || a <= 0 || x < 0) return kNan;
  if (x == 0 || std::isinf(x)) return 0;
  const double log_x = std::log(x);
  double sum = 0;
  if (x < a + 1) {
    double term = std::exp(a * log_x - x - std::lgamma(a + 1)), digamma = psi(a + 1);
    for (int n = 1; n < 10000; ++n) {
      const double part = term * (log_x - digamma);
      sum += part;
      if (std::fabs(part) < 1e-17 * std::fabs(sum)) break;
      digamma += 1 / (a + n);
      term *= x / (a + n);
    }
    return sum;
  }
  const double front = -x - std::lgamma(a), digamma = psi(a);
  constexpr double kStep = 1.0 / 64;
  for (double s = -4; s <= 4; s += kStep) {
    const double u = std::exp(M_PI_2 * std::sinh(s)), t = x + u;
    const double density = std::exp(front + (a - 1) * std::log(t) - u);
    sum += density * (std::log(t) - digamma) * u * M_PI_2 * std::cosh(s) * kStep;
  }
  return -sum;
}

double gamma_sample_slope(double a, double x) {
  if (x == 0) return 0;
  const double density = std::exp((a - 1) * std::log(x) - x - std::lgamma(a));
  return -gamma_lower_slope(a, x) / density;
}

double beta_incomplete(double a, double b, double x) {
  if (!(a > 0 && b > 0 && x >= 0 && x <= 1)) return kNan;
  if (x == 0 || x == 1) return x;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace anynpu::ops::elementwise
