#include "measure/op_counters.hpp"

namespace chexbench::measure {

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
