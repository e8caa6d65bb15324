// SPDX-License-Identifier: Apache-2.0
// Diagonals of matrices as constant lists of places: a place is an element of a flat tensor.
// Importers gather along them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace anynpu::diagonals {

// Diagonals low to high of a matrix; how short ones are aligned in rows of the longest's length.
struct Band {
  int64_t rows = 0, columns = 0, low = 0, high = 0;
  bool upper_left = false, lower_left = true;  // RIGHT_LEFT: above to the right, below to the left

  // "LEFT_RIGHT": how those above the main one are aligned, then those below it.
  void align(std::string_view how) {
    upper_left = how.starts_with("LEFT");
    lower_left = how.ends_with("LEFT");
  }
  int64_t length(int64_t k) const {
    return std::max<int64_t>(
        0, std::min(rows + std::min<int64_t>(k, 0), columns - std::max<int64_t>(k, 0)));
  }
  int64_t longest() const {
    int64_t most = 0;
    for (int64_t k = low; k <= high; ++k) most = std::max(most, length(k));
    return most;
  }
  int64_t count() const { return high - low + 1; }
  bool has(int64_t i, int64_t j) const { return j - i >= low && j - i <= high; }
  // The place of element (i, j) of the matrix in the packed diagonals.
  int64_t place(int64_t i, int64_t j) const {
    const int64_t k = j - i;
    const bool left = k >= 0 ? upper_left : lower_left;
    const int64_t shift = left ? 0 : longest() - length(k);
    return (high - k) * longest() + std::min(i, j) + shift;
  }
  // Rows and columns of a matrix whose diagonals are `extent` long; below 0 is as few as that
  // takes.
  void fit(int64_t extent, int64_t given_rows, int64_t given_columns) {
    const int64_t least_rows = extent - std::min<int64_t>(high, 0);
    const int64_t least_columns = extent + std::max<int64_t>(low, 0);
    rows = given_rows, columns = given_columns;
    if (rows < 0) rows = columns < 0 ? std::max(least_rows, least_columns) : least_rows;
    if (columns < 0) columns = given_rows < 0 ? rows : least_columns;
  }
};

// Of the elements of a matrix in the packed diagonals; `none` (one behind the last) where there is
// none.
inline std::vector<int64_t> places_in_diagonals(const Band& band, int64_t none) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < band.rows; ++i) {
    for (int64_t j = 0; j < band.columns; ++j) {
      places.push_back(band.has(i, j) ? std::min(band.place(i, j), none) : none);
    }
  }
  return places;
}

// Of the elements of the packed diagonals in a matrix; one behind its last where there is none.
inline std::vector<int64_t> places_in_matrix(const Band& band) {
  std::vector<int64_t> places(static_cast<size_t>(band.count() * band.longest()),
                              band.rows * band.columns);
  for (int64_t i = 0; i < band.rows; ++i) {
    for (int64_t j = 0; j < band.columns; ++j) {
      if (band.has(i, j)) places[static_cast<size_t>(band.place(i, j))] = i * band.columns + j;
    }
  }
  return places;
}

// Of the elements of a matrix that gets new diagonals, in the matrix with the diagonals behind it.
inline std::vector<int64_t> places_of_either(const Band& band) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < band.rows; ++i) {
    for (int64_t j = 0; j < band.columns; ++j) {
      const int64_t own = i * band.columns + j;
      places.push_back(band.has(i, j) ? band.rows * band.columns + band.place(i, j) : own);
    }
  }
  return places;
}

}  // namespace anynpu::diagonals
