#include "dataset/make/stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <mutex>
#include <set>

#include "core/clock.hpp"
#include "core/errors.hpp"
#include "core/folder.hpp"
#include "core/interrupt.hpp"
#include "core/json_text.hpp"
#include "core/output_file.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "dataset/dataset.hpp"
#include "dataset/layouts.hpp"
#include "dataset/make/convert.hpp"
#include "dataset/make/progress.hpp"
#include "formats/manifest.hpp"
#include "spec/folder_file.hpp"
#include "storage/url.hpp"

namespace chexbench::dataset {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWaitingThreads = 16;       // the number of concurrent requests of a server's store
constexpr std::uint64_t kPieceBytes = 4u << 20;   // larger files are copied in pieces of this size
constexpr std::uint64_t kSpareBytes = 16u << 20;  // for folders, the record, and other programs that write there

struct Item {
  std::string from;
  std::string to;
  std::uint64_t bytes = 0;
  bool kept = false;
};

// Returns the files from which the labels and splits are read: none if these come from the images' folders, or from
// shards.
std::vector<std::string> label_files(const Index& index) {
  std::vector<std::string> files;
  if (index.table != index.root) files.push_back(index.table);
  files.insert(files.end(), index.other_tables.begin(), index.other_tables.end());
  return files;
}

std::vector<std::string> files_of(const spec::DataSpec& spec, const storage::DataRoot& root, const Dataset& dataset) {
  std::vector<std::string> files = label_files(read_index(root));
  if (std::string file = spec::folder_file(root.path); !file.empty()) files.push_back(std::move(file));
  if (spec::reads_shards(spec.format)) {
    files.insert(files.end(), dataset.shards.begin(), dataset.shards.end());
    const std::string manifest = formats::manifest_path(root.path, spec.split, spec.format);
    if (root.store->size(manifest)) files.push_back(manifest);
  } else {
    for (const ImageEntry& image : dataset.images) files.push_back(image.path);
  }
  std::ranges::sort(files);
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

bool is_below(const std::string& folder, const std::string& root) {
  std::error_code error;
  if (!fs::is_directory(root, error)) return false;
  const fs::path below = fs::weakly_canonical(folder, error).lexically_relative(fs::canonical(root, error));
  return !error && !below.empty() && *below.begin() != "..";
}

// Returns true if a symbolic link on the way to `folder` leads out of `target`; false, too, if the system cannot use
// that path, which make_folder() then reports.
bool leads_out(const std::string& folder, const std::string& target) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(folder, error);
  if (error) return false;
  const fs::path below = real.lexically_relative(fs::canonical(target, error));
  return !error && (below.empty() || *below.begin() == "..");
}

bool is_link(const std::string& path) {
  std::error_code error;
  return fs::is_symlink(fs::symlink_status(path, error));
}

// @throws SpecError if the folder cannot be filled from the root
// @throws DataError if the folder is a URL with a user, a query or a fragment
void check_options(const StageOptions& options) {
  if (storage::parse_url(options.folder)) {
    throw SpecError(fmt::format("data stage: '{}' is a URL: stage into a folder of this machine", options.folder));
  }
  if (options.data.format == spec::DataFormat::ready) {
    throw SpecError("data stage: format 'ready' reads no files, so there is nothing to stage");
  }
  if (options.data.format == spec::DataFormat::cached) {
    throw SpecError(
        fmt::format("data stage: cached pixels are made on the machine that reads them: stage the images (--format "
                    "images), then run: chexbench data convert {} --split {} --to cached",
                    shell_word(options.folder), spec::to_string(options.data.split)));
  }
  std::error_code ignored;
  if (fs::equivalent(options.data.root, options.folder, ignored)) {
    throw SpecError(fmt::format("data stage: '{}' is the data set itself: name another folder", options.folder));
  }
  if (is_below(options.folder, options.data.root)) {
    throw SpecError(fmt::format(
        "data stage: '{}' is within the data set, so the copies would become part of it: name another folder",
        options.folder));
  }
}

bool is_there(const Item& item, bool from_local) {
  std::error_code error;
  if (fs::file_size(item.to, error) != item.bytes || error) return false;
  return !from_local || fs::last_write_time(item.to, error) >= fs::last_write_time(item.from, error);
}

std::uint64_t saturating_sum(std::uint64_t a, std::uint64_t b) {
  return b > std::numeric_limits<std::uint64_t>::max() - a ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

class Stager {
 public:
  explicit Stager(const StageOptions& options)
      : options_(options),
        root_(options.data),
        threads_(options.threads == 0 && root_.store->is_distant() ? kWaitingThreads : options.threads) {
    const Dataset dataset = open_dataset(options.data);
    staging_.from = root_.path;
    staging_.images = dataset.images.size();
    for (std::string& path : files_of(options.data, root_, dataset)) items_.push_back({.from = std::move(path)});
  }

  Staging run() {
    const double start_s = now_s();
    make_folder(options_.folder);
    const FolderLock lock(options_.folder);
    look();
    check_room();
    copy();
    sync_file_system(options_.folder);  // the record must not name files that a crash of the machine could still lose
    staging_.seconds = now_s() - start_s;
    staging_.record = staging_record_path(options_.folder, options_.data.split, options_.data.format);
    if (staging_.kept < staging_.files || !fs::exists(staging_.record)) write_staging_record(staging_, options_.data);
    return std::move(staging_);
  }

 private:
  // Finds out for each file where its copy goes, how large it is, and whether the copy already exists.
  void look() {
    std::set<std::string> folders;
    for (Item& item : items_) {
      const fs::path below =
          fs::path(item.from).lexically_normal().lexically_relative(fs::path(root_.path).lexically_normal());
      if (below.empty() || *below.begin() == "..") {
        throw DataError(fmt::format("data stage: {} is not below the root {}, and only files below it are copied",
                                    item.from, root_.path));
      }
      item.to = fs::path(options_.folder) / below;
      folders.insert(fs::path(item.to).parent_path());
    }
    for (const std::string& folder : folders) {
      if (leads_out(folder, options_.folder)) refuse_link(folder);
      make_folder(folder);
      remove_abandoned_files(folder, "");
    }
    parallel_for(items_.size(), threads_, [&](std::size_t, std::size_t i) {
      Item& item = items_[i];
      const std::optional<std::uint64_t> bytes = root_.store->size(item.from);
      if (!bytes) throw DataError(fmt::format("cannot read {}: it is gone", item.from));
      item.bytes = *bytes;
      item.kept = is_there(item, root_.store->is_local());
      if (!item.kept && is_link(item.to)) refuse_link(item.to);
    });
    staging_.files = items_.size();
    for (const Item& item : items_) {
      staging_.bytes = saturating_sum(staging_.bytes, item.bytes);  // a server may announce any size
      staging_.kept += item.kept ? 1 : 0;
      staging_.copied_bytes = saturating_sum(staging_.copied_bytes, item.kept ? 0 : item.bytes);
    }
  }

  // The names come from a server, so they must not escape from the folder through a link in it.
  [[noreturn]] void refuse_link(const std::string& path) const {
    throw OutputError(fmt::format(
        "data stage: {} leads out of the folder {} by a symbolic link, and nothing is written through one: remove the "
        "link, or stage into the folder that it leads to",
        path, options_.folder));
  }

  void check_room() const {
    const std::uint64_t free = options_.free_bytes(options_.folder);
    if (staging_.copied_bytes == 0 || saturating_sum(staging_.copied_bytes, kSpareBytes) <= free) return;
    throw OutputError(fmt::format(
        "not enough room in {}: {:.1f} MB must be copied, {:.1f} MB are free: stage only one split (--split), or use "
        "another folder",
        options_.folder, 1e-6 * static_cast<double>(staging_.copied_bytes), 1e-6 * static_cast<double>(free)));
  }

  void copy() {
    Progress progress("staging", "files", items_.size());
    std::vector<storage::ByteBuffer> buffers(worker_count(items_.size(), threads_));
    parallel_for(items_.size(), threads_, [&](std::size_t worker, std::size_t i) {
      if (!items_[i].kept) copy(items_[i], buffers[worker]);
      progress.add();
    });
  }

  void copy(const Item& item, storage::ByteBuffer& buffer) const {
    OutputFile file(item.to);
    if (item.bytes <= kPieceBytes) {
      file.write(root_.store->read(item.from, buffer));
    } else {
      const std::unique_ptr<storage::ByteStream> stream = root_.store->stream(item.from, {});
      for (std::uint64_t left = stream->size(); left > 0;) {
        const auto piece = static_cast<std::size_t>(std::min(left, kPieceBytes));
        file.write(stream->take(piece).bytes);
        left -= piece;
        throw_if_interrupted();
      }
    }
    if (file.bytes_written() != item.bytes) {
      throw DataError(
          fmt::format("{}: {} bytes were read instead of {}: the file changed while it was copied; stage again",
                      item.from, file.bytes_written(), item.bytes));
    }
    file.commit(OutputFile::Durability::renamed);
  }

  const StageOptions& options_;
  const storage::DataRoot root_;
  const std::size_t threads_;
  std::vector<Item> items_;
  Staging staging_;
};

}  // namespace

std::uint64_t free_bytes(const std::string& folder) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error) throw OutputError(fmt::format("cannot find out the free space in {}: {}", folder, error.message()));
  return space.available;
}

