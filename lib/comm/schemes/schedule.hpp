// Averaging schemes as plans: which rank sends which values to whom, round by round. The functions are pure and know
// nothing about the transport, so all schemes can be tested in one thread. Ranks and value indices count from 0.
#pragma once

#include <cstddef>
#include <span>
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

// A ring over `members`: reduce-scatter, then all-gather, in 2 (n-1) rounds of count / n values (Patarasuk and Yuan,
// "Bandwidth optimal all-reduce algorithms", 2009). `rank` must be one of the members.
Schedule ring_schedule(int rank, std::span<const int> members, std::size_t count);

// A binomial tree to the first member and back, in 2 ceil(log2 n) rounds of all values (Thakur, Rabenseifner and
// Gropp, "Optimization of collective communication operations in MPICH", 2005). `rank` must be one of the members.
Schedule tree_schedule(int rank, std::span<const int> members, std::size_t count);

// A tree within each host to its first rank, a ring of these first ranks, and the trees back. The values cross
// between hosts only in the ring, where each of h hosts sends 2 (h-1) / h times `count` values.
Schedule hierarchical_schedule(int rank, const Hosts& hosts, std::size_t count);

// Ranks 0 to servers - 1 are workers and also servers, each for an equal part of the values. A server receives its
// part from all ranks and sends the sum back (Li et al., "Scaling distributed machine learning with the parameter
// server", 2014; here in its synchronous form).
Schedule parameter_server_schedule(int rank, int world, int servers, std::size_t count);

// Returns the schedule of the scheme `comm.update`, which must not be all_reduce, without empty messages.
// @throws SpecError if there are more servers than ranks
Schedule make_schedule(const spec::CommSpec& comm, int rank, const Hosts& hosts, std::size_t count);

// @throws SpecError if `comm` asks for more servers than there are ranks
void check_servers(const spec::CommSpec& comm, int ranks);

// Returns a message with part `part` of `count` values, to or from `peer`. The values are divided into `parts` parts
// whose sizes differ by one at most.
Message part_of(std::size_t count, std::size_t parts, std::size_t part, int peer, bool add = false);

}  // namespace chexbench::comm
