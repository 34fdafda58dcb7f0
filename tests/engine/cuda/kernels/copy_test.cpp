// Copies of feature maps, element by element.
#include "engine/cuda/kernels/elementwise.hpp"

#include "emulation.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

template <typename M>
class CopyOf : public testing::Test {};
TYPED_TEST_SUITE(CopyOf, AllMoves);

TYPED_TEST(CopyOf, WritesAllOfItsSliceAndNothingElse) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth;
  for (int rows : {1, 7, 300}) {
    const int channels = 3 * kWidth;
    Tensor<T> from(rows, channels), to(rows, channels, channels + 2 * kWidth, kWidth);
    from.randomize(1);
    run_channels(Copy<T, kWidth>{std::as_const(from).view(), to.view()}, rows, channels, kWidth);
    for (int row = 0; row < rows; ++row) {
      for (int c = 0; c < channels; ++c) ASSERT_EQ(to(row, c), from(row, c));
    }
    to.expect_guards_untouched();
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