Staging stage_data_set(const StageOptions& options) {
  check_options(options);
  if (spec::reads_shards(options.data.format) &&
      find_layout(storage::DataRoot(options.data)).layout == spec::DataLayout::folders) {
    throw SpecError(
        "data stage: shards of data.layout folders cannot be staged without the images, because their labels are the "
        "images' folders: "
        "use --format images");
  }
  return Stager(options).run();
}

std::string staging_record_path(const std::string& folder, spec::Split split, spec::DataFormat format) {
  const auto path = [&](const std::string& word) {
    return (fs::path(folder) / fmt::format("staged-{}-{}.json", spec::to_string(split), word)).string();
  };
  for (const auto& [value, word] : spec::named_values<spec::DataFormat>())
    if (std::error_code ignored; value == format && fs::exists(path(word), ignored)) return path(word);
  return path(spec::to_string(format));
}

void write_staging_record(const Staging& staging, const spec::DataSpec& spec) {
  write_file_atomically(staging.record, formats::json_file_text({{kFormatVersionKey, kFormatVersion},
                                                                 {"split", spec::to_string(spec.split)},
                                                                 {"format", spec::to_string(spec.format)},
                                                                 {"images", staging.images},
                                                                 {"files", staging.files},
                                                                 {"kept", staging.kept},
                                                                 {"bytes", staging.bytes},
                                                                 {"seconds", formats::rounded_to_ms(staging.seconds)},
                                                                 {"from", staging.from}}));
}

std::optional<StagingCost> staging_cost(const storage::DataRoot& root, spec::Split split, spec::DataFormat format) {
  const nlohmann::json record = formats::read_json_file(root, staging_record_path(root.path, split, format));
  const auto images = formats::value_of<std::uint64_t>(record, "images");
  const auto seconds = formats::value_of<double>(record, "seconds");
  const auto bytes = formats::value_of<std::uint64_t>(record, "bytes");
  const auto from = formats::value_of<std::string>(record, "from");
  if (!images || !seconds || !bytes || !from || formats::value_of<std::uint64_t>(record, "kept").value_or(1) != 0)
    return {};
  return StagingCost{.from = *from, .images = *images, .seconds = *seconds, .bytes = *bytes};
}

}  // namespace chexbench::dataset
