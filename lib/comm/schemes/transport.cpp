#include "comm/schemes/transport.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/half.hpp"

namespace chexbench::comm {
namespace {

template <typename T>
void pack_as(std::span<const float> values, std::span<std::byte> wire) {
  narrow(values, std::span(reinterpret_cast<T*>(wire.data()), values.size()));
}

template <typename T>
void unpack_as(std::span<const std::byte> wire, std::span<float> values) {
  widen(std::span(reinterpret_cast<const T*>(wire.data()), values.size()), values);
}

}  // namespace

void pack(std::span<const float> values, FloatType dtype, std::span<std::byte> wire) {
  dtype == FloatType::fp16 ? pack_as<Half>(values, wire) : pack_as<BFloat16>(values, wire);
}

void unpack(std::span<const std::byte> wire, FloatType dtype, std::span<float> values) {
  dtype == FloatType::fp16 ? unpack_as<Half>(wire, values) : unpack_as<BFloat16>(wire, values);
}

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
