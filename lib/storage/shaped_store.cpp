#include "storage/shaped_store.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/clock.hpp"
#include "core/interrupt.hpp"

namespace chexbench::storage {
namespace {

constexpr std::uint64_t kBlockBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kSeed = 1;
constexpr double kCheckEveryS = 0.02;  // how often a sleep checks whether it should end

struct Slowness {
  Shaper shaper;
  StoreClock clock;
};

class ShapedStream final : public ByteStream {
 public:
  ShapedStream(std::unique_ptr<ByteStream> stream, std::shared_ptr<Slowness> slowness, std::stop_token stop)
      : stream_(std::move(stream)), slowness_(std::move(slowness)), stop_(std::move(stop)) {}
  const std::string& path() const override { return stream_->path(); }
  std::uint64_t size() const override { return stream_->size(); }
  void expect(const PieceFinder& finder) override { stream_->expect(finder); }

  // Requests all blocks that are needed and have not arrived yet at the same time.
  SharedBytes take(std::size_t bytes) override {
    const double now_s = slowness_->clock.now_s();
    double here_s = now_s;
    taken_ += bytes;
    while (asked_ < taken_) {
      const std::uint64_t block = std::min(kBlockBytes, size() - asked_);
      here_s = std::max(here_s, slowness_->shaper.arrival_s(now_s, block));
      asked_ += block;
    }
    SharedBytes result = stream_->take(bytes);
    if (here_s > now_s && !slowness_->clock.sleep_until_s(here_s, stop_)) return {};
    return result;
  }

 private:
  const std::unique_ptr<ByteStream> stream_;
  const std::shared_ptr<Slowness> slowness_;
  const std::stop_token stop_;
  std::uint64_t taken_ = 0;
  std::uint64_t asked_ = 0;
};

class ShapedStore final : public Store {
 public:
  ShapedStore(std::shared_ptr<const Store> store, std::shared_ptr<Slowness> slowness)
      : store_(std::move(store)), slowness_(std::move(slowness)) {}
  std::vector<StoreEntry> list(const std::string& folder) const override { return store_->list(folder); }
  std::optional<std::uint64_t> size(const std::string& path) const override { return store_->size(path); }
  std::span<const std::byte> read(const std::string& path, ByteBuffer& buffer) const override {
    const double begin_s = slowness_->clock.now_s();
    const std::span<const std::byte> bytes = store_->read(path, buffer);
    slowness_->clock.sleep_until_s(slowness_->shaper.arrival_s(begin_s, bytes.size()), {});
    return bytes;
  }
  std::unique_ptr<ByteStream> stream(const std::string& path, std::stop_token stop) const override {
    return std::make_unique<ShapedStream>(store_->stream(path, stop), slowness_, stop);
  }
  bool is_local() const override { return store_->is_local(); }
  bool gives_views() const override { return store_->gives_views(); }
  bool is_distant() const override { return true; }

 private:
  const std::shared_ptr<const Store> store_;
  const std::shared_ptr<Slowness> slowness_;
};

}  // namespace

StoreClock steady_store_clock() {
  return {.now_s = [] { return now_s(); },
          .sleep_until_s =
              [](double until_s, const std::stop_token& stop) {
                while (now_s() < until_s) {
                  if (stop.stop_requested() || interrupt_requested()) return false;
                  sleep_until_s(std::min(until_s, now_s() + kCheckEveryS));
                }
                return true;
              }};
}

std::shared_ptr<const Store> shape_store(std::shared_ptr<const Store> store, const spec::StoreShape& shape,
                                         StoreClock clock) {
  return std::make_shared<ShapedStore>(
      std::move(store), std::shared_ptr<Slowness>(new Slowness{.shaper{shape, kSeed}, .clock = std::move(clock)}));
}

double Shaper::jitter_s() { return shape_.jitter_ms ? -std::log(1 - random_.uniform()) * *shape_.jitter_ms * 1e-3 : 0; }

double Shaper::arrival_s(double now_s, std::uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  const double begin_s = std::max(now_s, next_begin_s_);
  if (shape_.iops) next_begin_s_ = begin_s + 1 / *shape_.iops;
  const double transfer_s =
      shape_.bandwidth_mb_per_s ? static_cast<double>(bytes) / (*shape_.bandwidth_mb_per_s * 1e6) : 0;
  // The link is reserved at the request, not at its answer, so that a slow answer does not delay those before it.
  link_free_s_ = std::max(link_free_s_, now_s) + transfer_s;
  const double answer_s = begin_s + shape_.latency_ms.value_or(0) * 1e-3 + jitter_s();
  return std::max(link_free_s_, answer_s + transfer_s);
}

}  // namespace chexbench::storage
