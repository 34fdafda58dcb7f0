#include "dataset/make/outcome.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/printable.hpp"
#include "core/text.hpp"
#include "formats/manifest.hpp"

namespace chexbench::dataset {
namespace {

using Json = nlohmann::ordered_json;

std::string probe_command(const TypedRoot& root) { return "chexbench " + root.words(); }
std::string check_command(const TypedRoot& root) { return "chexbench data check " + root.words(); }

std::string size_text(std::uint64_t bytes) { return bytes_text(static_cast<double>(bytes)); }
std::string speed_text(std::uint64_t bytes, double seconds) {
  return bytes_text(static_cast<double>(bytes) / seconds) + "/s";
}

Json known(const std::optional<std::uint64_t>& count) { return count ? Json(*count) : Json(nullptr); }

// Returns how many of the present images this call made.
std::string made_of(const SynthResult& result) {
  if (result.written == result.images) return fmt::format("Made {} {}", result.images, result.kind);
  if (result.written == 0)
    return fmt::format("Nothing to make: all {} {} were there already", result.images, result.kind);
  return fmt::format("Made the missing {} of {} {}", result.written, result.images, result.kind);
}

// Returns a name for the resulting shards or file.
std::string converted_form(const formats::Conversion& result) {
  if (result.format == spec::DataFormat::cached) return "a file of decoded pixels";
  return count_text(result.shards.size(), result.format == spec::DataFormat::tfrecord ? "shard" : "tar file") +
         (result.format == spec::DataFormat::tfrecord ? " of TFRecords" : "");
}

// Returns the images of the split, and this call's effect on them.
std::string conversion_done(const formats::Conversion& result) {
  std::string images =
      fmt::format("the {} of split '{}'", count_text(result.images, "image"), spec::to_string(result.split));
  if (result.patients) images += fmt::format(" ({})", count_text(*result.patients, "patient"));
  const std::size_t kept = result.kept();
  if (kept == result.shards.size()) {
    return fmt::format("Nothing to convert: {} were in {} already", images, converted_form(result));
  }
  return fmt::format("Converted {} into {}{}", images, converted_form(result),
                     kept == 0 ? "" : fmt::format(", of which {} were there already", kept));
}

double images_per_s(const formats::Conversion& result) { return static_cast<double>(result.images) / result.seconds; }

// Probing a root does not find cached pixels.
std::string after_conversion(const formats::Conversion& result, const TypedRoot& root) {
  if (result.format == spec::DataFormat::cached) {
    return fmt::format(
        "Next: runs read them with `--set data.format=cached --set data.deliver=u8`; `{}` compares "
        "them with the images.\n",
        check_command(root));
  }
  return fmt::format(
      "Next: `{}` shows in a minute whether they are read faster than the images, and `{}` compares both.\n",
      probe_command(root), check_command(root));
}

std::string copied(const Staging& result) {
  const std::string all = fmt::format("{} ({})", count_text(result.files, "file"), size_text(result.bytes));
  if (result.kept == result.files) return fmt::format("Nothing to copy: all {} were there already", all);
  if (result.kept == 0) return "Copied " + all;
  return fmt::format("Copied the missing {} ({}) of {}", result.files - result.kept, size_text(result.copied_bytes),
                     all);
}

// Returns the line that counts passed-over files by kind, with the first names, or "" if there are none.
std::string passed_line(const PassedOver& passed) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (const auto& [kind, files] : passed.kinds())
    text += fmt::format("{}{} {}", text.empty() ? "Not read: " : ", ", kind_text(kind), files_text(files, kShown));
  return text.empty() ? "" : text + ".\n";
}

Json passed_counts(const PassedOver& passed) {
  Json counts = Json::object();
  for (const auto& [kind, files] : passed.kinds()) counts[std::string(to_string(kind))] = files.count;
  return counts;
}

}  // namespace

std::string TypedRoot::words() const {
  std::string words = shell_word(root);
  for (const std::string& override : overrides) words += " --set " + shell_word(override);
  return words;
}

std::string synth_text(const SynthResult& result, const TypedRoot& made) {
  return fmt::format(
      "{}, as {}, {} in all, in {}, in {:.1f} s.\n"
      "Next: `{}` measures in a minute how fast this machine delivers them, and `chexbench data index {}` what is in "
      "them.\n",
      made_of(result), result.form, size_text(result.bytes), printable(made.root), result.seconds, probe_command(made),
      made.words());
}

