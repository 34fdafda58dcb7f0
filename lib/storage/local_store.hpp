// The store of the files of this machine.
#pragma once

#include <memory>

#include "spec/trial_spec.hpp"
#include "storage/store.hpp"

namespace chexbench::storage {

// Returns the local store of this kind, which all folders share. Its streams give views of mapped files, or copies.
// Thread-safe.
const std::shared_ptr<const Store>& local_store(spec::FileReading reading = spec::FileReading::map);

// Streams a mapped file. The stream's take() throws DataError if the file has become shorter since it was mapped.
std::unique_ptr<ByteStream> stream_mapped(std::shared_ptr<const MappedFile> file);

}  // namespace chexbench::storage
