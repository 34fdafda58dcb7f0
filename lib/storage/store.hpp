// The interface through which all other folders read data sets, whether they are in a folder of this machine or on a
// server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "spec/trial_spec.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::storage {

// One entry of a folder of a store.
struct StoreEntry {
  // `broken` is a link that leads nowhere; `other` is a device, say, or a key of an object store with an empty part.
  enum class Kind { file, folder, broken, other };
  std::string name;  // for `other`, possibly not a valid file name, such as ""
  Kind kind = Kind::file;
  std::optional<std::uint64_t> bytes;  // of a file, if the listing of the store reports them
};

// Bytes that are valid as long as `owner` is held.
struct SharedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

// A piece of a file that its reader takes as a whole, such as a record.
struct FoundPiece {
  std::size_t at = 0;     // its offset in the bytes searched
  std::size_t bytes = 0;  // its size
};

// Finds pieces by their first bytes.
struct PieceFinder {
  std::size_t head_bytes = 0;  // how many bytes of a piece must be visible
  // Returns the first piece that begins in `bytes`. May err, which only costs time. Thread-safe.
  std::optional<FoundPiece> (*find)(std::span<const std::byte> bytes) = nullptr;
};

// The size of a stream of unknown length before its end is reached.
inline constexpr std::uint64_t kUnknownBytes = ~std::uint64_t{0};

// Delivers the bytes of one file once, in order, from its beginning. Not thread-safe. Must not outlive its store.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  virtual const std::string& path() const = 0;
  // Returns the bytes of the whole file, or kUnknownBytes.
  virtual std::uint64_t size() const = 0;
  // Announces, before the first take(), how the file will be taken, so that a receiving stream can put each piece into
  // separate memory. The bytes that take() returns do not depend on it.
  virtual void expect(const PieceFinder&) {}
  // Returns the next `bytes` bytes; the file must have that many left. Returns fewer only if the stream was stopped, or
  // if the size was unknown and the file ends. After an exception nothing more can be taken.
  // @throws DataError if the file cannot be read, became shorter or changed; the message names the file and the reason
  // @throws InterruptedError if a signal asked the run to end (distant stores only)
  virtual SharedBytes take(std::size_t bytes) = 0;
};

// A source of files. Thread-safe. A path is the root, or the root followed by '/' and names that list() returned or
// that a layout prescribes. A path contains no secret and appears in messages unchanged.
// @throws DataError from every function that reads, if a folder or file cannot be read; the message names the path and
// the reason
// @throws InterruptedError from distant stores, and while a large folder is listed, if a signal asked the run to end
class Store {
 public:
  virtual ~Store() = default;
  // Returns the entries of the folder in no particular order, or none if there is no such folder.
  virtual std::vector<StoreEntry> list(const std::string& folder) const = 0;
  // Returns the bytes of the file, or std::nullopt if there is no such file.
  virtual std::optional<std::uint64_t> size(const std::string& path) const = 0;
  // Reads the whole file into `buffer`; the view is valid until the next use of the buffer.
  virtual std::span<const std::byte> read(const std::string& path, ByteBuffer& buffer) const = 0;
  // Opens the file as a stream, which reads ahead on distant stores. After `stop` is requested, calls that wait in the
  // stream return soon. A file that does not exist is a DataError.
  virtual std::unique_ptr<ByteStream> stream(const std::string& path, std::stop_token stop) const = 0;
  // Returns true if the files are in file systems of this machine, which its kernel maps and caches.
  virtual bool is_local() const = 0;
  // Returns true if streams give views of mapped files, which take no extra memory, instead of copies.
  virtual bool gives_views() const { return false; }
  // Returns true if reads mostly wait for something other than a core of this machine, so that several reads at once
  // are worth their threads.
  virtual bool is_distant() const { return !is_local(); }
};

// Returns the store of the files of this machine, which all folders share. Its streams give views of mapped files, or
// copies. Thread-safe.
const std::shared_ptr<const Store>& local_store(spec::FileReading reading = spec::FileReading::map);

// Streams a mapped file. The stream's take() throws DataError if the file has become shorter since it was mapped.
std::unique_ptr<ByteStream> stream_mapped(std::shared_ptr<const MappedFile> file);

}  // namespace chexbench::storage
