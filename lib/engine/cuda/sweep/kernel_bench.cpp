#include "engine/cuda/sweep/kernel_bench.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/cuda/convolution/plan_bench.hpp"
#include "engine/cuda/kernels/channel_sums.hpp"
#include "engine/cuda/kernels/launch_check.hpp"
#include "engine/cuda/runtime/stream.hpp"

namespace chexbench::engine::cuda {
namespace {

constexpr std::byte kUnwritten{0xff};  // NaN in every float type

std::int64_t elements_of(const KernelOperand& operand, std::int64_t items) { return operand.rows(items) * operand.ld; }

std::size_t bytes(std::int64_t elements, Cell cell) { return static_cast<std::size_t>(elements) * bytes_of(cell); }

// The part of an operand that belongs to a selection.
struct Part {
  std::vector<ItemRange> rows;
  int first_channel = 0, channels = 1;

  Part(const KernelOperand& operand, const KernelCall& call, const Selection& selection) : channels(operand.channels) {
    for (const ItemRange& range : selection.items)
      rows.push_back({range.begin * operand.rows_per_item, range.end * operand.rows_per_item});
    if (operand.rows_per_item == 0) rows = {{0, 1}};
    if (selection.channel < 0 || operand.channels != call.channels) return;
    first_channel = selection.channel;
    channels = 1;
  }

  // The same rows with the gaps between them.
  Part whole(int ld) const {
    Part part = *this;
    part.first_channel = 0;
    part.channels = ld;
    return part;
  }

  std::int64_t row_count() const {
    std::int64_t count = 0;
    for (const ItemRange& range : rows) count += range.end - range.begin;
    return count;
  }
  std::int64_t cells() const { return row_count() * channels; }
  // Calls use(element) for each cell.
  template <typename Use>
  void each(int ld, const Use& use) const {
    for (const ItemRange& range : rows) {
      for (std::int64_t row = range.begin; row < range.end; ++row) {
        for (int channel = 0; channel < channels; ++channel) use(row * ld + first_channel + channel);
      }
    }
  }
};

double allowed_difference(Cell cell) {
  switch (cell) {
    case Cell::f32:
    case Cell::scalars:
      return 5e-6;  // sums, 1 / sqrt and contracted products differ by less than 1e-6
    case Cell::f16:
      return 2e-3;  // two roundings, as in bf16
    case Cell::bf16:
      return 1.6e-2;
    default:
      return 0;
  }
}

// Relative to a value and to the mean of all, or to the value alone.
double largest_difference(const std::vector<float>& expected, const std::vector<float>& found, bool to_mean) {
  double sum = 0, largest = 0;
  for (const float value : expected) sum += std::abs(static_cast<double>(value));
  const double mean = to_mean ? sum / static_cast<double>(expected.size()) : 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
    if (difference == 0) continue;
    const double relative = difference / (std::abs(static_cast<double>(expected[i])) + mean);
    if (!(relative <= std::numeric_limits<double>::max())) return std::numeric_limits<double>::infinity();  // also NaN
    largest = std::max(largest, relative);
  }
  return largest;
}

std::vector<std::byte> fetch(const void* tensor, const KernelOperand& operand, const Part& part) {
  const std::size_t row_bytes = bytes(operand.ld, operand.cell);
  std::vector<std::byte> rows(static_cast<std::size_t>(part.row_count()) * row_bytes);
  std::byte* to = rows.data();
  for (const ItemRange& range : part.rows) {
    const std::size_t count = static_cast<std::size_t>(range.end - range.begin) * row_bytes;
    copy_to_host(to, static_cast<const std::byte*>(tensor) + static_cast<std::size_t>(range.begin) * row_bytes, count,
                 nullptr);
    to += count;
  }
  synchronize(nullptr);
  if (part.channels == operand.ld) return rows;
  std::vector<std::byte> cells;
  const auto first = static_cast<std::ptrdiff_t>(bytes(part.first_channel, operand.cell)),
             wanted = static_cast<std::ptrdiff_t>(bytes(part.channels, operand.cell));
  for (auto row = rows.begin(); row != rows.end(); row += static_cast<std::ptrdiff_t>(row_bytes))
    cells.insert(cells.end(), row + first, row + first + wanted);
  return cells;
}

constexpr std::int64_t kPickedValues = 65536;
constexpr std::int64_t kLeastRows = 64, kLeastImages = 3;
constexpr std::int64_t kRun = 64;  // adjacent elements of flat arrays
constexpr int kVector = 8;

// Returns whether operands have several rows for each item, like those of pools.
bool takes_images(const std::vector<KernelOperand>& tensors) {
  return std::ranges::any_of(tensors, [](const KernelOperand& tensor) { return tensor.rows_per_item > 1; });
}

std::vector<ItemRange> spread_items(const KernelCall& call) {
  const std::vector<KernelOperand> tensors = operands(call);
  const bool images = takes_images(tensors);
  const std::int64_t run = call.channels <= 4 && !images ? kRun : 1;
  std::int64_t values = run;
  for (const KernelOperand& tensor : tensors)
    values = std::max(values, run * tensor.rows_per_item * std::int64_t{tensor.channels});
  const std::int64_t runs = std::max(kPickedValues / values, images ? kLeastImages : kLeastRows);
  if (runs * run >= call.items) return {{0, call.items}};
  std::vector<ItemRange> ranges;
  for (std::int64_t i = 0; i < runs; ++i) {
    const std::int64_t begin = i * (call.items - run) / (runs - 1);
    ranges.push_back({begin, begin + run});
  }
  return ranges;
}

std::vector<int> spread_channels(int channels) {
  std::vector<int> spread;
  const int vectors = channels / kVector;
  for (int i = 0; i < std::min(channels, kVector); ++i)
    spread.push_back(vectors == 0 ? i : i * (vectors - 1) / (kVector - 1) * kVector + i);
  return spread;
}

}  // namespace

