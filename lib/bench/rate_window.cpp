#include "bench/rate_window.hpp"

namespace chexbench::bench {
namespace {

constexpr int kBatchesBefore = 2;
constexpr int kBatches = 4;

double rate(std::int64_t images, double time_s) { return time_s > 0 ? static_cast<double>(images) / time_s : 0; }

}  // namespace

std::optional<double> RateWindow::take(std::int64_t images, double arrived_s) {
  ++batches_;
  if (!is_open_) {
    images_before_ += images;
    if (batches_ < kBatchesBefore || images_before_ < plan_.images_ahead) return {};
    is_open_ = true;
    open_s_ = arrived_s;
    batches_ = 0;
    return {};
  }
  images_ += images;
  const double lasted_s = arrived_s - open_s_;
  if (batches_ < kBatches || images_ < plan_.images_ahead || lasted_s < plan_.window_s) return {};
  return rate(images_, lasted_s);
}

double RateWindow::end(double now_s) const {
  return images_ > 0 ? rate(images_, now_s - open_s_) : rate(images_before_, now_s - begin_s_);
}

}  // namespace chexbench::bench
