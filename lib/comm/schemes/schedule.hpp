// Averaging schemes as plans: who sends which values to whom, round by round. Pure, the same for any transport.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "spec/experiment.hpp"

namespace chexbench::comm {

// A run of a bucket's values that goes to, or comes from, another rank.
struct Message {
  int peer = 0;
  std::size_t first = 0;
  std::size_t count = 0;
  bool add = false;  // received values are added to what is there, in the order of the list; or they replace it

  friend bool operator==(const Message&, const Message&) = default;
};

// What one rank does at once. A round ends when all of its messages have; the next one may then change their values.
struct Round {
  std::vector<Message> sends;
  std::vector<Message> receives;
};

// One rank's part. Afterwards every rank holds the sums over ranks, with the same bits.
using Schedule = std::vector<Round>;

// The hosts' ranks: which host each rank is on, numbered as one likes.
using Hosts = std::vector<int>;

// Reduce-scatter, then all-gather, around a ring of `members`: 2 (n-1) rounds of count / n values (Patarasuk and Yuan,
// "Bandwidth optimal all-reduce algorithms", 2009). `rank` is one of them.
Schedule ring_schedule(int rank, std::span<const int> members, std::size_t count);

// A binomial tree to the first member and back: 2 ceil(log2 n) rounds of all values (Thakur, Rabenseifner and Gropp,
// "Optimization of collective communication operations in MPICH", 2005).
Schedule tree_schedule(int rank, std::span<const int> members, std::size_t count);

// A tree within each host to its first rank, a ring of those, and back: between hosts each value goes twice only.
Schedule hierarchical_schedule(int rank, const Hosts& hosts, std::size_t count);

// Ranks 0 to servers - 1 are workers and servers of an equal part of the values each: they get it from everybody, and
// send the sum back (Li et al., "Scaling distributed machine learning with the parameter server", 2014; synchronous).
Schedule parameter_server_schedule(int rank, int world, int servers, std::size_t count);

// The one that `comm.update` names, which is not all_reduce, without messages of no values. @throws SpecError for more
// servers than ranks
Schedule make_schedule(const spec::CommSpec& comm, int rank, const Hosts& hosts, std::size_t count);

// @throws SpecError for more servers than ranks
void check_servers(const spec::CommSpec& comm, int ranks);

// Part `part` of `count` values in `parts` parts whose sizes differ by one at most, to or from `peer`.
Message part_of(std::size_t count, std::size_t parts, std::size_t part, int peer, bool add = false);

}  // namespace chexbench::comm
