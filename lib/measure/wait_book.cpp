#include "measure/wait_book.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace chexbench::measure {
std::optional<std::size_t> awaited_op(const std::vector<OpCounters>& meanwhile) {
  for (std::size_t i = meanwhile.size(); i-- > 0;) {
    const OpCounters& op = meanwhile[i];
    if (op.busy_wall_s > op.blocked_input_s && op.busy_wall_s > op.blocked_output_s) return i;
  }
  return {};
}

void WaitBook::step(double wait_s, const std::vector<OpCounters>& meanwhile) {
  if (wait_s <= 0) return;
  open_s_ += wait_s;
  if (open_meanwhile_.empty()) {
    open_meanwhile_ = meanwhile;
  } else {
    for (std::size_t i = 0; i < meanwhile.size(); ++i) measure::add(open_meanwhile_[i], meanwhile[i]);
  }
  if (const std::optional<std::size_t> op = awaited_op(open_meanwhile_)) book(open_meanwhile_[*op], *op);
}

std::vector<WaitBooking> WaitBook::close() {
  if (open_s_ > 0) {
    const auto busiest = std::ranges::max_element(open_meanwhile_, {}, &OpCounters::busy_wall_s);
    if (busiest != open_meanwhile_.end() && busiest->busy_wall_s > 0) {
      book(*busiest, static_cast<std::size_t>(busiest - open_meanwhile_.begin()));
    } else {
      bookings_.push_back({.rank = rank_, .wait_s = open_s_});
    }
  }
  std::ranges::stable_sort(bookings_, {}, &WaitBooking::op_index);
  return std::move(bookings_);
}

// Splits the wait among the parts in proportion to the time that the op's threads spent on each.
void WaitBook::book(OpCounters meanwhile, std::size_t index) {
  open_meanwhile_.clear();
  const double wait_s = std::exchange(open_s_, 0);
  const std::array<std::pair<const char*, double>, 4> parts{{{"read", meanwhile.read_s},
                                                             {"parse", meanwhile.parse_s},
                                                             {"decode", meanwhile.decode_s},
                                                             {"resize", meanwhile.resize_s}}};
  double timed_s = 0;
  for (const auto& [name, seconds] : parts) timed_s += seconds;
  if (timed_s <= 0) return add(index, meanwhile.op, "", wait_s);
  const double all_s = std::max(timed_s, meanwhile.busy_wall_s);
  for (const auto& [name, seconds] : parts) add(index, meanwhile.op, name, wait_s * seconds / all_s);
  add(index, meanwhile.op, "other", wait_s * (all_s - timed_s) / all_s);
}

void WaitBook::add(std::size_t index, const std::string& op, const char* part, double wait_s) {
  if (wait_s <= 0) return;
  const auto known = std::ranges::find_if(bookings_, [&](const WaitBooking& booking) {
    return booking.op_index == static_cast<int>(index) && booking.part == part;
  });
  if (known != bookings_.end()) {
    known->wait_s += wait_s;
  } else {
    bookings_.push_back({.rank = rank_, .op_index = static_cast<int>(index), .op = op, .part = part, .wait_s = wait_s});
  }
}

OpCounters difference(const OpCounters& after, const OpCounters& before) {
  OpCounters d = after;
  for (const auto counter : kOpTotals) d.*counter -= before.*counter;
  for (const auto counter : kOpTimes) d.*counter -= before.*counter;
  return d;
}

void add(OpCounters& sum, const OpCounters& other) {
  for (const auto counter : kOpTotals) sum.*counter += other.*counter;
  for (const auto counter : kOpTimes) sum.*counter += other.*counter;
  for (const auto counter : kOpLevels) sum.*counter += other.*counter;
}

}  // namespace chexbench::measure
