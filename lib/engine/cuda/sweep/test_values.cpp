#include "engine/cuda/sweep/test_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/random.hpp"
#include "engine/cuda/kernels/element.hpp"
#include "engine/cuda/sweep/launch_kernel.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr std::int64_t kPeriod = 131071;  // a prime

template <typename T>
void put(const T& value, std::byte* to) {
  std::memcpy(to, &value, sizeof value);
}
template <typename T>
T taken(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

float number(const Values& values, RandomStream& random) {
  const float number = values.center + values.width * (2 * static_cast<float>(random.uniform()) - 1);
  return values.step == 0 ? number : std::floor(number / values.step) * values.step + values.offset;
}

void put_cell(Cell cell, float value, std::int64_t i, std::byte* to) {
  switch (cell) {
    case Cell::f32:
      return put(value, to);
    case Cell::f16:
      return put(to_half(value), to);
    case Cell::bf16:
      return put(to_bfloat16(value), to);
    case Cell::u8:
      return put(static_cast<std::uint8_t>(value), to);
    case Cell::index:
      return put(static_cast<std::int32_t>(i), to);
    case Cell::scalars:
      return put(scalars_of_a_step(), to);
  }
}

void append(const kernels::StepScalars& s, std::vector<float>& floats) {
  for (const auto value : {s.good_steps, s.overflow, s.skip, s.skipped, s.step, s.batches})
    floats.push_back(static_cast<float>(value));
  for (const float value : {s.loss_scale, s.learning_rate, s.unscale, s.update_factor, s.adam_rate, s.adam_root})
    floats.push_back(value);
  for (const double value : {s.beta1_power, s.beta2_power}) floats.push_back(static_cast<float>(value));
}

}  // namespace

TestValues::TestValues(const KernelOperand& operand, int number_of, std::int64_t elements)
    : cell_bytes_(bytes_of(operand.cell)),
      length_(operand.cell == Cell::index ? elements : std::min(elements, kPeriod)),
      period_(static_cast<std::size_t>(length_) * cell_bytes_) {
  RandomStream random(derive_seed(1, static_cast<std::uint64_t>(number_of)));
  for (std::int64_t i = 0; i < length_; ++i)
    put_cell(operand.cell, number(operand.values, random), i, &period_[static_cast<std::size_t>(i) * cell_bytes_]);
}

void TestValues::write(std::int64_t i, std::byte* to) const {
  std::memcpy(to, &period_[static_cast<std::size_t>(i % length_) * cell_bytes_], cell_bytes_);
}

std::vector<float> as_floats(Cell cell, const std::vector<std::byte>& cells) {
  std::vector<float> floats;
  floats.reserve(cells.size() / bytes_of(cell));
  for (std::size_t i = 0; i < cells.size(); i += bytes_of(cell)) {
    const std::byte* const at = &cells[i];
    switch (cell) {
      case Cell::f32:
        floats.push_back(taken<float>(at));
        break;
      case Cell::f16:
        floats.push_back(to_float(taken<Half>(at)));
        break;
      case Cell::bf16:
        floats.push_back(to_float(taken<BFloat16>(at)));
        break;
      case Cell::u8:
        floats.push_back(static_cast<float>(taken<std::uint8_t>(at)));
        break;
      case Cell::index:
        floats.push_back(static_cast<float>(taken<std::int32_t>(at)));
        break;
      case Cell::scalars:
        append(taken<kernels::StepScalars>(at), floats);
        break;
    }
  }
  return floats;
}

}  // namespace chexbench::engine::cuda
