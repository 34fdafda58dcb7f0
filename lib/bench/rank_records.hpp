// Exchanges records between ranks (results/packed.hpp). All functions are collective.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.hpp"
#include "results/packed.hpp"

namespace chexbench::bench {

template <class Record>
std::vector<Record> unpacked_records(const std::vector<std::string>& all) {
  std::vector<Record> records;
  for (const std::string& bytes : all) records.push_back(results::unpacked<Record>(bytes));
  return records;
}

// Returns every rank's record on rank 0, in the order of ranks, and nothing on others.
template <class Record>
std::vector<Record> gather_records(comm::Communicator& ranks, const Record& own) {
  return unpacked_records<Record>(ranks.gather(results::packed(own), 0));
}

// Returns every rank's record, on every rank, in the order of ranks.
template <class Record>
std::vector<Record> all_gather_records(comm::Communicator& ranks, const Record& own) {
  return unpacked_records<Record>(comm::all_gather(ranks, results::packed(own)));
}

// Returns the record of rank 0, on every rank.
template <class Record>
Record broadcast_record(comm::Communicator& ranks, const Record& own) {
  return results::unpacked<Record>(comm::broadcast_text(ranks, results::packed(own)));
}

}  // namespace chexbench::bench
