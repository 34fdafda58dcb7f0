#include "comm/schemes/scheduled_average.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace chexbench::comm {
namespace {

class ScheduledAverage {
 public:
  ScheduledAverage(Transport& transport, Schedule schedule, std::span<float> values, float scale)
      : transport_(transport), schedule_(std::move(schedule)), values_(values), scale_(scale) {}

  Progress poll();

 private:
  struct Receipt {
    Message message;
    std::vector<float> values;  // to be added; empty where they replace what is there
  };
  void begin(const Round& round);
  void finish();

  Transport& transport_;
  const Schedule schedule_;
  const std::span<float> values_;
  const float scale_;
  std::size_t next_ = 0;  // round
  std::vector<Receipt> receipts_;
  std::vector<Transfer> transfers_;  // that are not complete
};

Progress ScheduledAverage::poll() {
  const auto completed = std::erase_if(transfers_, [](Transfer& transfer) { return transfer(); });
  if (!transfers_.empty()) return completed > 0 ? Progress::moved : Progress::waiting;
  finish();
  if (next_ < schedule_.size()) {
    begin(schedule_[next_++]);
    return Progress::moved;
  }
  for (float& value : values_) value *= scale_;
  return Progress::done;
}

void ScheduledAverage::begin(const Round& round) {
  for (const Message& message : round.receives) {
    Receipt& receipt = receipts_.emplace_back(Receipt{message, std::vector<float>(message.add ? message.count : 0)});
    const std::span<float> place = message.add ? receipt.values : values_.subspan(message.first, message.count);
    transfers_.push_back(transport_.receive(message.peer, place));
  }
  for (const Message& message : round.sends) {
    transfers_.push_back(transport_.send(message.peer, values_.subspan(message.first, message.count)));
  }
}

void ScheduledAverage::finish() {
  for (const Receipt& receipt : receipts_) {
    float* to = values_.data() + receipt.message.first;
    for (const float value : receipt.values) *to++ += value;
  }
  receipts_.clear();
}

}  // namespace

Poll make_scheduled_average(Transport& transport, Schedule schedule, std::span<float> values, float scale) {
  const auto average = std::make_shared<ScheduledAverage>(transport, std::move(schedule), values, scale);
  return [average] { return average->poll(); };
}

}  // namespace chexbench::comm
