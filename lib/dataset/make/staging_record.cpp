#include "dataset/make/staging_record.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/format_version.hpp"
#include "core/output_file.hpp"
#include "formats/json_file.hpp"

namespace chexbench::dataset {

std::string staging_record_path(const std::string& folder, spec::Split split, spec::DataFormat format) {
  return std::filesystem::path(folder) /
         fmt::format("staged-{}-{}.json", spec::to_string(split), spec::to_string(format));
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
