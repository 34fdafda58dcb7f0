// An object, read in ranges of which several are under way at once.
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>

#include "core/thread_pool.hpp"
#include "data/store/http_fetcher.hpp"
#include "data/store/store.hpp"

namespace chexbench::data {

// How much a stream reads ahead: memory of a stream is bytes x ahead.
struct RangePlan {
  std::size_t bytes = std::size_t{4} << 20;  // of one request: long enough to hide a round trip of 10 ms at 400 MB/s
  std::size_t ahead = 3;                     // requests under way
};

// `pool` does the requests; it and `fetcher` must outlive the stream, and the pool's threads must end before `fetcher`.
std::unique_ptr<ByteStream> stream_ranges(HttpFetcher& fetcher, ThreadPool& pool, HttpTarget target, std::uint64_t size,
                                          const RangePlan& plan, std::stop_token stop);

}  // namespace chexbench::data
