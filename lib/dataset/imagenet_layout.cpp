#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/csv.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/numbers.hpp"
#include "core/printable.hpp"
#include "core/random.hpp"
#include "dataset/index.hpp"
#include "dataset/layouts.hpp"
#include "formats/shards.hpp"
#include "formats/tf_example.hpp"
#include "formats/tfrecord.hpp"

namespace chexbench::dataset {
namespace {

// The most classes that the shards may have if the spec gives no number.
constexpr std::size_t kMostClasses = 100'000;

// Returns the split of a shard, or null for any other file.
bool IndexRow::*split_of_shard(std::string_view name) {
  const auto parts = formats::shard_name_in(name);
  return parts ? split_called(parts->prefix) : nullptr;
}

bool is_shard(const storage::StoreEntry& entry) {
  return entry.kind == storage::StoreEntry::Kind::file && split_of_shard(entry.name) != nullptr;
}

// The folders that may hold the shards: the root, and those in it that are named like a split.
std::vector<std::string> folders_of(const storage::DataRoot& root, const std::vector<storage::StoreEntry>& entries) {
  std::vector<std::string> folders{root.path};
  for (const storage::StoreEntry& entry : entries) {
    if (entry.kind == storage::StoreEntry::Kind::folder && split_called(entry.name) != nullptr)
      folders.push_back(root.path + "/" + entry.name);
  }
  return folders;
}

// Adds the shards of one folder, in the order of their names. @throws DataError if some of a split are missing
void add_shards(const storage::DataRoot& root, const std::string& folder, Index& index) {
  std::map<std::string, bool IndexRow::*> names;
  std::map<std::string, std::pair<int, int>> counted;  // of each prefix: shards that are there, and that should be
  for (const storage::StoreEntry& entry : root.store->list(folder)) {
    if (!is_shard(entry)) continue;
    const auto parts = formats::shard_name_in(entry.name);
    names.emplace(entry.name, split_called(parts->prefix));
    auto& [there, wanted] = counted.try_emplace(parts->prefix, 0, parts->count).first->second;
    ++there;
    if (parts->count != wanted) {
      throw DataError(fmt::format("{} mixes shards of '{}' of {} and of {}: remove those of one conversion", folder,
                                  parts->prefix, std::min(wanted, parts->count), std::max(wanted, parts->count)));
    }
  }
  for (const auto& [prefix, count] : counted) {
    if (count.first == count.second) continue;
    throw DataError(fmt::format("{} holds {} of the {} shards {}-00000-of-{:05} and so on: copy the others, too",
                                folder, count.first, count.second, prefix, count.second));
  }
  for (const auto& [name, split] : names)
    index.shards.push_back({.split = split, .path = fmt::format("{}/{}", folder, name)});
}

// A record's data about its image.
struct ImageWords {
  std::string_view name;
  LabelBits labels;
  std::string_view class_name;  // "" if the record has none that can be shown
};

// Calls visit(ImageWords) for each record of a shard, in their order.
template <typename Visit>
void walk(const storage::DataRoot& root, const std::string& shard, Visit visit) {
  const std::size_t most_classes =
      root.labels.classes > 0 ? static_cast<std::size_t>(root.labels.classes) : kMostClasses;
  formats::TfRecordReader reader(root.store->stream(shard, {}));
  reader.leave_data_unchecked();
  while (const auto record = reader.next()) {
    const formats::RecordOrigin origin{.file = shard, .offset = record->offset};
    const formats::ExampleView example = formats::parse_example(record->data, origin, most_classes);
    if (has_control_character(example.filename)) {
      throw DataError(fmt::format("{}: record at offset {}: '{}' is not the name of an image file", shard,
                                  record->offset, printable(example.filename)));
    }
    const bool is_shown = !has_control_character(example.class_name);
    visit(ImageWords{.name = example.filename,
                     .labels = example.labels,
                     .class_name = is_shown ? example.class_name : std::string_view()});
  }
}

// The index of a root while it is made: all shards, then the images of one shard after the other.
class IndexMaker {
 public:
  // @throws DataError if there are no shards, or one is missing
  explicit IndexMaker(const storage::DataRoot& root) : classes_(static_cast<std::size_t>(root.labels.classes)) {
    index_.root = index_.table = root.path;
    index_.layout = spec::DataLayout::imagenet;
    for (const std::string& folder : folders_of(root, root.store->list(root.path))) add_shards(root, folder, index_);
    if (index_.shards.empty()) {
      throw DataError(fmt::format(
          "no shards in '{}': data.layout imagenet expects TensorFlow's TFRecords, train-00000-of-01024 and so "
          "on and validation-00000-of-00128, in it or in folders train and validation",
          root.path));
    }
    for (const IndexShard& shard : index_.shards) note_split(shard.split, index_);
  }

