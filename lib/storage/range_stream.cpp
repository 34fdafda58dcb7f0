#include "storage/range_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

#include "core/errors.hpp"
#include "storage/limits.hpp"

namespace chexbench::storage {
namespace {

// A range of the object that is requested or has arrived. The stream and the thread that reads share it, because the
// stream may be destroyed first.
class Part {
 public:
  Part(std::uint64_t first, std::size_t bytes, BlockPool& blocks)
      : first_(first), bytes_(bytes), memory_(blocks.take(bytes)) {}

  void fetch(const RangedFile& file) {
    std::exception_ptr failure;
    try {
      const std::function<bool()> wanted = [this] { return !abandoned_; };
      if (wanted()) file.read(first_, {memory_.get(), bytes_}, wanted);
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
  std::span<const std::byte> bytes() const { return {memory_.get(), bytes_}; }

 private:
  const std::uint64_t first_;
  const std::size_t bytes_;
  const std::shared_ptr<std::byte[]> memory_;
  std::atomic<bool> abandoned_ = false;
  std::mutex mutex_;
  std::condition_variable_any arrived_;
  bool is_here_ = false;
  std::exception_ptr failure_;
};

class RangeStream final : public ByteStream {
 public:
  RangeStream(RangedFile file, ThreadPool& pool, const RangePlan& plan, std::stop_token stop)
      : file_(std::make_shared<const RangedFile>(std::move(file))), pool_(pool), plan_(plan), stop_(std::move(stop)) {
    ask_ahead();
  }
  ~RangeStream() override {
    for (const auto& part : parts_) part->abandon();
  }
  const std::string& path() const override { return file_->path; }
  std::uint64_t size() const override { return file_->size; }

  // Copies the bytes out of the parts: with views, a shuffle buffer would keep a whole part for each of its records.
  SharedBytes take(std::size_t bytes) override {
    if (bytes > kMostObjectBytes) {
      throw DataError(fmt::format("cannot read {}: a record of {} bytes is too large", path(), bytes));
    }
    const std::shared_ptr<std::byte[]> memory = plan_.blocks->take(bytes);
    std::size_t done = 0;
    while (done < bytes) {
      if (!parts_.front()->wait(stop_)) return {};
      const std::span<const std::byte> rest = parts_.front()->bytes().subspan(taken_);
      const std::size_t count = std::min(rest.size(), bytes - done);
      std::memcpy(memory.get() + done, rest.data(), count);
      done += count;
      taken_ += count;
      if (count == rest.size()) {
        parts_.pop_front();
        taken_ = 0;
        ask_ahead();
      }
    }
    return {{memory.get(), bytes}, memory};
  }

 private:
  void ask_ahead() {
    while (parts_.size() < plan_.ahead && asked_ < size()) {
      const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(plan_.bytes, size() - asked_));
      const auto part = parts_.emplace_back(std::make_shared<Part>(asked_, bytes, *plan_.blocks));
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
  std::size_t taken_ = 0;                    // bytes of the first part that were taken so far
};

}  // namespace

std::unique_ptr<ByteStream> stream_ranges(RangedFile file, ThreadPool& pool, const RangePlan& plan,
                                          std::stop_token stop) {
  return std::make_unique<RangeStream>(std::move(file), pool, plan, std::move(stop));
}

}  // namespace chexbench::storage
