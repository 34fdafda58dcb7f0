#include "comm/schemes/scheduled_average.hpp"

#include <algorithm>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "comm/schemes/transport.hpp"
#include "spec/keys.hpp"

namespace chexbench::comm {
namespace {

class ScheduledAverage {
 public:
  ScheduledAverage(Transport& transport, Schedule schedule, std::span<float> values, const AverageConfig& config)
      : transport_(transport), schedule_(std::move(schedule)), values_(values), config_(config) {}

  Progress poll();

 private:
  // The bytes in flight for a message; empty if its values are sent or received in place.
  struct Parcel {
    Message message;
    std::vector<std::byte> bytes;
  };
  bool narrows() const { return config_.dtype != FloatType::f32; }
  std::span<float> values_of(const Message& message) const { return values_.subspan(message.first, message.count); }
  std::vector<std::byte> buffer_for(const Message& message) const {
    return std::vector<std::byte>(message.count * bytes_of(config_.dtype));
  }
  void scale();
  void begin(const Round& round);
  std::span<const std::byte> outgoing(const Message& message);
  void finish();

  Transport& transport_;
  const Schedule schedule_;
  const std::span<float> values_;
  const AverageConfig config_;
  bool begun_ = false;
  std::size_t next_ = 0;        // index of the next round
  std::list<Parcel> received_;  // lists, so that the bytes stay in place
  std::list<Parcel> sent_;
  std::vector<Transfer> transfers_;  // those that are not complete
  std::vector<float> widened_;
};

Progress ScheduledAverage::poll() {
  if (!std::exchange(begun_, true) && narrows()) scale();
  const auto completed = std::erase_if(transfers_, [](Transfer& transfer) { return transfer(); });
  if (!transfers_.empty()) return completed > 0 ? Progress::moved : Progress::waiting;
  finish();
  if (next_ < schedule_.size()) {
    begin(schedule_[next_++]);
    return Progress::moved;
  }
  if (!narrows()) scale();
  return Progress::done;
}

void ScheduledAverage::scale() {
  for (float& value : values_) value *= config_.scale;
}

void ScheduledAverage::begin(const Round& round) {
  for (const Message& message : round.receives) {
    const bool in_place = !message.add && !narrows();
    Parcel& parcel = received_.emplace_back(Parcel{message, in_place ? std::vector<std::byte>() : buffer_for(message)});
    transfers_.push_back(transport_.receive(
        message.peer, in_place ? std::as_writable_bytes(values_of(message)) : std::span(parcel.bytes)));
  }
  for (const Message& message : round.sends) transfers_.push_back(transport_.send(message.peer, outgoing(message)));
}

// Returns the bytes to send. Values that go to several ranks, such as a server's, are narrowed only once.
std::span<const std::byte> ScheduledAverage::outgoing(const Message& message) {
  const std::span<float> values = values_of(message);
  if (!narrows()) return std::as_bytes(values);
  const auto same = std::ranges::find_if(sent_, [&](const Parcel& parcel) {
    return parcel.message.first == message.first && parcel.message.count == message.count;
  });
  if (same != sent_.end()) return same->bytes;
  Parcel& parcel = sent_.emplace_back(Parcel{message, buffer_for(message)});
  pack(values, config_.dtype, parcel.bytes);
  unpack(parcel.bytes, config_.dtype, values);
  return parcel.bytes;
}

void ScheduledAverage::finish() {
  for (const Parcel& parcel : received_) {
    if (parcel.bytes.empty()) continue;
    std::span<const float> values(reinterpret_cast<const float*>(parcel.bytes.data()), parcel.message.count);
    if (narrows()) {
      widened_.resize(parcel.message.count);
      unpack(parcel.bytes, config_.dtype, widened_);
      values = widened_;
    }
    float* to = values_of(parcel.message).data();
    for (const float value : values) {
      *to = parcel.message.add ? *to + value : value;
      ++to;
    }
  }
  received_.clear();
  sent_.clear();
}

}  // namespace

Poll make_scheduled_average(Transport& transport, Schedule schedule, std::span<float> values,
                            const AverageConfig& config) {
  const auto average = std::make_shared<ScheduledAverage>(transport, std::move(schedule), values, config);
  return [average] { return average->poll(); };
}

}  // namespace chexbench::comm
