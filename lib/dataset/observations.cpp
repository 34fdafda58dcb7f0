#include "dataset/observations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/errors.hpp"
#include "core/log.hpp"
#include "core/printable.hpp"
#include "dataset/name_order.hpp"

namespace chexbench::dataset {
namespace {

using spec::UnclearLabel;

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
