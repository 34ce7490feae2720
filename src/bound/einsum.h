#pragma once
// One extended einsum as the searches and theorems of this stage see it: a box of dims under
// guards, and tensors that its points read or sum into. Bytes are exact: a width is a ratio.

#include <cstdint>
#include <string>
#include <vector>

namespace solar::bound {

/// How many bytes 32 elements take: exact for packed and block-scaled formats too (f32 128, i4 16,
/// nvfp4 18, mxfp8 33). 32 is one byte an element.
struct Width {
  int64_t bytes_per_32 = 32;
  friend auto operator<=>(const Width&, const Width&) = default;
};

/// Bytes of `elements` elements, rounded up; INT64_MAX where that does not fit.
int64_t bytes_of(int64_t elements, Width width);

struct Dim {
  std::string name = {};
  int64_t extent = 1;
  bool ordered = false;  // steps that run in order, and cannot be tiled across
};

struct Term {
  int32_t dim = 0;
  int64_t coefficient = 1;
  friend bool operator==(const Term&, const Term&) = default;
};

/// sum of coefficient * dim + offset: one axis of an access, or the left side of a guard.
struct Affine {
  std::vector<Term> terms = {};  // by dim, each once, no zero coefficients
  int64_t offset = 0;
  int64_t whole = 0;  // of an axis, above 0: no such sum tells which of so many elements is used
  friend bool operator==(const Affine&, const Affine&) = default;
};

/// A tensor of an einsum. Two reads of one tensor at different subscripts are two of these with the
/// same `array`.
struct Tensor {
  std::string name = {};
  int32_t array = 0;
  std::vector<Affine> axes = {};
  bool is_output = false;
  int64_t footprint = 0;  // distinct elements that useful points touch
  Width dram = {};        // as stored
  Width on_chip =
      {};  // narrowest in which it may be kept on chip, of an output its partial sums too
  Width partial = {};  // of an output: as its unfinished sums are written and read back
  /// Axes that are one dim each with coefficient 1, no dim twice.
  bool is_projective() const;
};

/// sum + offset >= 0 at every point that counts.
using Guard = Affine;

struct Einsum {
  std::string name = {};
  std::vector<Dim> dims = {};
  std::vector<Tensor> tensors = {};  // inputs, then outputs
  std::vector<Guard> guards = {};
  int64_t points = 0;  // that count: useful multiply-accumulates of a product of two factors
};

/// The same for einsums that differ in names and arrays only.
std::string structure_of(const Einsum& einsum);

}  // namespace solar::bound