std::int64_t Selection::count() const {
  std::int64_t count = 0;
  for (const ItemRange& range : items) count += range.end - range.begin;
  return count;
}

std::vector<Selection> selections(const KernelCall& call) {
  if (traits_of(call.kernel).reach == Reach::all) return {{.items = {{0, call.items}}}};
  if (traits_of(call.kernel).reach != Reach::channel) return {{.items = spread_items(call)}};
  std::vector<Selection> all;
  const auto is_row_result = [](const KernelOperand& tensor) {
    return tensor.access != Access::read && tensor.rows_per_item > 0;
  };
  if (std::ranges::any_of(operands(call), is_row_result))
    all.push_back({.items = spread_items(call), .compares_sums = false});
  for (const int channel : spread_channels(call.channels))
    all.push_back({.items = {{0, call.items}}, .channel = channel, .compares_items = false});
  return all;
}

// Compares difference / allowed, without dividing by the 0 that integers are allowed.
void KernelCheck::add(const std::string& of, double found, double limit) {
  const bool nearer = found * allowed > difference * limit || (found > limit && agrees());
  if (!result.empty() && !nearer) return;
  result = of;
  difference = found;
  allowed = limit;
}

KernelBench::KernelBench(const KernelCall& call, Launch launch)
    : call_(call),
      launch_(launch),
      scratch_(kernels::reduction_scratch_bytes(call.channels, kernels::multiprocessors())) {
  const std::vector<KernelOperand> list = operands(call);
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::int64_t elements = elements_of(list[i], call.items);
    tensors_.push_back({list[i], elements, TestValues(list[i], static_cast<int>(i), elements),
                        DeviceMemory(bytes(elements, list[i].cell))});
    memory_.add(list[i].name, {tensors_.back().memory.data(), list[i].ld});
  }
  scratch_.fill(0);  // as the engine does before its first step: sums begin with no tickets drawn (channel_sums.hpp)
  fill();
}

void KernelBench::fill() {
  for (Tensor& tensor : tensors_) {
    if (tensor.operand.access == Access::write) {
      tensor.memory.fill(std::to_integer<int>(kUnwritten));
    } else {
      fill_with(tensor.memory, tensor.values.period());
    }
  }
}

void KernelBench::run() { launch_(call_, memory_, scratch_.data(), nullptr); }