std::string synth_json(const SynthResult& result, const TypedRoot& made) {
  return formats::json_file_text({{"directory", made.root},
                                  {"images", result.images},
                                  {"images_written", result.written},
                                  {"patients", known(result.patients)},
                                  {"file_bytes", result.bytes},
                                  {"seconds", formats::rounded_to_ms(result.seconds)},
                                  {"next", probe_command(made)}});
}

std::string conversion_text(const formats::Conversion& result, const TypedRoot& converted) {
  return fmt::format("{}, {} instead of {}, in {:.1f} s ({} images/s); {} has the details.\n{}",
                     conversion_done(result), size_text(result.shard_bytes), size_text(result.image_bytes),
                     result.seconds, rate_text(images_per_s(result)),
                     printable(formats::manifest_path(converted.root, result.split, result.format)),
                     after_conversion(result, converted));
}

std::string conversion_json(const formats::Conversion& result, const TypedRoot& converted) {
  const bool is_cached = result.format == spec::DataFormat::cached;
  return formats::json_file_text({{"manifest", formats::manifest_path(converted.root, result.split, result.format)},
                                  {"format", spec::to_string(result.format)},
                                  {"split", spec::to_string(result.split)},
                                  {"images", result.images},
                                  {"patients", known(result.patients)},
                                  {"shards", result.shards.size()},
                                  {"shards_kept", result.kept()},
                                  {"image_bytes", result.image_bytes},
                                  {"shard_bytes", result.shard_bytes},
                                  {"damaged", result.damaged},
                                  {"seconds", formats::rounded_to_ms(result.seconds)},
                                  {"images_per_s", images_per_s(result)},
                                  {"next", is_cached ? check_command(converted) : probe_command(converted)}});
}

std::string staging_text(const Staging& result, const TypedRoot& copy) {
  return fmt::format(
      "{}, with {}, from {} to {}, in {:.1f} s ({}); {} has the details.\n"
      "Next: `{}` measures in a minute how fast this machine delivers them from there.\n",
      copied(result), count_text(result.images, "image"), printable(result.from), printable(copy.root), result.seconds,
      speed_text(result.copied_bytes, result.seconds), printable(result.record), probe_command(copy));
}

std::string staging_json(const Staging& result, const TypedRoot& copy) {
  return formats::json_file_text({{"record", result.record},
                                  {"from", result.from},
                                  {"directory", copy.root},
                                  {"images", result.images},
                                  {"files", result.files},
                                  {"files_kept", result.kept},
                                  {"bytes", result.bytes},
                                  {"bytes_copied", result.copied_bytes},
                                  {"seconds", formats::rounded_to_ms(result.seconds)},
                                  {"bytes_per_s", static_cast<double>(result.copied_bytes) / result.seconds},
                                  {"next", probe_command(copy)}});
}

std::string check_text(const CheckReport& report, const TypedRoot& checked) {
  std::string text;
  for (const std::string& problem : report.problems) text += printable(problem, problem.max_size()) + "\n";
  text += passed_line(report.passed);
  text +=
      fmt::format("Checked {} and the {} made from them, {} in all, in {:.1f} s: ", count_text(report.images, "image"),
                  count_text(report.records, "record"), size_text(report.bytes), report.seconds);
  if (report.problems.empty()) {
    return text + fmt::format("no problems.\nNext: `{}` measures in a minute how fast this machine delivers them.\n",
                              probe_command(checked));
  }
  return text + count_text(report.problems.size(), "problem") +
         ".\n"
         "Next: fetch the images above again, or leave bad ones out of a run by `--set data.on_bad_record=skip`; "
         "convert again what differs from its image.\n";
}

std::string check_json(const CheckReport& report, const TypedRoot& checked) {
  return formats::json_file_text({{"root", checked.root},
                                  {"images", report.images},
                                  {"records", report.records},
                                  {"bytes", report.bytes},
                                  {"seconds", formats::rounded_to_ms(report.seconds)},
                                  {"problems", report.problems},
                                  {"passed_over", passed_counts(report.passed)},
                                  {"next", report.problems.empty() ? Json(probe_command(checked)) : Json(nullptr)}});
}

}  // namespace chexbench::dataset
