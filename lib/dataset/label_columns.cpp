#include "dataset/label_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "core/csv.hpp"
#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/printable.hpp"
#include "core/text.hpp"
#include "dataset/image_files.hpp"
#include "dataset/layouts.hpp"

namespace chexbench::dataset {
namespace {

constexpr std::size_t kMostLabels = 32768;  // ImageNet-21k has 21841

using spec::UnclearLabel;
using Names = std::vector<std::string>;

// Returns whether the column has no name. pandas calls such columns "Unnamed: 0" and so on.
bool is_unnamed(std::string_view name) { return name.empty() || name.starts_with("Unnamed: "); }

// @throws DataError if a name comes twice
void check_names(const Names& names, const std::string& table) {
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!is_unnamed(name) && !seen.insert(name).second) {
      throw DataError(fmt::format("{}:1: the header has column '{}' twice", table, printable(name)));
    }
  }
}

Names named(Names names) {
  std::erase_if(names, is_unnamed);
  return names;
}

// The meaning of a value.
enum class Truth { no, yes, uncertain, unclear };

// Reads numbers such as "1", "1.0" or a spreadsheet's "1,0", and truth values as written by pandas, R and people.
Truth truth_of(std::string_view value) {
  constexpr std::size_t kLongestWord = 5;
  const bool is_negative = value.starts_with('-');
  std::string_view digits = value.substr(is_negative ? 1 : 0);
  if (!digits.empty() && (digits.front() == '0' || digits.front() == '1')) {
    const bool is_one = digits.front() == '1';
    digits.remove_prefix(1);
    const bool is_whole = digits.empty() || ((digits.front() == '.' || digits.front() == ',') &&
                                             digits.find_first_not_of('0', 1) == std::string_view::npos);
    if (!is_whole) return Truth::unclear;
    return !is_one ? Truth::no : is_negative ? Truth::uncertain : Truth::yes;
  }
  if (value.size() > kLongestWord) return Truth::unclear;
  const std::string word = lower_case(value);
  if (word == "true" || word == "yes") return Truth::yes;
  if (word == "false" || word == "no") return Truth::no;
  return Truth::unclear;
}

// Returns the column of the images if the spec does not name it. A table that pandas wrote with its index has a
// nameless first column of numbers or, if the images are the index, their names.
std::size_t usual_image_column(const TableRows& rows) {
  const Names row = rows.following();
  const auto first_named = std::ranges::find_if_not(rows.names(), is_unnamed);
  const auto column = static_cast<std::size_t>(first_named - rows.names().begin());
  const bool is_counted = !row.empty() && (row.front() == "0" || row.front() == "1");
  const bool names_images = column < row.size() && truth_of(row[column]) == Truth::unclear;
  return is_counted && names_images ? column : 0;
}

std::size_t find_column(const Names& names, std::string_view key, const std::string& wanted, const std::string& table) {
  const auto found = std::ranges::find(names, wanted);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::string columns =
      nearest_name(wanted, names).empty() ? "" : suggestion("", named(names));  // otherwise already named
  throw SpecError(fmt::format("{}: {} has no column '{}'{}{}", key, table, printable(wanted),
                              suggestion(wanted, named(names)), columns));
}

std::vector<std::string> parts_of(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (const std::string_view part = trimmed(text.substr(0, end)); !part.empty()) parts.emplace_back(part);
    if (end == text.size()) return parts;
    text.remove_prefix(end + separator.size());
  }
}

bool is_label(const LabelColumns& columns, std::size_t column) {
  return column != columns.image && column != columns.split && column != columns.patient;
}

// Returns the name of the column that probably identifies the patients, or "" if no name suggests it.
std::string likely_patient_column(const Names& names) {
  const auto suggests_patient = [](const std::string& name) {
    const std::string lower = lower_case(name);
    return lower.find("patient") != std::string::npos || lower.find("subject") != std::string::npos;
  };
  const auto found = std::ranges::find_if(names, suggests_patient);
  return found == names.end() ? "" : *found;
}

void add_label_columns(const Names& names, const std::string& pattern, const std::string& table,
                       LabelColumns& columns) {
  bool any = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool is_it = names[i] == pattern;
    if (!is_it && (is_unnamed(names[i]) || !fits(pattern, names[i]) || !is_label(columns, i))) continue;
    any = true;
    if (std::ranges::find(columns.labels, i) != columns.labels.end()) continue;
    columns.labels.push_back(i);
    columns.label_names.push_back(names[i]);
  }
  if (any) return;
  throw SpecError(fmt::format("data.labels.columns: {} has no column '{}'{}", table, printable(pattern),
                              suggestion(pattern, named(names))));
}

// Returns how to read the column as names, for a message, if its value begins like a name.
std::string names_example(const std::string& column, std::string_view value) {
  if (value.empty() || std::isalpha(static_cast<unsigned char>(value.front())) == 0) return "";
  return fmt::format(", as with --set {} --set 'data.labels.separator=|'", shell_word("data.labels.columns=" + column));
}

}  // namespace

