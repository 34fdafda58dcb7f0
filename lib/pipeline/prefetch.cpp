// The op prefetch: runs the ops before it on its own thread, ahead of the ops after it.
#include <algorithm>

#include "pipeline/ops.hpp"
#include "pipeline/threads.hpp"

namespace chexbench::pipeline {
namespace {

// A buffer of "auto" starts with kAutoStart elements and may grow to kAutoMost elements or kAutoBytes, whichever is
// less, but never to less than kAutoStart elements. tf.data has no such bound; without one, the memory of a rank would
// depend on how uneven its steps are.
constexpr std::size_t kAutoStart = 2;
constexpr std::size_t kAutoBytes = std::size_t{128} << 20;
constexpr std::size_t kAutoMost = 64;

struct Buffer {
  std::size_t start = 0;
  std::size_t most = 0;
};

class PrefetchIterator final : public Iterator {
 public:
  PrefetchIterator(Op& op, Op& input, std::uint32_t epoch, Buffer buffer, const std::stop_token& stop)
      : Iterator(op, stop, Delay::in_threads), most_(buffer.most), queue_(buffer.start), chain_(stop) {
    op_.stats().queue_capacity.set(static_cast<std::int64_t>(buffer.start));
    input_ = input.iterate(epoch, chain_.token());
    thread_ = start_thread("prefetch", op.context().cores, [this] { run(); });
  }

  ~PrefetchIterator() override {
    chain_.request_stop();
    thread_.join();
    while (const std::optional<Element> element = queue_.pop_now()) op_.hold(*element, -1);
    op_.stats().queue_depth.set(0);
  }

 private:
  bool produce(Element& out) override {
    const std::size_t depth = queue_.size();
    adapt(depth);
    std::optional<Element> element;
    {
      const TimeScope wait(op_.stats(), TimeScope::Book::nothing);
      element = queue_.pop(stop_);
    }
    if (!element) return false;
    out = std::move(*element);
    op_.hold(out, -1);
    op_.stats().queue_depth_sum.add(static_cast<std::int64_t>(depth));
    op_.stats().queue_depth.set(static_cast<std::int64_t>(queue_.size()));
    return true;
  }

  // This is tf.data's rule (prefetch_autotuner.cc): a buffer that was full once and is empty later is too small.
  void adapt(std::size_t depth) {
    const std::size_t capacity = queue_.capacity();
    if (capacity >= most_) return;
    was_full_ = was_full_ || depth == capacity;
    if (!was_full_ || depth != 0) return;
    was_full_ = false;
    queue_.grow(std::min(most_, capacity * 2));
    op_.stats().queue_capacity.set(static_cast<std::int64_t>(queue_.capacity()));
  }

  void run() {
    const TimeScope scope(op_.stats(), TimeScope::Book::busy);
    fill_ahead(op_.stats(), queue_, chain_.token(), [this] {
      std::optional<Element> element(std::in_place);
      if (!input_->next(*element)) return std::optional<Element>();
      op_.delay(chain_.token());
      op_.hold(*element);
      return element;
    });
  }

  const std::size_t most_;
  bool was_full_ = false;
  BoundedQueue<Element> queue_;
  ChainedStop chain_;
  std::unique_ptr<Iterator> input_;
  std::jthread thread_;
};

class Prefetch final : public Op {
 public:
  explicit Prefetch(const OpSetup& setup) : Op(setup), buffer_(buffer_of(setup)) {
    stats().queue_capacity.set(static_cast<std::int64_t>(buffer_.start));
  }
  void leave_out(const KeptElements& kept) override { input_->leave_out(kept); }
  std::unique_ptr<Iterator> iterate(std::uint32_t epoch, std::stop_token stop) override {
    return std::make_unique<PrefetchIterator>(*this, *input_, epoch, buffer_, stop);
  }
  double held_elements() const override { return within_input(buffer_.start); }
  double most_held_elements() const override { return within_input(buffer_.most); }
  // The prefetch thread holds one element in progress if the input runs in this thread. An input with its own decoding
  // threads counts that element itself.
  double starved_elements() const override { return input_->decoding_threads() > 0 ? 0 : 1; }

 private:
  double within_input(std::size_t elements) const {
    return std::min(static_cast<double>(elements), input_->expected_elements());
  }

  static Buffer buffer_of(const OpSetup& setup) {
    const BatchShape& shape = setup.resources.context.shape;
    if (!setup.spec.holds_text("buffer")) {
      const auto size = static_cast<std::size_t>(setup.spec.integer("buffer"));
      return {size, size};
    }
    if (setup.spec.text("buffer") == "batch") {
      const auto size = static_cast<std::size_t>(shape.images);
      return {size, size};
    }
    const std::size_t element_bytes = setup.kind == spec::ElementKind::batch ? shape.bytes() : shape.image_bytes();
    return {kAutoStart, std::clamp(kAutoBytes / element_bytes, kAutoStart, kAutoMost)};
  }

  const Buffer buffer_;
};

}  // namespace

std::unique_ptr<Op> make_prefetch(const OpSetup& setup) { return std::make_unique<Prefetch>(setup); }

}  // namespace chexbench::pipeline
