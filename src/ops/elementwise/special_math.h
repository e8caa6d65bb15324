// SPDX-License-Identifier: Apache-2.0
// Functions of one, two or three real numbers that the standard library lacks, in double.
#pragma once

namespace anynpu::ops::elementwise {

double psi(double x);              // digamma
double erf_inverse(double x);      // between -1 and 1
double normal_quantile(double p);  // of the standard normal distribution
double dawson(double x);
double dilogarithm(double x);  // spence: the integral of log(t) / (1 - t) from 1 to x
double fresnel_sine(double x);
double fresnel_cosine(double x);
double bessel_i0e(double x);  // I0(x) exp(-|x|)
double bessel_i1e(double x);
double bessel_k(double order, double x);  // modified, of the second kind
double hurwitz_zeta(double x, double q);
double polygamma(double n, double x);
double gamma_lower(double a, double x);  // regularised incomplete gamma functions
double gamma_upper(double a, double x);
double gamma_lower_slope(double a, double x);  // of gamma_lower, along a
double gamma_sample_slope(double a,
                          double x);  // of the x at which gamma_lower has a value, along a
double beta_incomplete(double a, double b, double x);  // regularised

}  // namespace anynpu::ops::elementwise
