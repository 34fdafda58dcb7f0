// The index of a data set whose shards are its index (data.layout imagenet), when several processes read it together:
// each walks through the records of its share of the shards, and all of them join the shares to the index that
// read_index() returns.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "dataset/index.hpp"

namespace chexbench::dataset {

// Returns whether the root is such a data set. Reads no shard. Thread-safe. @throws DataError as find_layout()
bool is_own_index(const storage::DataRoot& root);

// Reads the shards with the numbers `share`, `share` + `shares` and so on. Returns the images and labels in them as a
// text, which is never empty. Thread-safe. @throws DataError as read_index()
std::string read_index_share(const storage::DataRoot& root, int share, int shares);

// Returns the index of all shares, which are in the order of their numbers; std::nullopt if one of them is not there
// (an empty text) or is of other shards than those in the root. Thread-safe. @throws DataError as read_index()
std::optional<Index> join_index_shares(const storage::DataRoot& root, std::span<const std::string> shares);

}  // namespace chexbench::dataset
