// The op interleave: reads several files at once and delivers block_length records from each, one file after another.
// The order is that of tf.data's deterministic interleave (interleave_dataset_op.cc): when a file ends, its turn ends,
// and its place in the cycle takes the next file when the turn comes to it again.
#include <deque>
#include <optional>
#include <vector>

#include "pipeline/ops.hpp"
#include "pipeline/record_stream.hpp"
#include "pipeline/threads.hpp"
#include "pipeline/tunable.hpp"

namespace chexbench::pipeline {
namespace {

struct Cycle {
  std::size_t length = 1;
  std::size_t block = 1;
  bool deterministic = true;
  std::size_t files_ahead = 0;    // files opened before a place in the cycle is free for them
  ThreadPool* readers = nullptr;  // has a thread for each open file; null if files are read without threads
};

// A file that the thread that calls next() reads when the file's turn comes. This is the plain twin of ReadAhead.
class ReadInTurn {
 public:
  static constexpr bool kReadsAhead = false;
  ReadInTurn(Op& op, FileRef file, const Cycle&, const std::stop_token& stop) : stream_(op, file, stop) {}
  std::optional<Record> next() { return stream_.next(); }
  bool ready() const { return true; }

 private:
  RecordStream stream_;
};

// A file that a dedicated thread reads ahead, so that waits for storage overlap.
class ReadAhead {
 public:
  static constexpr bool kReadsAhead = true;

  ReadAhead(Op& op, FileRef file, const Cycle& cycle, const std::stop_token& stop)
      : op_(op), file_(file), chain_(stop), queue_(kBlocksAhead * cycle.block, Refill::at_half) {
    reader_.emplace(*cycle.readers, 1, [this](std::size_t) { run(); });
  }
  ~ReadAhead() {
    chain_.request_stop();
    reader_.reset();
    op_.stats().queue_depth.add(-static_cast<std::int64_t>(queue_.size()));
  }

  std::optional<Record> next() {
    const TimeScope wait(op_.stats(), TimeScope::Book::nothing);
    std::optional<Record> record = queue_.pop(chain_.token());
    if (record) op_.stats().queue_depth.add(-1);
    return record;
  }
  bool ready() const { return queue_.ready(); }

 private:
  void run() {
    const TimeScope scope(op_.stats(), TimeScope::Book::busy);
    std::optional<RecordStream> stream;
    fill_ahead(op_.stats(), queue_, chain_.token(), [&] {
      if (!stream) stream.emplace(op_, file_, chain_.token(), RecordStream::ImageBytes::now);
      std::optional<Record> record = stream->next();
      if (!record) return record;
      op_.delay(chain_.token());
      op_.stats().queue_depth.add(1);
      return record;
    });
  }

  Op& op_;
  const FileRef file_;
  ChainedStop chain_;
  BoundedQueue<Record> queue_;
  std::optional<Crew> reader_;
};

template <typename File>
class InterleaveIterator final : public Iterator {
 public:
  InterleaveIterator(Op& op, std::unique_ptr<Iterator> input, const Cycle& cycle, std::stop_token stop)
      : Iterator(op, std::move(stop), File::kReadsAhead ? Delay::in_threads : Delay::in_next),
        input_(std::move(input)),
        cycle_(cycle),
        places_(cycle.length) {}

 private:
  struct Open {
    std::uint32_t epoch;
    std::unique_ptr<File> file;
  };

  bool produce(Element& out) override {
    if (!started_) fill_places();
    const auto depth = static_cast<std::int64_t>(op_.stats().queue_depth.value());
    while (!stop_.stop_requested()) {
      if (!cycle_.deterministic) skip_to_ready();
      std::optional<Open>& place = places_[turn_];
      if (!place && !(place = next_file())) {
        if (open_ == 0) return false;
        end_turn();
        continue;
      }
      if (std::optional<Record> record = place->file->next()) {
        out.epoch = place->epoch;
        out.value = std::move(*record);
        op_.stats().queue_depth_sum.add(depth);
        if (++taken_ == cycle_.block) end_turn();
        return true;
      }
      if (stop_.stop_requested()) return false;
      place.reset();
      --open_;
      end_turn();
    }
    return false;
  }

