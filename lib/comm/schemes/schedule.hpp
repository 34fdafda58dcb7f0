// Averaging schemes as plans: which rank sends which values to whom, round by round. The functions are pure and know
// nothing about the transport, so all schemes can be tested in one thread. Ranks and value indices count from 0.
#pragma once

#include <cstddef>
#include <vector>

#include "spec/trial_spec.hpp"

namespace chexbench::comm {

// A contiguous range of a bucket's values that is sent to, or received from, the rank `peer`.
struct Message {
  int peer = 0;
  std::size_t first = 0;
  std::size_t count = 0;
  // Received values are added to the present ones, in the order of the list, or else replace them.
  bool add = false;

  friend bool operator==(const Message&, const Message&) = default;
};

// What one rank does concurrently. A round ends when all of its messages are complete; only then may the next round
// change their values.
struct Round {
  std::vector<Message> sends;
  std::vector<Message> receives;
};

// The plan of one rank. After all ranks have carried out theirs, every rank holds the sums over ranks, with the same
// bits.
using Schedule = std::vector<Round>;

// For each rank: the number of the host that it is on. The numbers are arbitrary.
using Hosts = std::vector<int>;

// Returns the schedule of the scheme `comm.update`, which must not be all_reduce, without empty messages.
// @throws SpecError if there are more servers than ranks
Schedule make_schedule(const spec::CommSpec& comm, int rank, const Hosts& hosts, std::size_t count);

// @throws SpecError if `comm` asks for more servers than there are ranks
void check_servers(const spec::CommSpec& comm, int ranks);

}  // namespace chexbench::comm