bool fits(std::string_view pattern, std::string_view name) {
  std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  // Each piece between two stars is matched at its first place, which leaves the most text for the pieces after it.
  while (true) {
    pattern.remove_prefix(star + 1);
    star = pattern.find('*');
    if (star == std::string_view::npos) return name.ends_with(pattern);
    const std::string_view piece = pattern.substr(0, star);
    const std::size_t found = name.find(piece);
    if (found == std::string_view::npos) return false;
    name.remove_prefix(found + piece.size());
  }
}

LabelColumns find_columns(const TableRows& rows, const spec::LabelsSpec& spec, const std::string& table) {
  const Names& names = rows.names();
  check_names(names, table);
  const auto optional = [&](std::string_view key, const std::string& wanted) -> std::optional<std::size_t> {
    if (wanted.empty()) return std::nullopt;
    return find_column(names, key, wanted, table);
  };
  LabelColumns columns{.count = names.size()};
  const auto image = optional("data.labels.image_column", spec.image_column);
  columns.image = image ? *image : usual_image_column(rows);
  columns.split = optional("data.labels.split_column", spec.split_column);
  columns.patient = optional("data.labels.patient_column", spec.patient_column);
  if (!columns.patient) columns.likely_patient = likely_patient_column(names);
  const Names patterns = parts_of(spec.columns, ",");
  if (patterns.empty())
    throw SpecError("data.labels.columns is empty: set it to the columns of the labels, or to '*' for all columns");
  for (const std::string& pattern : patterns) add_label_columns(names, pattern, table, columns);
  if (!spec.separator.empty()) {
    if (columns.labels.size() != 1) {
      throw SpecError(
          fmt::format("data.labels.columns must be one column if data.labels.separator is set, not the {} of '{}'{}",
                      columns.labels.size(), printable(spec.columns), suggestion("", named(names))));
    }
    columns.joined = columns.labels.front();
  }
  return columns;
}

std::string LabelReader::other_keys(const std::string& column, std::string_view value) const {
  std::string hint;
  if (!columns_.likely_patient.empty()) {
    hint += fmt::format("; data.labels.patient_column may be '{}'", printable(columns_.likely_patient));
  }
  if (is_image_name(value)) hint += fmt::format("; data.labels.image_column may be '{}'", printable(column));
  if (split_called(value) != nullptr) hint += fmt::format("; data.labels.split_column may be '{}'", printable(column));
  return hint;
}

LabelBits LabelReader::read(const std::vector<std::string_view>& fields, std::string_view where) {
  if (!spec_.separator.empty()) return read_names(fields[columns_.joined], where);
  LabelBits labels;
  has_others_.resize(columns_.labels.size());
  for (std::size_t f = 0; f < columns_.labels.size(); ++f) {
    const std::string_view value = fields[columns_.labels[f]];
    const Truth truth = truth_of(value);
    if (truth == Truth::unclear && read_letter(f, value, where, labels)) continue;
    if (!value.empty()) has_others_[f] = true;
    if (truth == Truth::yes) labels.set(f);
    if (truth == Truth::uncertain || truth == Truth::unclear) set_unclear(f, value, where, labels);
  }
  return labels;
}

bool LabelReader::read_letter(std::size_t label, std::string_view value, std::string_view where, LabelBits& labels) {
  const std::string letter = lower_case(value);
  if (letter != "t" && letter != "f" && letter != "y" && letter != "n") return false;
  const auto [column, is_first] = letters_.try_emplace(label);
  if (is_first) column->second = {.found = {}, .value = std::string(value), .where = std::string(where)};
  column->second.found.insert(letter.front());
  if (letter == "t" || letter == "y") labels.set(label);
  return true;
}

void LabelReader::check_letters() const {
  for (const auto& [label, letters] : letters_) {
    const bool is_truth = letters.found == std::set{'f', 't'} || letters.found == std::set{'n', 'y'};
    if (is_truth && !has_others_[label]) continue;
    refuse(label, letters.value, letters.where,
           "; T and F, or Y and N, are read as truth values in a column that has both and nothing else");
  }
}

void LabelReader::refuse(std::size_t label, std::string_view value, std::string_view where,
                         const std::string& hint) const {
  const std::string& name = columns_.label_names[label];
  throw DataError(fmt::format(
      "{}: column '{}' is '{}', expected 0 or 1: set data.labels.columns to the columns of the labels "
      "or, together with data.labels.separator, to a column of names{}{}{}",
      where, printable(name), printable(value), names_example(printable(name), value), hint, other_keys(name, value)));
}

