// Every kernel on the host twin of a device: the same functions on the same numbers agree, and a result that is wrong
// in one place is found.
#include "engine/cuda/sweep/kernel_bench.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "engine/cuda/kernels/channel_sums.hpp"
#include "engine/cuda/sweep/small_calls.hpp"

namespace chexbench::engine::cuda {
namespace {

TEST(KernelBench, AgreesWithTheHostInEveryKernelAndType) {
  for (const FloatType type : {FloatType::f32, FloatType::fp16, FloatType::bf16}) {
    for (const KernelCall& call : small_calls(type)) {
      const KernelCheck check = KernelBench(call).check();
      EXPECT_TRUE(check.agrees()) << to_string(call.kernel) << " at " << shape_text(call) << ": " << check.result
                                  << " differs by " << check.difference;
      EXPECT_GT(check.values, 0) << to_string(call.kernel);
    }
  }
}

// The error that the test plants, global because launchers have no state.
const KernelOperand* spoilt = nullptr;

// Launches the kernel, and then changes the last element of the result, which the twin keeps on the host.
void launch_wrongly(const KernelCall& call, const KernelMemory& memory, void* scratch, kernels::Stream stream) {
  launch_kernel(call, memory, scratch, stream);
  const kernels::Matrix result = memory.matrix(spoilt->name);
  const std::size_t cell_bytes = bytes_of(spoilt->cell);
  const std::int64_t last = (spoilt->rows(call.items) - 1) * spoilt->ld + spoilt->channels - 1;
  auto* const cell = static_cast<std::byte*>(result.data) + static_cast<std::size_t>(last) * cell_bytes;
  if (spoilt->cell == Cell::scalars) {
    ++static_cast<kernels::StepScalars*>(result.data)->step;
  } else {
    cell[cell_bytes - 1] ^= std::byte{0x40};  // of floats, the highest bit of the exponent
  }
}

TEST(KernelBench, FindsOneWrongElementInEveryResultOfEveryKernel) {
  for (const KernelCall& call : small_calls(FloatType::fp16)) {
    for (const KernelOperand& operand : operands(call)) {
      if (operand.access == Access::read) continue;
      spoilt = &operand;
      const KernelCheck check = KernelBench(call, launch_wrongly).check();
      EXPECT_FALSE(check.agrees()) << operand.name << " of " << to_string(call.kernel);
      EXPECT_EQ(check.result, operand.name) << to_string(call.kernel);
    }
  }
}

void launch_nothing(const KernelCall&, const KernelMemory&, void*, kernels::Stream) {}

TEST(KernelBench, FindsAKernelThatWritesNothing) {
  for (const KernelCall& call : small_calls(FloatType::fp16))
    EXPECT_FALSE(KernelBench(call, launch_nothing).check().agrees()) << to_string(call.kernel);
}

// A sum that misses a row must be found, although it is one of thousands.
void launch_without_last_row(const KernelCall& call, const KernelMemory& memory, void* scratch,
                             kernels::Stream stream) {
  KernelCall shorter = call;
  --shorter.items;
  launch_kernel(shorter, memory, scratch, stream);
}

TEST(KernelBench, FindsAMissingRowOfThousands) {
  for (const Kernel kernel : all_kernels()) {
    if (traits_of(kernel).reach != Reach::channel) continue;
    EXPECT_FALSE(KernelBench(small_call(kernel, FloatType::fp16), launch_without_last_row).check().agrees())
        << to_string(kernel);
  }
}

// A sum that does not set its tickets back would be right once.
void launch_without_resetting(const KernelCall& call, const KernelMemory& memory, void* scratch,
                              kernels::Stream stream) {
  launch_kernel(call, memory, scratch, stream);
  std::fill_n(static_cast<unsigned*>(scratch), kernels::SumsMemory::kTickets, 1000u);
}

TEST(KernelBench, FindsASumThatLeavesItsTicketsDrawn) {
  for (const Kernel kernel : all_kernels()) {
    if (traits_of(kernel).reach != Reach::channel) continue;
    EXPECT_FALSE(KernelBench(small_call(kernel, FloatType::f32), launch_without_resetting).check().agrees())
        << to_string(kernel);
  }
}

// Writes the first element after the first row of the result, which belongs to another layer.
void launch_too_widely(const KernelCall& call, const KernelMemory& memory, void* scratch, kernels::Stream stream) {
  launch_kernel(call, memory, scratch, stream);
  static_cast<float*>(memory.matrix(spoilt->name).data)[spoilt->channels] = 1;
}

TEST(KernelBench, FindsWhatIsWrittenBetweenRows) {
  int found = 0;
  for (const KernelCall& call : small_calls(FloatType::f32)) {
    for (const KernelOperand& operand : operands(call)) {
      if (operand.access == Access::read || operand.ld == operand.channels) continue;
      spoilt = &operand;
      const KernelCheck check = KernelBench(call, launch_too_widely).check();
      EXPECT_FALSE(check.agrees()) << operand.name << " of " << to_string(call.kernel);
      EXPECT_NE(check.result.find("between its rows"), std::string::npos) << check.result;
      ++found;
    }
  }
  EXPECT_GE(found, 5);
}

TEST(KernelBench, TellsAnOverflowCheckThatFindsNoInfinity) {
  const KernelCall call = small_call(Kernel::overflow_check, FloatType::bf16);
  const KernelCheck check =
      KernelBench(call, [](const KernelCall&, const KernelMemory&, void*, kernels::Stream) {}).check();
  EXPECT_FALSE(check.agrees());
  EXPECT_NE(check.result.find("infinite"), std::string::npos) << check.result;
}

TEST(Selection, OfRowsIsSpreadFromTheFirstToTheLast) {
  const KernelCall call{.kernel = Kernel::normalize, .items = 802816, .channels = 64};
  const std::vector<Selection> all = selections(call);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().count(), 1024);
  EXPECT_EQ(all.front().items.front().begin, 0);
  EXPECT_EQ(all.front().items.back().end, call.items);
  std::set<std::int64_t> places;  // in a thread's loop over its rows, and among the rows of a block
  for (const ItemRange& range : all.front().items) places.insert(range.begin % 32);
  EXPECT_EQ(places.size(), 32u);
}

TEST(Selection, OfSumsHasAllRowsOfEveryPlaceInAVector) {
  for (const int channels : {32, 64, 96, 256, 1024, 2048}) {
    std::set<int> chosen, places;
    for (const Selection& selection :
         selections({.kernel = Kernel::statistics, .items = 12544, .channels = channels})) {
      EXPECT_EQ(selection.count(), 12544);
      chosen.insert(selection.channel);
      places.insert(selection.channel % 8);
    }
    EXPECT_EQ(chosen.size(), 8u);
    EXPECT_EQ(places.size(), 8u);
    EXPECT_EQ(*chosen.begin(), 0);
    EXPECT_EQ(*chosen.rbegin(), channels - 1);
  }
}

TEST(Selection, OfSumsThatAlsoWriteRowsHasTheseRows) {
  const std::vector<Selection> all = selections({.kernel = Kernel::lazy_accumulate, .items = 802816, .channels = 256});
  EXPECT_EQ(all.size(), 9u);
  EXPECT_TRUE(all.front().compares_items);
  EXPECT_FALSE(all.front().compares_sums);
}

TEST(Selection, OfPoolsHasWholeImages) {
  const KernelCall call{
      .kernel = Kernel::max_pool,
      .items = 256,
      .channels = 64,
      .pool = {.height = 112, .width = 112, .out_height = 56, .out_width = 56, .kernel = 3, .stride = 2}};
  const std::vector<Selection> all = selections(call);
  ASSERT_EQ(all.size(), 1u);
  ASSERT_EQ(all.front().count(), 3);
  EXPECT_EQ(all.front().items.front().begin, 0);
  EXPECT_EQ(all.front().items.back().begin, 255);
}

TEST(Selection, OfASmallCallIsAllOfIt) {
  EXPECT_EQ(selections({.kernel = Kernel::add, .items = 100, .channels = 64}).front().count(), 100);
  EXPECT_EQ(selections({.kernel = Kernel::loss, .items = 256, .channels = 16, .outputs = 14}).front().count(), 256);
  EXPECT_EQ(selections({.kernel = Kernel::statistics, .items = 9, .channels = 3}).size(), 3u);
}

}  // namespace
}  // namespace chexbench::engine::cuda
