// The rate of a pipeline in a window that begins once it delivers no longer what it had read ahead.
#pragma once

#include <cstdint>
#include <optional>

namespace chexbench::bench {

struct WindowPlan {
  double window_s = 0.3;  // how long a window lasts at least
  // Images that the pipeline may have read ahead when it starts to deliver: as many come before the window, as they
  // tell nothing of how fast it reads, and as many in it, so that it has all phases of reading in equal shares.
  std::int64_t images_ahead = 0;
};

// Is told of each batch. Knows no clock.
class RateWindow {
 public:
  RateWindow(const WindowPlan& plan, double begin_s) : plan_(plan), begin_s_(begin_s), open_s_(begin_s) {}

  // Takes a batch of so many images. Returns the images/s of the window if it is complete.
  std::optional<double> take(std::int64_t images, double arrived_s);
  // Returns the rate if the pipeline ends now: that of the window so far, or of everything if it did not open.
  double end(double now_s) const;

 private:
  const WindowPlan plan_;
  const double begin_s_;
  double open_s_;
  bool is_open_ = false;
  int batches_ = 0;  // before the window or in it
  std::int64_t images_ = 0, images_before_ = 0;
};

}  // namespace chexbench::bench
