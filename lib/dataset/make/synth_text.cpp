#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/printable.hpp"
#include "core/text.hpp"
#include "dataset/make/synth.hpp"
#include "formats/json_file.hpp"

namespace chexbench::dataset {
namespace {

std::string next_command(const std::string& directory) { return "chexbench " + shell_word(directory); }

// Returns how many images this call made of those that are there.
std::string made_of(const SynthResult& result) {
  if (result.written == result.images) return fmt::format("Made {} {}", result.images, result.kind);
  if (result.written == 0)
    return fmt::format("Nothing to make: all {} {} were there already", result.images, result.kind);
  return fmt::format("Made the missing {} of {} {}", result.written, result.images, result.kind);
}

}  // namespace

std::string synth_text(const SynthResult& result, const std::string& directory) {
  return fmt::format(
      "{}, as {}, {} in all, in {}, in {:.1f} s.\n"
      "Next: `{}` says in a minute how fast this machine delivers them, and `chexbench data index {}` what is in "
      "them.\n",
      made_of(result), result.form, bytes_text(static_cast<double>(result.bytes)), printable(directory), result.seconds,
      next_command(directory), shell_word(directory));
}

std::string synth_json(const SynthResult& result, const std::string& directory) {
  using Json = nlohmann::ordered_json;
  return formats::json_file_text({{"directory", directory},
                                  {"images", result.images},
                                  {"images_written", result.written},
                                  {"patients", result.patients ? Json(*result.patients) : Json(nullptr)},
                                  {"file_bytes", result.bytes},
                                  {"seconds", formats::rounded_to_ms(result.seconds)},
                                  {"next", next_command(directory)}});
}

}  // namespace chexbench::dataset
