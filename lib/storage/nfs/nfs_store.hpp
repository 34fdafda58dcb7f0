// The store of nfs://host[:port]/export/folder: an NFSv4 client inside this process, for machines that may not mount
// file systems. A mounted NFS is a plain path.
#pragma once

#include <memory>

#include "storage/nfs/nfs_connection.hpp"
#include "storage/retry.hpp"
#include "storage/store.hpp"
#include "storage/url.hpp"

namespace chexbench::storage {

// Returns a store that opens up to 16 connections by `connect`, as it needs them. Sends no request yet. `root` comes
// from parse_url().
// @throws DataError if `root` names no export, or no valid port after the ':'
std::unique_ptr<Store> make_nfs_store(const Url& root, NfsConnect connect, const RetryPolicy& policy);

}  // namespace chexbench::storage
