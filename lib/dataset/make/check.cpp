#include "dataset/make/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/interrupt.hpp"
#include "core/parallel.hpp"
#include "core/printable.hpp"
#include "dataset/dataset.hpp"
#include "dataset/image_files.hpp"
#include "dataset/index.hpp"
#include "dataset/make/progress.hpp"
#include "formats/cached_file.hpp"
#include "formats/record.hpp"
#include "formats/shards.hpp"
#include "image/png/png_file.hpp"
#include "image/preprocess.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::dataset {
namespace {

constexpr BatchShape kTensor{.images = 1, .height = 224, .width = 224, .deliver = Deliver::f32};

struct Worker {
  image::TensorMaker of_file{kTensor}, of_record{kTensor};
  storage::ByteBuffer file, pixels;
  image::PngFile png;
};

// The result of one conversion.
struct Converted {
  spec::DataFormat format;
  spec::Split split;
};

class Checker {
 public:
  Checker(const storage::DataRoot& root, std::size_t threads)
      : root_(root), threads_(threads), index_(read_index(root_)) {
    if (index_.layout == spec::DataLayout::imagenet) {
      throw DataError(
          fmt::format("'{}' holds TensorFlow's shards alone (data.layout imagenet), which `data check` has nothing to "
                      "compare with: "
                      "opening them has found every record, and a run checks the CRC of each that it reads",
                      root_.path));
    }
    NameArena names;
    const std::vector<ImageFile> files = find_files(root_, index_, names, &report_.passed);
    auto file = files.begin();
    for (const IndexRow& row : index_.rows) {
      while (file != files.end() && file->name < row.name) ++file;
      const bool found = file != files.end() && file->name == row.name;
      paths_.emplace_back(found ? file->path : std::string_view());
    }
  }

  CheckReport run() {
    workers_.resize(worker_count(std::numeric_limits<std::size_t>::max(), threads_));
    check_names(PassedKind::broken_links, "a link that leads nowhere: fetch what it stands for, or remove it");
    check_names(PassedKind::empty_parts, "no file has such a key, of which a part is empty: copy it to another name");
    check_images();
    for (const auto format : {spec::DataFormat::tfrecord, spec::DataFormat::webdataset}) {
      for (const auto split : {spec::Split::train, spec::Split::val, spec::Split::test, spec::Split::all}) {
        check_shards({format, split});
      }
    }
    if (root_.store->is_local()) check_cached_files();
    std::sort(report_.problems.begin(), report_.problems.end());
    return std::move(report_);
  }

 private:
  // Only called for a local root: cached pixels are mapped, so no run reads them from a server.
  void check_cached_files() {
    const std::string folder = formats::format_folder(root_.path, spec::DataFormat::cached);
    for (const storage::StoreEntry& entry : root_.store->list(folder)) {
      if (formats::is_cached_name(entry.name)) check_cached(folder + "/" + entry.name);
    }
  }

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
    // No lock is needed, because only thread `index` uses this index.
    if (!workers_[index]) workers_[index] = std::make_unique<Worker>();
    return *workers_[index];
  }

