// Sums of feature maps, element by element.
#include "engine/cuda/kernels/elementwise.hpp"

#include "emulation.hpp"

namespace chexbench::engine::cuda::kernels {
namespace {

template <typename M>
class AddOf : public testing::Test {};
TYPED_TEST_SUITE(AddOf, AllMoves);

TYPED_TEST(AddOf, SlicesOfAnySize) {
  using T = typename TypeParam::Type;
  constexpr int kWidth = TypeParam::kWidth;
  for (int rows : {1, 7, 300}) {
    const int channels = 3 * kWidth;
    Tensor<T> from(rows, channels, channels + kWidth, kWidth), to(rows, channels, 2 * channels);
    from.randomize(1);
    to.randomize(2);
    const Tensor<T> before = to;
    run_channels(Add<T, kWidth>{std::as_const(from).view(), to.view()}, rows, channels, kWidth);
    for (int row = 0; row < rows; ++row) {
      for (int c = 0; c < channels; ++c) {
        const double exact = from(row, c) + before(row, c);
        ASSERT_NEAR(to(row, c), exact, tolerance<T>() * (0.01 + std::abs(exact)));
      }
    }
    to.expect_guards_untouched();
  }
}

}  // namespace
}  // namespace chexbench::engine::cuda::kernels
