#pragma once
// Traffic that no execution of a program avoids, given all the storage on the chip side of DRAM.
// The theorems, their proofs and what they take for granted are in docs/cache.md; each result
// carries what a reader needs to check it.

#include <cstdint>
#include <string_view>
#include <vector>

#include "bound/einsum.h"

namespace solar::bound {

enum class Theorem : uint8_t {
  Compulsory,  // each input read once, each output written once
  Segments,    // few products fit between two boundaries (finite Hoelder-Brascamp-Lieb)
  Weighted,    // the same with a weight for each tensor's transfers
  Pairs,       // elements between two products, and the rows and columns they need
};
std::string_view name(Theorem theorem);

/// A lower bound and how it comes about.
struct Certified {
  int64_t bytes = 0;
  Theorem theorem = Theorem::Compulsory;
  int64_t segments = 1;                // into which an execution is cut
  int64_t segment_bytes = 0;           // Segments: read in each
  std::vector<double> exponents = {};  // Segments: per tensor
  std::vector<double> weights = {};    // Weighted: per tensor
};

/// The cache at the start and at the end: nothing in it and all results in DRAM, or steady state of
/// a program that runs again and again.
enum class CacheState : uint8_t { Cold, Warm };

/// The best bound for one einsum alone, whose tensors all come from DRAM and end there. The einsum
/// is a sum of products of its inputs; `points` of them, or fewer, must be formed. Falls back to
/// compulsory traffic where an array occurs twice. Never falls as the capacity (bytes) shrinks.
Certified certified_traffic(const Einsum& einsum, int64_t capacity,
                            CacheState cache = CacheState::Cold);

/// Bytes of the distinct elements of all arrays; an array that occurs twice counts as its larger
/// footprint.
int64_t compulsory_traffic(const Einsum& einsum);

/// Most points of the box that share an element of the tensor, or more.
int64_t multiplicity(const Einsum& einsum, const Tensor& tensor);

/// Points are at most the product over tensors of (elements * multiplicity)^exponent, times this:
/// dims that the exponents do not cover.
long double uncovered(const Einsum& einsum, const std::vector<double>& exponents);

}  // namespace solar::bound
