// Says in words for which ranks a rank waits, from what the other ranks answer. Pure functions; wait_watch.hpp asks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.hpp"

namespace chexbench::comm {

// Where a rank is in the operations of one lane, which all ranks of a group begin in the same order.
struct LaneState {
  std::int64_t begun = 0;   // number of operations that it has begun
  bool is_waiting = false;  // in the last of them, and not beyond it
  std::string what;         // of the last one: "averaging of gradients"
  std::string phase;        // what the rank's own threads do: "step 12"
};

// A wait, as the rank that waits sees it.
struct Wait {
  int rank = 0;
  double waited_s = 0;  // since something last moved
  LaneState own;
  Patience patience = Patience::unlimited;
  double timeout_s = 0;  // 0: none
  // Of each rank of the group: its answer, or nothing, and how long it has been silent; not used for `rank` itself.
  std::vector<std::optional<LaneState>> answers;
  std::vector<double> silent_s;
  std::vector<std::string> hosts;  // of each rank of the group, at least
};

struct WaitVerdict {
  bool is_left_to_lower = false;  // a lower rank waits in the same operation and says what there is to say
  bool is_worth_a_line = false;
  bool has_expired = false;
  bool has_diverged = false;  // a rank waits in another operation, so both would wait for ever
  std::string text;           // "waiting for rank 1 (node2) for 9 s: averaging of gradients, step 12; rank 1 ..."
};

// Decides what the rank says and whether it gives up. It waits for ranks that do not answer, and for those that have
// not begun the operation. It gives up after `timeout_s` if its patience is limited, and otherwise only if a rank that
// it waits for has been silent for as long.
WaitVerdict judge(const Wait& wait);

}  // namespace chexbench::comm
