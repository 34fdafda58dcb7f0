// Elements as blobs and back, for the cache op.
#pragma once

#include "pipeline/cache_store.hpp"
#include "pipeline/op.hpp"

namespace chexbench::pipeline {

// One thread. Blobs are of this process and build: they are not a format for exchange.
class CacheCodec {
 public:
  explicit CacheCodec(Op& op) : op_(op) {}

  // Of a PNG's record: reads the file's bytes into it, booked as read. Else nothing. @throws DataError
  void load(Element& element);
  // Of a record that is loaded, or an image: what add() would add, and what it is known by.
  std::size_t bytes_of(const Element& element) const;
  static KeptElements::value_type key_of(const Element& element);
  // Adds a copy of `element`, which must be loaded. Returns the bytes added. @throws OutputError
  std::size_t add(const Element& element, CacheStore& store);
  // The element again, of another epoch. Records are views into the blob; images are copied out of it, because
  // what comes behind may change or keep them. An empty batch once stopped.
  Element restore(const CachedBlob& blob, std::uint32_t epoch, const std::stop_token& stop);

 private:
  class Reader;
  Example restore_example(Reader& reader, std::uint32_t epoch);
  BatchLease restore_batch(Reader& reader, std::uint32_t images, std::uint32_t epoch, const std::stop_token& stop);

  Op& op_;
};

}  // namespace chexbench::pipeline
