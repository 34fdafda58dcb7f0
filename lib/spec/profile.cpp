#include "spec/profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/errors.hpp"
#include "spec/document.hpp"
#include "spec/object_reader.hpp"
#include "spec/shipped.hpp"
#include "spec/trial_spec.hpp"
#include "spec/values.hpp"

namespace chexbench::spec {
namespace {

ValueRule precision_rule() {
  ValueRule result = value_rule(ValueType::text);
  for (const auto& [value, word] : named_values<Precision>()) result.words.push_back(word);
  return result;
}

Precision precision_of(const ObjectReader& reader) {
  const std::string word = std::get<std::string>(reader.value("precision", precision_rule()));
  const auto values = named_values<Precision>();
  return std::ranges::find(values, word, &std::pair<Precision, std::string>::second)->first;
}

ValueRule speed_rule() {
  ValueRule result = value_rule(ValueType::number);
  result.above_minimum = true;
  return result;
}

ValueRule peak_rule() {
  ValueRule result = value_rule(ValueType::number, 0, 1e18);
  result.above_minimum = true;
  return result;
}

PeakRates parse_peaks(const Node& node, const std::string& path) {
  const ObjectReader reader(node, path, {"flops_per_s", "bytes_per_s", "source"});
  PeakRates peaks{
      .flops_per_s = {}, .bytes_per_s = reader.number("bytes_per_s", peak_rule()), .source = reader.text("source")};
  const std::vector<std::string> words = precision_rule().words;
  const ObjectReader rates(reader.node("flops_per_s"), path + ".flops_per_s", words);
  for (const auto& [precision, word] : named_values<Precision>()) {
    if (rates.has(word)) peaks.flops_per_s[precision] = rates.number(word, peak_rule());
  }
  if (peaks.flops_per_s.empty())
    throw SpecError(fmt::format("{}.flops_per_s must have at least one of {}", path, fmt::join(words, ", ")));
  return peaks;
}

ProfileEntry parse_entry(const Node& node, const std::string& path) {
  const ObjectReader reader(
      node, path,
      {"model", "image_size", "precision", "batch_size", "images_per_s", "images_per_s_mad", "backward_share",
       "update_s", "includes_update", "includes_communication", "computed", "record_bytes", "source"});
  ProfileEntry entry{.model = reader.text("model"),
                     .image_size = reader.count("image_size"),
                     .precision = precision_of(reader),
                     .batch_size = reader.count("batch_size"),
                     .images_per_s = reader.number("images_per_s", speed_rule()),
                     .backward_share = reader.number_or("backward_share", value_rule(ValueType::number, 0, 1), 2.0 / 3),
                     .update_s = reader.number_or("update_s", value_rule(ValueType::number, 0, 1e3), 0),
                     .includes_update = reader.boolean("includes_update"),
                     .includes_communication = reader.boolean("includes_communication"),
                     .computed = reader.has("computed") && reader.boolean("computed"),
                     .source = reader.text("source")};
  if (reader.has("record_bytes")) entry.record_bytes = reader.number("record_bytes", speed_rule());
  if (reader.has("images_per_s_mad"))
    entry.images_per_s_mad = reader.number("images_per_s_mad", value_rule(ValueType::number, 0));
  if (entry.includes_update && reader.has("update_s")) {
    throw SpecError(fmt::format(
        "{}: 'update_s' would count the update twice, because 'includes_update' is true; leave one of them out", path));
  }
  return entry;
}

std::string describe(const std::string& model, int image_size, Precision precision) {
  return fmt::format("{} {}x{} {}", model, image_size, image_size, to_string(precision));
}

std::string describe(const ProfileEntry& entry) { return describe(entry.model, entry.image_size, entry.precision); }

// Returns how to switch to a precision that the profile has for the network or, if it has none, how to make a profile
// that does.
std::string how_to_choose(const AcceleratorProfile& profile, const ModelSpec& model, Precision wanted) {
  const auto entry = std::ranges::find_if(profile.entries, [&](const ProfileEntry& known) {
    return known.model == model.name && known.image_size == model.image_size;
  });
  if (entry == profile.entries.end()) {
    return fmt::format("; where the network can be trained, `{}` makes a profile of it",
                       calibrate_command(model, wanted));
  }
  const std::string precision = to_string(entry->precision);
  return fmt::format("; choose a precision with --set training.precision={}, or predict's --precision {}", precision,
                     precision);
}

bool is_same_step(const ProfileEntry& a, const ProfileEntry& b) {
  return a.model == b.model && a.image_size == b.image_size && a.precision == b.precision;
}

// Throws if two entries cannot be interpolated: those of one combination must have different batches and include the
// same.
void check_agreement(const ProfileEntry& entry, const ProfileEntry& earlier, const std::string& path) {
  if (!is_same_step(entry, earlier)) return;
  if (entry.batch_size == earlier.batch_size) {
    throw SpecError(fmt::format("{}: a second entry for {} at batch {}", path, describe(entry), entry.batch_size));
  }
  const bool agrees = entry.includes_update == earlier.includes_update &&
                      entry.includes_communication == earlier.includes_communication;
  if (agrees) return;
  throw SpecError(
      fmt::format("{}: 'includes_update' and 'includes_communication' of {} must be as in its entry for batch {}: "
                  "times between two batches are interpolated",
                  path, describe(entry), earlier.batch_size));
}

// Interpolates the times of steps, which are nearly linear in the batch (a fixed part, and a part per image); images/s
// are not.
ProfileEntry interpolate(const ProfileEntry& a, const ProfileEntry& b, int batch_size) {
  const double share = static_cast<double>(batch_size - a.batch_size) / (b.batch_size - a.batch_size);
  const double compute_s = std::lerp(a.compute_s(), b.compute_s(), share);
  const double backward_s = std::lerp(a.compute_s() * a.backward_share, b.compute_s() * b.backward_share, share);
  ProfileEntry entry = a;
  entry.batch_size = batch_size;
  entry.images_per_s = batch_size / compute_s;
  entry.images_per_s_mad.reset();
  entry.backward_share = backward_s / compute_s;
  entry.update_s = std::lerp(a.update_s, b.update_s, share);
  entry.computed = a.computed || b.computed;
  if (a.source != b.source) entry.source += "; " + b.source;
  entry.between = {a.batch_size, b.batch_size};
  return entry;
}

Node entry_node(const ProfileEntry& entry) {
  Object object{{"model", {entry.model}},
                {"image_size", {std::int64_t{entry.image_size}}},
                {"precision", {to_string(entry.precision)}},
                {"batch_size", {std::int64_t{entry.batch_size}}},
                {"images_per_s", {entry.images_per_s}}};
  if (entry.images_per_s_mad) object.push_back({"images_per_s_mad", {*entry.images_per_s_mad}});
  object.push_back({"backward_share", {entry.backward_share}});
  if (!entry.includes_update) object.push_back({"update_s", {entry.update_s}});
  object.push_back({"includes_update", {entry.includes_update}});
  object.push_back({"includes_communication", {entry.includes_communication}});
  if (entry.computed) object.push_back({"computed", {true}});
  if (entry.record_bytes) object.push_back({"record_bytes", {*entry.record_bytes}});
  object.push_back({"source", {entry.source}});
  return {std::move(object)};
}

Node peaks_node(const PeakRates& peaks) {
  Object flops_per_s;
  for (const auto& [precision, rate] : peaks.flops_per_s) flops_per_s.push_back({to_string(precision), {rate}});
  return {Object{
      {"flops_per_s", {std::move(flops_per_s)}}, {"bytes_per_s", {peaks.bytes_per_s}}, {"source", {peaks.source}}}};
}

}  // namespace

std::span<const std::string> profile_names() {
  static const std::vector<std::string> names = names_of(embedded_accelerators());
  return names;
}

AcceleratorProfile load_profile(const std::string& name_or_path) {
  const auto [text, where] =
      read_shipped(name_or_path, embedded_accelerators(), "configs/accelerators", "accelerator profile");
  return parse_profile(text, where);
}

AcceleratorProfile parse_profile(const std::string& text, const std::string& where) {
  const Node document = parse_document(text, where);
  const ObjectReader reader(document, where, {"name", "device", "peaks", "entries"});
  AcceleratorProfile profile{.name = reader.text("name"), .device = reader.text("device"), .entries = {}};
  if (reader.has("peaks")) profile.peaks = parse_peaks(reader.node("peaks"), where + ".peaks");
  const List* const entries = reader.node("entries").list();
  if (entries == nullptr || entries->empty())
    throw SpecError(fmt::format("{}.entries must be a list with at least one entry", where));
  for (std::size_t i = 0; i < entries->size(); ++i) {
    const std::string path = fmt::format("{}.entries[{}]", where, i);
    ProfileEntry entry = parse_entry((*entries)[i], path);
    for (const ProfileEntry& earlier : profile.entries) check_agreement(entry, earlier, path);
    profile.entries.push_back(std::move(entry));
  }
  return profile;
}

std::string calibrate_command(const ModelSpec& model, Precision precision) {
  return fmt::format("chexbench dev calibrate --model {} --image-size {} --precision {} --output profile.json",
                     model.name, model.image_size, to_string(precision));
}

std::string entry_json(const ProfileEntry& entry) { return to_text(entry_node(entry)); }

std::string to_json(const AcceleratorProfile& profile) {
  Object object{{"name", {profile.name}}, {"device", {profile.device}}};
  if (profile.peaks) object.push_back({"peaks", peaks_node(*profile.peaks)});
  List entries;
  for (const ProfileEntry& entry : profile.entries) entries.push_back(entry_node(entry));
  object.push_back({"entries", {std::move(entries)}});
  return to_text({std::move(object)}) + "\n";
}

ProfileEntry find_entry(const AcceleratorProfile& profile, const ModelSpec& model, Precision precision,
                        int batch_size) {
  const ProfileEntry* below = nullptr;  // the largest batch <= batch_size
  const ProfileEntry* above = nullptr;  // the smallest batch >= batch_size
  std::vector<std::string> known;
  for (const ProfileEntry& entry : profile.entries) {
    if (const std::string word = describe(entry); std::ranges::find(known, word) == known.end()) known.push_back(word);
    if (entry.model != model.name || entry.image_size != model.image_size || entry.precision != precision) continue;
    const int batch = entry.batch_size;
    if (batch <= batch_size && (below == nullptr || batch > below->batch_size)) below = &entry;
    if (batch >= batch_size && (above == nullptr || batch < above->batch_size)) above = &entry;
  }
  if (below == nullptr && above == nullptr) {
    throw SpecError(fmt::format("the accelerator profile '{}' has no time for {}; it has: {}{}", profile.name,
                                describe(model.name, model.image_size, precision), fmt::join(known, ", "),
                                how_to_choose(profile, model, precision)));
  }
  if (below == nullptr || above == nullptr || below == above) return below != nullptr ? *below : *above;
  return interpolate(*below, *above, batch_size);
}

}  // namespace chexbench::spec