void LabelReader::set_unclear(std::size_t label, std::string_view value, std::string_view where, LabelBits& labels) {
  const std::string name = printable(columns_.label_names[label]);
  const bool is_uncertain = truth_of(value) == Truth::uncertain;
  const UnclearLabel meaning = is_uncertain ? spec_.uncertain : value.empty() ? spec_.blank : UnclearLabel::automatic;
  if (meaning == UnclearLabel::zeros) return;
  if (meaning == UnclearLabel::ones) return labels.set(label);
  if (meaning == UnclearLabel::automatic) {
    const std::string policy =
        is_uncertain || value.empty()
            ? fmt::format("; data.labels.{} says what this value means (U-Zeros, U-Ones or U-Ignore)",
                          is_uncertain ? "uncertain" : "blank")
            : "";
    refuse(label, value, where, policy);
  }
  if (label >= LabelBits::kMostIgnored) {
    throw DataError(
        fmt::format("{}: column '{}' is '{}', and U-Ignore can leave out the first {} labels only: choose "
                    "fewer by data.labels.columns, or U-Zeros or U-Ones",
                    where, name, printable(value), LabelBits::kMostIgnored));
  }
  labels.ignore(label);
}

LabelBits LabelReader::read_names(std::string_view field, std::string_view where) {
  LabelBits labels;
  for (const std::string& name : parts_of(field, spec_.separator)) {
    if (name == spec_.none) continue;
    labels.set(names_.emplace(name, names_.size()).first->second);
  }
  if (names_.size() > kMostLabels) {
    throw DataError(fmt::format("{}: column '{}' has more than {} different names: does it hold labels?", where,
                                printable(columns_.label_names.front()), kMostLabels));
  }
  return labels;
}

std::vector<std::string> LabelReader::finish(const std::string& table, std::vector<IndexRow>& rows) {
  check_letters();
  if (spec_.separator.empty()) return columns_.label_names;
  if (names_.empty()) {
    throw DataError(fmt::format("{}: column '{}' names no label", table, printable(columns_.label_names.front())));
  }
  const auto is_truth = [](const auto& name) {
    return name.first.size() > 3 && truth_of(name.first) != Truth::unclear;
  };
  if (std::ranges::all_of(names_, is_truth)) {
    throw DataError(
        fmt::format("{}: column '{}' holds nothing but true and false, which are not label names: leave "
                    "data.labels.separator out, and the column is one label",
                    table, printable(columns_.label_names.front())));
  }
  std::vector<std::string> sorted;
  std::vector<std::size_t> number_of(names_.size());  // final numbers, indexed by the order of appearance
  for (const auto& [name, came] : names_) {
    number_of[came] = sorted.size();
    sorted.push_back(name);
  }
  for (IndexRow& row : rows) {
    LabelBits labels;
    row.labels.for_each([&](std::size_t label) { labels.set(number_of[label]); });
    row.labels = labels;
  }
  return sorted;
}

namespace {

constexpr const char* kObservations =
    "No Finding, Enlarged Cardiomediastinum, Cardiomegaly, Lung Opacity, Lung Lesion, Edema, Consolidation, Pneumonia, "
    "Atelectasis, Pneumothorax, Pleural Effusion, Pleural Other, Fracture, Support Devices";

}  // namespace

spec::LabelsSpec observation_labels(const spec::LabelsSpec& labels, std::string_view image_column) {
  spec::LabelsSpec all = labels;
  all.image_column = image_column;
  if (all.columns == spec::LabelsSpec().columns) all.columns = kObservations;
  if (all.uncertain == UnclearLabel::automatic) all.uncertain = UnclearLabel::ones;
  if (all.blank == UnclearLabel::automatic) all.blank = UnclearLabel::zeros;
  log::info_once("labels: -1 (uncertain) is read as {}, an empty field as {}: data.labels.uncertain, data.labels.blank",
                 spec::to_string(all.uncertain), spec::to_string(all.blank));
  return all;
}

std::string_view last_parts(std::string_view path, int parts) {
  std::size_t begin = path.size();
  for (; parts > 0; --parts) {
    begin = begin == 0 ? std::string_view::npos : path.rfind('/', begin - 1);
    if (begin == std::string_view::npos) return path;
  }
  return path.substr(begin + 1);
}

std::vector<ImageFile> find_study_files(const storage::DataRoot& root, int parts, NameArena& names,
                                        PassedOver* passed) {
  std::vector<ImageFile> files = list_images(*root.store, root.path, names, passed);
  for (ImageFile& file : files) {
    file.name = last_parts(file.name, parts);
    if (!file.name.ends_with(".jpg")) file.name = names.keep({file.name.substr(0, file.name.rfind('.')), ".jpg"});
  }
  sort_by_name(files);
  const auto twice = std::ranges::adjacent_find(files, {}, &ImageFile::name);
  if (twice == files.end()) return files;
  throw DataError(fmt::format("{}: {} and {} are both the image '{}': keep one of them", root.path, twice->path,
                              std::next(twice)->path, printable(twice->name)));
}

}  // namespace chexbench::dataset
