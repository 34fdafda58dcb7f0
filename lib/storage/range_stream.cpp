#include "storage/range_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "core/errors.hpp"
#include "storage/limits.hpp"

namespace chexbench::storage {
namespace {

// A range of the object that is requested or has arrived. The stream and the thread that reads share it, because the
// stream may be destroyed first.
class Part {
 public:
  Part(std::uint64_t first, std::size_t bytes, std::shared_ptr<BlockPool> blocks, const PieceFinder& finder)
      : first_(first), blocks_(std::move(blocks)), pieces_(bytes, *blocks_, finder) {}

  void fetch(const RangedFile& file) {
    std::exception_ptr failure;
    try {
      const std::function<bool()> wanted = [this] { return !abandoned_; };
      if (wanted()) file.read(first_, pieces_, wanted);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::scoped_lock lock(mutex_);
    failure_ = failure;
    is_here_ = true;
    arrived_.notify_all();
  }
  // Waits for the range. Returns false if `stop` was requested first. Rethrows what fetch() caught.
  bool wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait(lock, stop, [this] { return is_here_; })) return false;
    if (failure_) std::rethrow_exception(failure_);
    return true;
  }
  void abandon() { abandoned_ = true; }
  // Of a range that has arrived.
  RangePieces& pieces() { return pieces_; }

 private:
  const std::uint64_t first_;
  const std::shared_ptr<BlockPool> blocks_;
  RangePieces pieces_;
  std::atomic<bool> abandoned_ = false;
  std::mutex mutex_;
  std::condition_variable_any arrived_;
  bool is_here_ = false;
  std::exception_ptr failure_;
};

class RangeStream final : public ByteStream {
 public:
  RangeStream(RangedFile file, ThreadPool& pool, const RangePlan& plan, std::stop_token stop)
      : file_(std::make_shared<const RangedFile>(std::move(file))), pool_(pool), plan_(plan), stop_(std::move(stop)) {}
  ~RangeStream() override {
    for (const auto& part : parts_) part->abandon();
  }
  const std::string& path() const override { return file_->path; }
  std::uint64_t size() const override { return file_->size; }

  void expect(const PieceFinder& finder) override { finder_ = finder; }

  // Gives a view of a piece that was received separately, and a copy of anything else: otherwise a shuffle buffer would
  // keep a whole part alive for each of its records.
  SharedBytes take(std::size_t bytes) override {
    if (bytes > kMostObjectBytes) {
      throw DataError(fmt::format("cannot read {}: a record of {} bytes is too large", path(), bytes));
    }
    if (bytes == 0) return {};
    std::optional<RangePieces::Taken> first = take_part(bytes);
    if (!first) return {};
    if (first->view.bytes.size() == bytes && first->is_most_of_its_memory) return first->view;
    return copy(*first, bytes);
  }

 private:
  // Returns the next bytes, `most` of them if contiguous, or std::nullopt once stopped.
  std::optional<RangePieces::Taken> take_part(std::size_t most) {
    if (parts_.empty()) ask_ahead();
    if (!parts_.front()->wait(stop_)) return {};
    RangePieces& pieces = parts_.front()->pieces();
    RangePieces::Taken taken = pieces.take(most);
    if (pieces.is_taken()) {
      parts_.pop_front();
      ask_ahead();
    }
    return taken;
  }

  // Returns a copy of `first` and the bytes after it.
  SharedBytes copy(const RangePieces::Taken& first, std::size_t bytes) {
    const std::shared_ptr<std::byte[]> memory = plan_.blocks->take(bytes);
    std::size_t done = 0;
    for (std::optional part = first; part; part = take_part(bytes - done)) {
      std::memcpy(memory.get() + done, part->view.bytes.data(), part->view.bytes.size());
      done += part->view.bytes.size();
      if (done == bytes) return {{memory.get(), bytes}, memory};
    }
    return {};
  }

  void ask_ahead() {
    while (parts_.size() < plan_.ahead && asked_ < size()) {
      const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(plan_.bytes, size() - asked_));
      const auto part = parts_.emplace_back(std::make_shared<Part>(asked_, bytes, plan_.blocks, finder_));
      asked_ += bytes;
      pool_.submit([part, file = file_] { part->fetch(*file); });
    }
  }

  const std::shared_ptr<const RangedFile> file_;
  ThreadPool& pool_;
  const RangePlan plan_;
  const std::stop_token stop_;
  std::deque<std::shared_ptr<Part>> parts_;  // in the order of the file
  std::uint64_t asked_ = 0;                  // bytes of the object that were requested so far
  PieceFinder finder_;
};

}  // namespace

std::unique_ptr<ByteStream> stream_ranges(RangedFile file, ThreadPool& pool, const RangePlan& plan,
                                          std::stop_token stop) {
  return std::make_unique<RangeStream>(std::move(file), pool, plan, std::move(stop));
}

}  // namespace chexbench::storage