  // The first round takes the files in order regardless of their lengths, so all of them can start reading at once.
  void fill_places() {
    started_ = true;
    if (!File::kReadsAhead) return;
    for (std::optional<Open>& place : places_) {
      place = next_file();
      if (!place) return;
    }
  }

  std::optional<Open> next_file() {
    while (ahead_.size() <= cycle_.files_ahead && !input_ended_) {
      Element element;
      input_ended_ = !input_->next(element);
      if (input_ended_) break;
      ahead_.push_back({element.epoch, std::make_unique<File>(op_, std::get<FileRef>(element.value), cycle_, stop_)});
    }
    if (ahead_.empty()) return {};
    Open file = std::move(ahead_.front());
    ahead_.pop_front();
    ++open_;
    return file;
  }

  void end_turn() {
    taken_ = 0;
    turn_ = (turn_ + 1) % places_.size();
  }

  // For deterministic = false. Moves the turn to the nearest place whose file has a record or has ended, or that can
  // take a new file. If there is no such place, the turn stays where it is.
  void skip_to_ready() {
    const bool files_left = !input_ended_ || !ahead_.empty();
    for (std::size_t i = 0; i < places_.size(); ++i) {
      const std::size_t candidate = (turn_ + i) % places_.size();
      const bool takes_turn = places_[candidate] ? places_[candidate]->file->ready() : files_left;
      if (!takes_turn) continue;
      if (candidate != turn_) taken_ = 0;
      turn_ = candidate;
      return;
    }
  }

  const std::unique_ptr<Iterator> input_;
  const Cycle cycle_;
  std::vector<std::optional<Open>> places_;
  std::deque<Open> ahead_;
  std::size_t turn_ = 0;
  std::size_t taken_ = 0;  // records delivered in this turn
  std::size_t open_ = 0;   // places in use
  bool started_ = false;
  bool input_ended_ = false;
};

class Interleave final : public Op {
 public:
  explicit Interleave(const OpSetup& setup)
      : Op(setup),
        parallel_(setup.spec.boolean("parallel") && reads_files(context()) && !is_found_to_be_one(setup)),
        cycle_{order_of(setup), static_cast<std::size_t>(setup.spec.integer("block_length")),
               setup.spec.boolean("deterministic")} {
    if (parallel_) {
      cycle_.files_ahead = files_open(context(), value_of(setup, "cycle_length")) - cycle_.length;
      stats().queue_capacity.set(static_cast<std::int64_t>(cycle_.length * cycle_.block * kBlocksAhead));
    }
  }
  std::unique_ptr<Iterator> iterate(std::uint32_t epoch, std::stop_token stop) override {
    std::unique_ptr<Iterator> input = input_->iterate(epoch, stop);
    if (!parallel_) return std::make_unique<InterleaveIterator<ReadInTurn>>(*this, std::move(input), cycle_, stop);
    if (!readers_) readers_ = make_worker_pool(name(), context().cores, cycle_.length + cycle_.files_ahead);
    cycle_.readers = readers_.get();
    return std::make_unique<InterleaveIterator<ReadAhead>>(*this, std::move(input), cycle_, stop);
  }
  double expected_elements() const override { return expected_records(*input_); }

 private:
  // "auto" finds the number of open files, not the cycle, because the cycle determines the order of the records.
  static std::size_t order_of(const OpSetup& setup) {
    return static_cast<std::size_t>(setup.spec.integer_or("cycle_length", kAutoCycle));
  }
  // Then the files are read without threads, in the same order.
  static bool is_found_to_be_one(const OpSetup& setup) {
    return setup.spec.holds_text("cycle_length") && value_of(setup, "cycle_length") == 1;
  }

  const bool parallel_;
  // They outlive the files: a new thread for each PNG of a distant store would cost nine system calls per image.
  std::unique_ptr<ThreadPool> readers_;
  Cycle cycle_;
};

}  // namespace

std::unique_ptr<Op> make_interleave(const OpSetup& setup) { return std::make_unique<Interleave>(setup); }

}  // namespace chexbench::pipeline
