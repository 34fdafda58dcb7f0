// Files of this machine.
#pragma once

#include <memory>

#include "storage/store.hpp"

namespace chexbench::storage {

// The one store for all folders. Streams are views of mapped files: no copy.
const std::shared_ptr<const Store>& local_store();

// The bytes of a mapped file. A file that became shorter since is a DataError.
std::unique_ptr<ByteStream> stream_mapped(std::shared_ptr<const MappedFile> file);

}  // namespace chexbench::storage