KernelCheck KernelBench::check() {
  KernelCheck check;
  fill();
  if (traits_of(call_.kernel).reach == Reach::channel) {  // the run that counts finds the tickets as this one left them
    run();
    fill();
  }
  run();
  std::vector<Results> all(tensors_.size());
  for (const Selection& selection : selections(call_)) compute(selection, all, check);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].expected.empty()) continue;
    const Cell cell = tensors_[i].operand.cell;
    check.values += static_cast<std::int64_t>(all[i].expected.size());
    check.add(tensors_[i].operand.name, largest_difference(all[i].expected, all[i].found, cell != Cell::scalars),
              allowed_difference(cell));
  }
  if (call_.kernel == Kernel::overflow_check && !finds_infinity())
    check.add("scalars after an infinite gradient", std::numeric_limits<double>::infinity(), 0);
  fill();
  return check;
}

bool KernelBench::finds_infinity() {
  const KernelOperand& gradient = tensors_.front().operand;
  const DeviceMemory& memory = tensors_.front().memory;
  constexpr std::uint16_t kHalf = 0x7c00, kBFloat16 = 0x7f80;
  constexpr float kFloat = std::numeric_limits<float>::infinity();
  const void* const infinity = gradient.cell == Cell::f32   ? static_cast<const void*>(&kFloat)
                               : gradient.cell == Cell::f16 ? &kHalf
                                                            : &kBFloat16;
  const std::size_t cell_bytes = bytes_of(gradient.cell);
  copy_to_device(static_cast<std::byte*>(memory.data()) + memory.bytes() - cell_bytes, infinity, cell_bytes, nullptr);
  run();
  kernels::StepScalars found;
  copy_to_host(&found, memory_.scalars(), sizeof found, nullptr);
  synchronize(nullptr);
  return found.overflow == 1;
}

// Copies the inputs of the selection, computes it on the host, and returns all operands.
std::vector<std::vector<std::byte>> KernelBench::computed(const Selection& selection) const {
  std::vector<std::vector<std::byte>> host;
  KernelMemory memory;
  for (const Tensor& tensor : tensors_) {
    const Part part(tensor.operand, call_, selection);
    std::vector<std::byte>& cells = host.emplace_back(bytes(part.cells(), tensor.operand.cell));
    memory.add(tensor.operand.name, {cells.data(), part.channels});
    if (tensor.operand.access == Access::write) continue;
    std::byte* to = cells.data();
    part.each(tensor.operand.ld, [&](std::int64_t element) {
      tensor.values.write(element, to);
      to += bytes_of(tensor.operand.cell);
    });
  }
  KernelCall part = call_;
  part.items = selection.count();
  if (selection.channel >= 0) part.channels = 1;
  run_on_host(part, memory);
  return host;
}

// Whether the gaps between the rows are as fill() left them.
bool KernelBench::leaves_gaps(const Tensor& tensor, const Selection& selection) const {
  const KernelOperand& operand = tensor.operand;
  if (operand.channels == operand.ld) return true;
  const Part whole = Part(operand, call_, selection).whole(operand.ld);
  const std::vector<std::byte> found = fetch(tensor.memory.data(), operand, whole);
  std::vector<std::byte> filled(bytes_of(operand.cell), kUnwritten);
  bool same = true;
  const std::byte* at = found.data();
  whole.each(operand.ld, [&](std::int64_t element) {
    if (operand.access != Access::write) tensor.values.write(element, filled.data());
    if (element % operand.ld >= operand.channels) same = same && std::memcmp(at, filled.data(), filled.size()) == 0;
    at += filled.size();
  });
  return same;
}

void KernelBench::compute(const Selection& selection, std::vector<Results>& all, KernelCheck& check) const {
  const std::vector<std::vector<std::byte>> host = computed(selection);
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const KernelOperand& operand = tensors_[i].operand;
    const bool compares = operand.rows_per_item > 0 ? selection.compares_items : selection.compares_sums;
    if (operand.access == Access::read || !compares) continue;
    const Part part(operand, call_, selection);
    const std::vector<float> expected = as_floats(operand.cell, host[i]),
                             found = as_floats(operand.cell, fetch(tensors_[i].memory.data(), operand, part));
    all[i].expected.insert(all[i].expected.end(), expected.begin(), expected.end());
    all[i].found.insert(all[i].found.end(), found.begin(), found.end());
    if (!leaves_gaps(tensors_[i], selection))
      check.add(operand.name + std::string(", between its rows"), std::numeric_limits<double>::infinity(), 0);
  }
}

}  // namespace chexbench::engine::cuda
