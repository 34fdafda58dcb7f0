// The input of the calls, and the same numbers on the host without fetching them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/cuda/sweep/kernel_call.hpp"

namespace chexbench::engine::cuda {

// The elements of one operand, gaps between rows included: random numbers that repeat after a prime number of elements,
// so that no two rows of a tensor are the same. Immutable, thread-safe.
class TestValues {
 public:
  // `number` distinguishes the operands of one call; `elements` is the operand's size.
  TestValues(const KernelOperand& operand, int number, std::int64_t elements);

  // The elements of one period.
  const std::vector<std::byte>& period() const { return period_; }
  // Writes element i to `to`.
  void write(std::int64_t i, std::byte* to) const;

 private:
  std::size_t cell_bytes_;
  std::int64_t length_;  // of the period, in elements
  std::vector<std::byte> period_;
};

// Returns cells as numbers; those of StepScalars as several numbers each.
std::vector<float> as_floats(Cell cell, const std::vector<std::byte>& cells);

}  // namespace chexbench::engine::cuda