  const std::vector<IndexShard>& shards() const { return index_.shards; }

  void add(const IndexShard& shard, const ImageWords& image) {
    IndexRow& row = index_.rows.emplace_back();
    row.name = index_.names.keep(image.name);
    row.labels = image.labels;
    row.*shard.split = true;
    image.labels.for_each([&](std::size_t label) {
      if (label >= class_names_.size()) class_names_.resize(label + 1);
      if (class_names_[label].empty()) class_names_[label] = image.class_name;
    });
  }

  Index finish() {
    const std::size_t classes = classes_ > 0 ? classes_ : class_names_.size();
    index_.label_names = class_names(std::move(class_names_), classes);
    sort_rows(index_.rows, index_.table);
    for (std::size_t i = 0; i < index_.rows.size(); ++i) index_.rows[i].patient = static_cast<std::uint32_t>(i);
    return std::move(index_);
  }

 private:
  const std::size_t classes_;  // the number in the spec; 0: the highest label
  Index index_;
  std::vector<std::string> class_names_;
};

void tell_of_reading(const storage::DataRoot& root, const char* how) {
  if (root.store->is_distant())
    log::info_once("{}: reads all shards once{}, as they are their own index", root.path, how);
}

// Returns a line that identifies texts of the same list of shards.
std::string list_line(const std::vector<IndexShard>& shards) {
  std::string paths;
  for (const IndexShard& shard : shards) paths += shard.path + "\n";
  return fmt::format("{:016x}\n", fnv1a64(paths));
}

// The lines of one share, which are read back in the order of the shards.
class ShareReader {
 public:
  explicit ShareReader(std::string_view text) : lines_(text) { lines_.next(list); }

  // Adds the images of the share's next shard.
  void add_to(IndexMaker& maker, const IndexShard& shard) {
    std::string_view line;
    lines_.next(line);
    for (std::size_t left = parse_number<std::size_t>(line).value_or(0); left > 0 && lines_.next(line); --left) {
      ImageWords image{.name = take_field(line), .labels = {}, .class_name = take_field(line)};
      while (!line.empty()) {
        if (const auto label = parse_number<std::size_t>(take_field(line))) image.labels.set(*label);
      }
      maker.add(shard, image);
    }
  }

  std::string_view list;  // list_line() without its end

 private:
  // Removes a field, and the tab after it, from the line.
  static std::string_view take_field(std::string_view& line) {
    const std::string_view field = line.substr(0, line.find('\t'));
    line.remove_prefix(std::min(line.size(), field.size() + 1));
    return field;
  }

  LineReader lines_;
};

}  // namespace

bool has_imagenet_shards(const storage::DataRoot& root, const std::vector<storage::StoreEntry>& entries) {
  if (std::ranges::any_of(entries, is_shard)) return true;
  for (const std::string& folder : folders_of(root, entries)) {
    if (folder != root.path && std::ranges::any_of(root.store->list(folder), is_shard)) return true;
  }
  return false;
}

Index read_imagenet_layout(const storage::DataRoot& root) {
  IndexMaker maker(root);
  tell_of_reading(root, "");
  for (const IndexShard& shard : maker.shards())
    walk(root, shard.path, [&](const ImageWords& image) { maker.add(shard, image); });
  return maker.finish();
}

bool is_own_index(const storage::DataRoot& root) { return find_layout(root).layout == spec::DataLayout::imagenet; }

std::string read_index_share(const storage::DataRoot& root, int share, int shares) {
  const IndexMaker maker(root);
  tell_of_reading(root, " by all ranks together");
  std::string text = list_line(maker.shards()), rows;
  for (auto i = static_cast<std::size_t>(share); i < maker.shards().size(); i += static_cast<std::size_t>(shares)) {
    std::size_t images = 0;
    rows.clear();
    walk(root, maker.shards()[i].path, [&](const ImageWords& image) {
      ++images;
      rows.append(image.name).append(1, '\t').append(image.class_name);
      image.labels.for_each([&rows](std::size_t label) { rows += fmt::format("\t{}", label); });
      rows += '\n';
    });
    text += fmt::format("{}\n{}", images, rows);
  }
  return text;
}

std::optional<Index> join_index_shares(const storage::DataRoot& root, std::span<const std::string> shares) {
  IndexMaker maker(root);
  std::vector<ShareReader> readers(shares.begin(), shares.end());
  const std::string list = list_line(maker.shards());
  const auto is_same = [&](const ShareReader& reader) { return fmt::format("{}\n", reader.list) == list; };
  if (readers.empty() || !std::ranges::all_of(readers, is_same)) return std::nullopt;
  for (std::size_t i = 0; i < maker.shards().size(); ++i) readers[i % readers.size()].add_to(maker, maker.shards()[i]);
  return maker.finish();
}

}  // namespace chexbench::dataset
