#include "data/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "data/dataset.hpp"
#include "data/decoder.hpp"
#include "data/file_bytes.hpp"
#include "data/image_files.hpp"
#include "data/index.hpp"
#include "data/parallel.hpp"
#include "data/png_file.hpp"
#include "data/progress.hpp"
#include "data/shards.hpp"
#include "data/tf_example.hpp"
#include "data/tfrecord.hpp"

namespace chexbench::data {
namespace {

constexpr BatchShape kTensor{.images = 1, .height = 224, .width = 224, .deliver = Deliver::f32};

// Decodes images to tensors; what one worker owns.
class TensorMaker {
 public:
  TensorMaker()
      : decoder_(make_decoder(spec::DecoderKind::fast)),
        preprocessor_(make_preprocessor(spec::ResizeMethod::bilinear, kTensor)) {}

  // @throws DataError: the image cannot be decoded
  void run(std::span<const std::byte> bytes, const std::string& name, std::span<std::byte> tensor) {
    preprocessor_->run(decoder_->decode(bytes, name), false, tensor.data());
  }

 private:
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Preprocessor> preprocessor_;
};

struct AlignedTensor {
  AlignedTensor() : memory(static_cast<std::byte*>(::operator new (kTensor.bytes(), std::align_val_t{64}))) {}
  std::span<std::byte> span() { return {memory.get(), kTensor.bytes()}; }
  struct Free {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, Free> memory;
};

struct Worker {
  TensorMaker maker;
  ByteBuffer file;
  PngFile png;
  AlignedTensor of_file, of_record;
};

class Checker {
 public:
  Checker(const std::string& root, std::size_t threads) : root_(root), threads_(threads), index_(read_index(root_)) {
    const std::vector<ImageFile> files = find_image_files(root_);
    auto file = files.begin();
    for (const IndexRow& row : index_.rows) {
      while (file != files.end() && file->name < row.name) ++file;
      const bool found = file != files.end() && file->name == row.name;
      paths_.push_back(found ? file->path : std::string());
    }
  }

  CheckReport run() {
    workers_.resize(worker_count(std::numeric_limits<std::size_t>::max(), threads_));
    check_images();
    for (const spec::Split split : {spec::Split::train, spec::Split::test, spec::Split::all}) check_split(split);
    std::sort(report_.problems.begin(), report_.problems.end());
    return std::move(report_);
  }

 private:
  void problem(std::string text) {
    const std::scoped_lock lock(mutex_);
    report_.problems.push_back(std::move(text));
  }
  void count(std::uint64_t images, std::uint64_t records, std::uint64_t bytes) {
    const std::scoped_lock lock(mutex_);
    report_.images += images;
    report_.records += records;
    report_.bytes += bytes;
  }
  Worker& worker(std::size_t index) {
    // Only thread `index` comes here with this index.
    if (!workers_[index]) workers_[index] = std::make_unique<Worker>();
    return *workers_[index];
  }

  void check_images() {
    Progress progress("checking", "images", paths_.size());
    parallel_for(paths_.size(), threads_, [&](std::size_t who, std::size_t i) {
      if (!paths_[i].empty()) check_image(worker(who), paths_[i]);
      progress.add();
    });
  }

  void check_image(Worker& tools, const std::string& path) {
    try {
      const std::span<const std::byte> bytes = root_.store->read(path, tools.file);
      count(1, 0, bytes.size());
      parse_png(bytes, path, tools.png);  // the decoder may leave out chunks that it does not need
      tools.maker.run(bytes, path, tools.of_file.span());
    } catch (const DataError& error) {
      problem(error.what());
    }
  }

  void check_split(spec::Split split) {
    std::vector<std::string> shards;
    try {
      if (!present_shard_count(root_, split)) return;
      shards = find_shards(root_, split);
    } catch (const DataError& error) {
      problem(error.what());
      return;
    }
    std::vector<int> records_of(index_.rows.size());
    Progress progress("checking", "shards of split " + spec::to_string(split), shards.size());
    parallel_for(shards.size(), threads_, [&](std::size_t who, std::size_t i) {
      check_shard(worker(who), split, shards[i], records_of);
      progress.add();
    });
    for (std::size_t i = 0; i < index_.rows.size(); ++i) {
      const bool expected = index_.rows[i].in(split) && !paths_[i].empty();
      if (expected && records_of[i] == 0) {
        problem(fmt::format("{}: image {} of split '{}' is in no readable record", tfrecord_folder(root_.path),
                            index_.rows[i].name, spec::to_string(split)));
      }
    }
  }

  void check_shard(Worker& tools, spec::Split split, const std::string& path, std::vector<int>& records_of) {
    std::unique_ptr<ByteStream> file;
    try {
      file = root_.store->stream(path, {});
    } catch (const DataError& error) {
      problem(error.what());
      return;
    }
    TfRecordReader reader(std::move(file));
    for (bool more = true; more;) {
      throw_if_interrupted();
      try {
        const std::optional<TfRecord> record = reader.next();
        more = record.has_value();
        if (more) check_record(tools, split, path, *record, records_of);
      } catch (const DataError& error) {
        problem(error.what());
      }
    }
  }

  void check_record(Worker& tools, spec::Split split, const std::string& shard, const TfRecord& record,
                    std::vector<int>& records_of) {
    count(0, 1, record.data.size());
    const ExampleView example = parse_example(record.data, {.file = shard, .offset = record.offset});
    const auto fail = [&](const std::string& reason) {
      throw DataError(
          fmt::format("{}: record at offset {}: image {}: {}", shard, record.offset, example.filename, reason));
    };
    const auto row = std::lower_bound(index_.rows.begin(), index_.rows.end(), example.filename,
                                      [](const IndexRow& r, std::string_view name) { return r.name < name; });
    if (row == index_.rows.end() || row->name != example.filename) fail("not in the label table");
    const auto i = static_cast<std::size_t>(row - index_.rows.begin());
    if (!row->in(split)) fail(fmt::format("does not belong to split '{}'", spec::to_string(split)));
    bool again = false;
    {
      const std::scoped_lock lock(mutex_);
      again = records_of[i]++ > 0;
    }
    if (again) fail("is in more than one record");
    if (row->labels != example.labels) {
      fail(fmt::format("labels are {}, the table says {}", labels_text(example.labels), labels_text(row->labels)));
    }
    tools.maker.run(example.encoded, fmt::format("{}: record at offset {}", shard, record.offset),
                    tools.of_record.span());
    if (!paths_[i].empty()) compare_with_file(tools, paths_[i], fail);
  }

  template <typename Fail>
  void compare_with_file(Worker& tools, const std::string& path, const Fail& fail) {
    try {
      tools.maker.run(root_.store->read(path, tools.file), path, tools.of_file.span());
    } catch (const DataError&) {
      return;  // named already, when the images were checked
    }
    if (std::memcmp(tools.of_file.span().data(), tools.of_record.span().data(), kTensor.bytes()) != 0) {
      fail("gives another tensor than " + path);
    }
  }

  const DataRoot root_;
  const std::size_t threads_;
  const Index index_;
  std::vector<std::string> paths_;  // of each row; empty where there is no file
  std::vector<std::unique_ptr<Worker>> workers_;
  std::mutex mutex_;
  CheckReport report_;
};

}  // namespace

CheckReport check_data_set(const std::string& root, std::size_t threads) {
  const double start_s = now_s();
  CheckReport report = Checker(root, threads).run();
  report.seconds = now_s() - start_s;
  return report;
}

}  // namespace chexbench::data
