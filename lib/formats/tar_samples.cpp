#include "formats/tar_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "core/errors.hpp"
#include "core/numbers.hpp"
#include "core/printable.hpp"
#include "spec/document.hpp"
#include "storage/file_bytes.hpp"

namespace chexbench::formats {
namespace {

constexpr std::size_t kMostReasonBytes = 600;  // of a message, because names and labels in it may have any length

struct MemberName {
  std::string_view key;
  std::string kind;  // lower case
};

// Returns std::nullopt for a name that belongs to no sample. The library webdataset skips files whose names have no dot
// or nothing before it, and top folders called "__...__".
std::optional<MemberName> split_name(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
  const std::size_t dot = name.find('.', begin);
  if (dot == std::string_view::npos || dot == begin) return {};
  const std::string_view top = name.substr(0, name.find('/'));
  if (top.size() >= 4 && top.starts_with("__") && top.ends_with("__")) return {};
  MemberName split{.key = name.substr(0, dot), .kind = std::string(name.substr(dot + 1))};
  std::ranges::transform(split.kind, split.kind.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  return split;
}

std::optional<MemberName> name_in_sample(const TarMember& member) {
  return member.is_file ? split_name(member.name) : std::nullopt;
}

// Joins pieces that follow one another in a file. The result is a view if they do so in memory, too, else a copy.
class Joined {
 public:
  void add(const storage::SharedBytes& piece) {
    if (copy_) {
      copy_->insert(copy_->end(), piece.bytes.begin(), piece.bytes.end());
    } else if (view_.bytes.empty()) {
      view_ = piece;
    } else if (follows(piece)) {
      view_.bytes = {view_.bytes.data(), view_.bytes.size() + piece.bytes.size()};
    } else {
      copy_ = std::make_shared<std::vector<std::byte>>(view_.bytes.begin(), view_.bytes.end());
      add(piece);
    }
  }
  storage::SharedBytes take() && { return copy_ ? storage::SharedBytes{*copy_, copy_} : std::move(view_); }

 private:
  bool follows(const storage::SharedBytes& piece) const {
    return piece.owner == view_.owner && piece.bytes.data() == view_.bytes.data() + view_.bytes.size();
  }
  storage::SharedBytes view_;
  std::shared_ptr<std::vector<std::byte>> copy_;
};

class MemoryStream final : public storage::ByteStream {
 public:
  MemoryStream(std::span<const std::byte> bytes, std::string_view path) : bytes_(bytes), path_(path) {}
  const std::string& path() const override { return path_; }
  std::uint64_t size() const override { return bytes_.size(); }
  storage::SharedBytes take(std::size_t bytes) override {
    const auto view = bytes_.subspan(taken_, bytes);
    taken_ += bytes;
    return {view, nullptr};
  }

 private:
  const std::span<const std::byte> bytes_;
  const std::string path_;
  std::size_t taken_ = 0;
};

bool is_image(std::string_view kind) { return kind == "png" || kind == "jpg" || kind == "jpeg"; }

// The members of one sample that hold its image and its labels.
class Sample {
 public:
  Sample(std::span<const std::byte> sample, const RecordOrigin& origin, std::span<const std::string> label_names)
      : origin_(origin), label_names_(label_names) {
    MemoryStream stream(sample, origin.file);
    TarReader reader(stream, origin.offset);
    while (const std::optional<TarMember> member = reader.next()) add(*member, *reader.contents(*member));
  }

  RecordView view() const {
    if (!image_) fail("has no image (.png, .jpg or .jpeg)");
    RecordView view{.encoded = image_->contents, .filename = image_->name};
    if (json_) {
      read_json(json_->contents, view);
    } else if (cls_) {
      view.labels = bit_of(cls_->contents);
    } else {
      fail("has no labels (.json or .cls)");
    }
    return view;
  }

 private:
  struct Part {
    std::string name;  // without a folder
    std::span<const std::byte> contents;
  };

  [[noreturn]] void fail(const std::string& reason) const {
    throw DataError(fmt::format("{}: record at offset {}: sample '{}' {}", origin_.file, origin_.offset,
                                printable(key_), printable(reason, kMostReasonBytes)));
  }

  void add(const TarMember& member, const storage::SharedBytes& contents) {
    const std::optional<MemberName> name = name_in_sample(member);
    if (!name) return;
    key_ = name->key;
    std::optional<Part>* const part = is_image(name->kind)   ? &image_
                                      : name->kind == "json" ? &json_
                                      : name->kind == "cls"  ? &cls_
                                                             : nullptr;
    if (part == nullptr) return;
    if (part->has_value()) fail(fmt::format("has both '{}' and '{}'", (*part)->name, member.name));
    *part = {member.name.substr(member.name.rfind('/') + 1), contents.bytes.first(member.size)};
  }

  // Reads text such as "3" or " 3\n".
  LabelBits bit_of(std::span<const std::byte> contents) const {
    std::string_view text = storage::as_text(contents);
    text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
    std::string_view rest = text;
    const auto label = take_number<std::size_t>(rest);
    if (!label || rest.find_first_not_of(" \r\n") != std::string_view::npos || *label >= label_names_.size()) {
      fail(fmt::format("has the class {}, expected a number from 0 to {}", spec::shown(text), label_names_.size() - 1));
    }
    LabelBits labels;
    labels.set(*label);
    return labels;
  }

  void read_json(std::span<const std::byte> contents, RecordView& view) const {
    const spec::Node document = parse(std::string(storage::as_text(contents)));
    const spec::Object* const object = document.object();
    if (object == nullptr) fail("has a .json that is not an object");
    const spec::Node* const label = spec::find_member(*object, "label");
    if (label == nullptr || label->list() == nullptr) fail("has a .json without a list \"label\"");
    view.labels = labels(*label->list());
    if (const spec::Node* const name = spec::find_member(*object, "filename"); name != nullptr && name->text()) {
      view.filename = *name->text();
    }
    if (const spec::Node* const patient = spec::find_member(*object, "patient")) {
      if (const auto* number = std::get_if<std::int64_t>(&patient->value)) view.patient = *number;
    }
  }

  spec::Node parse(const std::string& text) const {
    try {
      return spec::parse_document(text, ".json");
    } catch (const Error& error) {
      fail(fmt::format("has a damaged {}", error.what()));
    }
  }

  LabelBits labels(const spec::List& list) const {
    if (!list.empty() && list.front().text() != nullptr) return named_labels(list);
    if (!list.empty() && list.size() != label_names_.size()) {
      fail(fmt::format("has {} values in \"label\", expected {} or names", list.size(), label_names_.size()));
    }
    LabelBits bits;
    for (std::size_t f = 0; f < list.size(); ++f) {
      const auto* const value = std::get_if<std::int64_t>(&list[f].value);
      if (value == nullptr || (*value != 0 && *value != 1)) {
        fail(fmt::format("has {} as label[{}], expected 0 or 1", spec::describe(list[f]), f));
      }
      if (*value == 1) bits.set(f);
    }
    return bits;
  }

  LabelBits named_labels(const spec::List& list) const {
    LabelBits bits;
    for (const spec::Node& node : list) {
      const auto found = node.text() == nullptr ? label_names_.end() : std::ranges::find(label_names_, *node.text());
      if (found == label_names_.end()) fail(fmt::format("has an unknown label, {}", spec::describe(node)));
      bits.set(static_cast<std::size_t>(found - label_names_.begin()));
    }
    return bits;
  }

  const RecordOrigin& origin_;
  const std::span<const std::string> label_names_;
  std::string key_;
  std::optional<Part> image_, json_, cls_;
};

}  // namespace

// Adds the members of the next key to the sample. Returns false if there are none, or once the stream was stopped.
bool TarSampleReader::add_members(ShardRecord& sample) {
  Joined joined;
  std::optional<std::string> key;
  while (true) {
    if (!member_) {
      try {
        member_ = tar_.next();
      } catch (const DataError&) {
        if (!key) throw;
        failure_ = std::current_exception();
      }
    }
    if (tar_.stopped()) return false;
    if (!member_) break;
    const std::optional<MemberName> name = name_in_sample(*member_);
    if (name && key && name->key != *key) break;
    if (name && !key) {
      key = name->key;
      sample.offset = member_->offset;
    }
    const std::optional<storage::SharedBytes> contents = tar_.contents(*member_);
    if (!contents) return false;
    if (key) {
      for (const storage::SharedBytes& block : member_->head) joined.add(block);
      joined.add(*contents);
    }
    member_.reset();
  }
  storage::SharedBytes bytes = std::move(joined).take();
  sample.data = bytes.bytes;
  sample.stored_bytes = bytes.bytes.size();
  sample.owner = std::move(bytes.owner);
  return key.has_value();
}

std::optional<ShardRecord> TarSampleReader::next() {
  if (ended_) return {};
  ended_ = true;  // stays so if what follows throws or finds no whole sample
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  ShardRecord sample;
  if (!add_members(sample)) return {};
  ended_ = false;
  return sample;
}

RecordView parse_sample(std::span<const std::byte> sample, const RecordOrigin& origin,
                        std::span<const std::string> label_names) {
  return Sample(sample, origin, label_names).view();
}

}  // namespace chexbench::formats
