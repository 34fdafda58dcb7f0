#include "data/staging_record.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/atomic_file.hpp"
#include "data/json_file.hpp"

namespace chexbench::data {

std::string staging_record_path(const std::string& folder, spec::Split split, spec::DataFormat format) {
  return std::filesystem::path(folder) /
         fmt::format("staged-{}-{}.json", spec::to_string(split), spec::to_string(format));
}

void write_staging_record(const Staging& staging, const spec::DataSpec& spec) {
  write_file_atomically(staging.record, json_file_text({{"split", spec::to_string(spec.split)},
                                                        {"format", spec::to_string(spec.format)},
                                                        {"images", staging.images},
                                                        {"files", staging.files},
                                                        {"kept", staging.kept},
                                                        {"bytes", staging.bytes},
                                                        {"seconds", rounded_to_ms(staging.seconds)},
                                                        {"from", staging.from}}));
}

std::optional<StagingCost> staging_cost(const DataRoot& root, spec::Split split, spec::DataFormat format) {
  const nlohmann::json record = read_json_file(root, staging_record_path(root.path, split, format));
  const auto images = value_of<std::uint64_t>(record, "images");
  const auto seconds = value_of<double>(record, "seconds");
  const auto bytes = value_of<std::uint64_t>(record, "bytes");
  const auto from = value_of<std::string>(record, "from");
  if (!images || !seconds || !bytes || !from || value_of<std::uint64_t>(record, "kept").value_or(1) != 0) return {};
  return StagingCost{.from = *from, .images = *images, .seconds = *seconds, .bytes = *bytes};
}

}  // namespace chexbench::data
