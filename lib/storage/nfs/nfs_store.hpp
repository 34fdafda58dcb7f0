// nfs://host[:port]/export/folder: NFSv4 by a client within this process, for machines that may not mount. A mounted
// NFS is a plain path.
#pragma once

#include <memory>

#include "storage/nfs/nfs_connection.hpp"
#include "storage/retry.hpp"
#include "storage/store.hpp"
#include "storage/url.hpp"

namespace chexbench::storage {

// `root` as parse_url() gives it. Nothing is asked yet. @throws DataError where it names no export, or a wrong port
std::unique_ptr<Store> make_nfs_store(const Url& root, NfsConnect connect, const RetryPolicy& policy);

}  // namespace chexbench::storage