  // Notes the files that were passed over for a reason that is a problem.
  void check_names(PassedKind kind, std::string_view reason) {
    const auto found = report_.passed.kinds().find(kind);
    if (found == report_.passed.kinds().end()) return;
    const auto& [count, passed_names] = found->second;
    for (const std::string& name : passed_names) problem(fmt::format("{}/{}: {}", root_.path, printable(name), reason));
    if (count > passed_names.size())
      problem(fmt::format("{}: {} more of the same: {}", root_.path, count - passed_names.size(), reason));
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
      const std::span<const std::byte> bytes = read_image_file(*root_.store, path, tools.file);
      count(1, 0, bytes.size());
      // The decoder may skip chunks that it does not need, so this checks the CRCs of all of them.
      if (image::is_png(bytes)) image::parse_png(bytes, path, tools.png);
      tools.of_file.run(bytes, path);
    } catch (const DataError& error) {
      problem(error.what());
    }
  }

  void check_shards(const Converted& which) {
    const auto [format, split] = which;
    std::vector<std::string> shards;
    try {
      if (!formats::present_shard_count(root_, split, format)) return;
      shards = formats::find_shards(root_, split, format);
    } catch (const DataError& error) {
      problem(error.what());
      return;
    }
    std::vector<int> records_of(index_.rows.size());
    Progress progress("checking", "shards of split " + spec::to_string(split), shards.size());
    parallel_for(shards.size(), threads_, [&](std::size_t who, std::size_t i) {
      check_shard(worker(who), which, shards[i], records_of);
      progress.add();
    });
    for (std::size_t i = 0; i < index_.rows.size(); ++i) {
      const bool expected = index_.rows[i].in(split) && !paths_[i].empty();
      if (expected && records_of[i] == 0) {
        problem(fmt::format("{}: image {} of split '{}' is in no readable record",
                            formats::format_folder(root_.path, format), printable(index_.rows[i].name),
                            spec::to_string(split)));
      }
    }
  }

  void check_shard(Worker& tools, const Converted& which, const std::string& path, std::vector<int>& records_of) {
    std::unique_ptr<storage::ByteStream> file;
    try {
      file = root_.store->stream(path, {});
    } catch (const DataError& error) {
      problem(error.what());
      return;
    }
    const std::unique_ptr<formats::ShardReader> reader = formats::open_shard(which.format, std::move(file));
    for (bool more = true; more;) {
      throw_if_interrupted();
      try {
        const std::optional<formats::ShardRecord> record = reader->next();
        more = record.has_value();
        if (more) check_record(tools, which, path, *record, records_of);
      } catch (const DataError& error) {
        problem(error.what());
      }
    }
  }

  // Checks the CRC of every image of a file of cached pixels, and that its image file gives the same pixels.
  void check_cached(const std::string& path) {
    std::shared_ptr<const formats::CachedFile> file;
    try {
      file = formats::CachedFile::open(path);
    } catch (const DataError& error) {
      problem(error.what());
      return;
    }
    const image::PixelSpec spec = file->made_for();
    const BatchShape shape{
        .images = 1, .height = spec.image_size, .width = spec.image_size, .deliver = image::deliver_of(spec)};
    Progress progress("checking", "images of cached pixels", file->images());
    std::vector<std::unique_ptr<image::TensorMaker>> makers(workers_.size());
    parallel_for(file->images(), threads_, [&](std::size_t who, std::size_t i) {
      if (!makers[who]) makers[who] = std::make_unique<image::TensorMaker>(shape, spec.resize);
      try {
        check_pixels(worker(who), *makers[who], *file, i);
      } catch (const DataError& error) {
        problem(error.what());
      }
      progress.add();
    });
  }

  void check_pixels(Worker& tools, image::TensorMaker& maker, const formats::CachedFile& file, std::size_t i) {
    const auto fail = [&](const std::string& reason) {
      throw DataError(fmt::format("{}: image {}: {}", file.path(), printable(file.name(i)), reason));
    };
    const auto row = row_of(file.name(i));
    if (!row) fail("is not in the label table");
    if (file.entry(i).state == formats::CachedEntry::State::damaged)
      return;  // check_images() has reported the damaged file
    const std::span<const std::byte> pixels = file.pixels(i, tools.pixels);
    count(0, 1, pixels.size());
    if (!paths_[*row].empty()) compare_with_file(tools, maker, pixels, paths_[*row], fail);
  }

  void check_record(Worker& tools, const Converted& which, const std::string& shard, const formats::ShardRecord& record,
                    std::vector<int>& records_of) {
    count(0, 1, record.data.size());
    const formats::RecordView example =
        formats::parse_record(which.format, record.data, {.file = shard, .offset = record.offset}, index_.label_names);
    const auto fail = [&](const std::string& reason) {
      throw DataError(fmt::format("{}: record at offset {}: image {}: {}", shard, record.offset,
                                  printable(example.filename), reason));
    };
    const auto found = row_of(example.filename);
    if (!found) fail("is not in the label table");
    const std::size_t i = *found;
    const IndexRow& row = index_.rows[i];
    if (!row.in(which.split)) fail(fmt::format("does not belong to split '{}'", spec::to_string(which.split)));
    bool again = false;
    {
      const std::scoped_lock lock(mutex_);
      again = records_of[i]++ > 0;
    }
    if (again) fail("is in more than one record");
    if (row.labels.present() != example.labels) {
      fail(fmt::format("has the labels {}, but the table says {}",
                       printable(labels_text(example.labels, index_.label_names)),
                       printable(labels_text(row.labels, index_.label_names))));
    }
    const auto tensor =
        tools.of_record.run(example.encoded, fmt::format("{}: record at offset {}", shard, record.offset));
    if (!paths_[i].empty()) compare_with_file(tools, tools.of_file, tensor, paths_[i], fail);
  }

  // `maker` makes the tensor of the file at `path`, in the form of `tensor`.
  template <typename Fail>
  void compare_with_file(Worker& tools, image::TensorMaker& maker, std::span<const std::byte> tensor,
                         const std::string& path, const Fail& fail) {
    try {
      if (std::ranges::equal(maker.run(root_.store->read(path, tools.file), path), tensor)) return;
    } catch (const DataError&) {
      return;  // check_images() has reported the damaged file
    }
    fail("gives a different tensor than " + path);
  }

  std::optional<std::size_t> row_of(std::string_view image) const {
    const auto row = std::lower_bound(index_.rows.begin(), index_.rows.end(), image,
                                      [](const IndexRow& r, std::string_view name) { return r.name < name; });
    if (row == index_.rows.end() || row->name != image) return {};
    return static_cast<std::size_t>(row - index_.rows.begin());
  }

  const storage::DataRoot root_;
  const std::size_t threads_;
  const Index index_;
  std::vector<std::string> paths_;  // of each row's file; empty if it has none
  std::vector<std::unique_ptr<Worker>> workers_;
  std::mutex mutex_;
  CheckReport report_;
};

}  // namespace

CheckReport check_data_set(const storage::DataRoot& root, std::size_t threads) {
  const double start_s = now_s();
  CheckReport report = Checker(root, threads).run();
  report.seconds = now_s() - start_s;
  return report;
}

}  // namespace chexbench::dataset
