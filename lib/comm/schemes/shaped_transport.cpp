#include "comm/schemes/shaped_transport.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace chexbench::comm {
namespace {

class ShapedTransport final : public Transport {
 public:
  ShapedTransport(std::unique_ptr<Transport> inner, const LinkShape& shape, std::function<double()> clock)
      : inner_(std::move(inner)), shape_(shape), clock_(std::move(clock)) {}

  Transfer send(int peer, std::span<const std::byte> bytes) override {
    const double begin_s = std::max(clock_(), out_free_s_);
    const double end_s = out_free_s_ = begin_s + wire_s(bytes);
    return [this, peer, bytes, begin_s, end_s, sent = Transfer(), complete = false]() mutable {
      if (clock_() < begin_s) return false;
      if (!sent) sent = inner_->send(peer, bytes);
      complete = complete || sent();
      return complete && clock_() >= end_s;
    };
  }

  Transfer receive(int peer, std::span<std::byte> bytes) override {
    return [this, bytes, received = inner_->receive(peer, bytes), end_s = std::optional<double>()]() mutable {
      if (!end_s) {
        if (!received()) return false;
        end_s = in_free_s_ = std::max(clock_() + shape_.latency_s, in_free_s_) + wire_s(bytes);
      }
      return clock_() >= *end_s;
    };
  }

 private:
  double wire_s(std::span<const std::byte> bytes) const {
    return static_cast<double>(bytes.size()) / shape_.bytes_per_s;
  }

  const std::unique_ptr<Transport> inner_;
  const LinkShape shape_;
  const std::function<double()> clock_;
  double out_free_s_ = 0;  // when the last outgoing byte so far has left
  double in_free_s_ = 0;   // when the last incoming byte so far has arrived
};

}  // namespace

std::unique_ptr<Transport> make_shaped_transport(std::unique_ptr<Transport> inner, const LinkShape& shape,
                                                 std::function<double()> clock) {
  return std::make_unique<ShapedTransport>(std::move(inner), shape, std::move(clock));
}

}  // namespace chexbench::comm
