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

constexpr std::string_view kBlanks = " \t\r\n";
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
    bool has_labels = false;
    if (json_) has_labels = read_json(json_->contents, view);
    if (!has_labels && !cls_)
      fail(json_ ? "has a .json without a list \"label\" (or a number or name), and no .cls"
                 : "has no labels (.json or .cls)");
    if (!has_labels) view.labels = class_in(cls_->contents);
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

  // Reads text such as "3", " 3\n" or the name of a label.
  LabelBits class_in(std::span<const std::byte> contents) const {
    const std::string_view text = storage::as_text(contents);
    const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
    return class_called(text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin));
  }

  // A number is an index, even if labels have numbers for names.
  LabelBits class_called(std::string_view text) const {
    std::optional<std::size_t> label = parse_number<std::size_t>(text);
    const auto named = std::ranges::find(label_names_, text);
    if (!label && named != label_names_.end()) label = static_cast<std::size_t>(named - label_names_.begin());
    if (!label || *label >= label_names_.size()) {
      fail(fmt::format("has the class {}, expected a number from 0 to {} or the name of a label", spec::shown(text),
                       label_names_.size() - 1));
    }
    LabelBits labels;
    labels.set(*label);
    return labels;
  }

  // Returns whether the .json gives the labels. A list takes precedence over a .cls, which takes precedence over
  // anything else: chexbench writes a list, and other programs put metadata into the .json.
  bool read_json(std::span<const std::byte> contents, RecordView& view) const {
    const spec::Node document = parse(std::string(storage::as_text(contents)));
    const spec::Object* const object = document.object();
    if (object == nullptr && cls_) return false;
    if (object == nullptr) fail("has a .json that is not an object");
    const spec::Node* const label = spec::find_member(*object, "label");
    const bool has_list = label != nullptr && label->list() != nullptr;
    const bool has_labels = has_list || (label != nullptr && !cls_);
    if (has_labels) view.labels = has_list ? labels(*label->list()) : one_label(*label);
    if (const spec::Node* const name = spec::find_member(*object, "filename"); name != nullptr && name->text()) {
      view.filename = *name->text();
    }
    if (const spec::Node* const patient = spec::find_member(*object, "patient")) {
      if (const auto* number = std::get_if<std::int64_t>(&patient->value)) view.patient = *number;
    }
    return has_labels;
  }

  LabelBits one_label(const spec::Node& label) const {
    if (label.text() != nullptr) return class_called(*label.text());
    const auto* const number = std::get_if<std::int64_t>(&label.value);
    if (number == nullptr)
      fail(fmt::format("has {} as \"label\", expected a list, a number or a name", spec::describe(label)));
    return class_called(fmt::to_string(*number));
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
  ended_ = true;  // stays so if the rest throws or finds no whole sample
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
