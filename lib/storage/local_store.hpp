// The store of the files of this machine.
#pragma once

#include <memory>

#include "storage/store.hpp"

namespace chexbench::storage {

// Returns the only local store, which serves all folders. Its streams give views of mapped files, without a copy.
// Thread-safe.
const std::shared_ptr<const Store>& local_store();

// Streams a mapped file. The stream's take() throws DataError if the file has become shorter since it was mapped.
std::unique_ptr<ByteStream> stream_mapped(std::shared_ptr<const MappedFile> file);

}  // namespace chexbench::storage
