#include "data/staging_record.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/atomic_file.hpp"
#include "core/errors.hpp"
#include "core/json_text.hpp"
#include "data/manifest_values.hpp"

namespace chexbench::data {

std::string staging_record_path(const std::string& folder, spec::Split split, spec::DataFormat format) {
  return std::filesystem::path(folder) /
         fmt::format("staged-{}-{}.json", spec::to_string(split), spec::to_string(format));
}

void write_staging_record(const Staging& staging, const spec::DataSpec& spec) {
  write_file_atomically(
      staging.record,
      fmt::format("{{\n  \"split\": \"{}\",\n  \"format\": \"{}\",\n  \"images\": {},\n"
                  "  \"files\": {},\n  \"kept\": {},\n  \"bytes\": {},\n  \"seconds\": {:.3f},\n"
                  "  \"from\": {}\n}}\n",
                  spec::to_string(spec.split), spec::to_string(spec.format), staging.images, staging.files,
                  staging.kept, staging.bytes, staging.seconds, json_text(staging.from)));
}

std::optional<StagingCost> staging_cost(const DataRoot& root, spec::Split split, spec::DataFormat format) {
  const std::string text = manifest_text(root, staging_record_path(root.path, split, format));
  const auto images = number_after<std::uint64_t>(text, "images");
  const auto seconds = number_after<double>(text, "seconds");
  const auto bytes = number_after<std::uint64_t>(text, "bytes");
  const auto from = text_after(text, "from");
  if (!images || !seconds || !bytes || !from || number_after<std::uint64_t>(text, "kept").value_or(1) != 0) return {};
  return StagingCost{.from = *from, .images = *images, .seconds = *seconds, .bytes = *bytes};
}

}  // namespace chexbench::data
