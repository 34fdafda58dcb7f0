// The keys of the input and its source: data, preprocess and store.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/key_making.hpp"

namespace chexbench::spec {
namespace {

bool has_own_table(const TrialSpec& trial) { return uses_pipeline(trial) && trial.data.layout == DataLayout::csv; }

bool has_root_like(const TrialSpec& trial, std::string_view beginning) {
  return uses_pipeline(trial) && trial.data.root.starts_with(beginning);
}

constexpr Condition kFastDecoder{[](const TrialSpec& trial) { return trial.data.decoder == DecoderKind::fast; },
                                 "data.decoder is fast"};
constexpr Condition kOwnTable{has_own_table, "data.layout is csv"};
constexpr Condition kLabelledTable{
    [](const TrialSpec& trial) {
      const DataLayout layout = trial.data.layout;
      return has_own_table(trial) ||
             (uses_pipeline(trial) && (layout == DataLayout::chexpert || layout == DataLayout::mimic));
    },
    "data.layout is csv, chexpert or mimic"};
constexpr Condition kJoinedLabels{
    [](const TrialSpec& trial) { return has_own_table(trial) && !trial.data.labels.separator.empty(); },
    "data.layout is csv and data.labels.separator is given"};
constexpr Condition kNumberedClasses{
    [](const TrialSpec& trial) { return !uses_pipeline(trial) || trial.data.layout == DataLayout::imagenet; },
    "data.layout is imagenet or data.format is 'ready'"};
constexpr Condition kDistant{[](const TrialSpec& trial) { return uses_pipeline(trial) && is_distant(trial); },
                             "data.root is a URL"};
constexpr Condition kWeb{
    [](const TrialSpec& trial) { return has_root_like(trial, "http://") || has_root_like(trial, "https://"); },
    "data.root begins with http:// or https://"};
constexpr Condition kS3{[](const TrialSpec& trial) { return has_root_like(trial, "s3://"); },
                        "data.root begins with s3://"};
// Only image files are never mapped.
constexpr Condition kMapped{[](const TrialSpec& trial) {
                              return uses_pipeline(trial) && !is_distant(trial) &&
                                     trial.data.format != DataFormat::images;
                            },
                            "data.format is tfrecord, webdataset or cached and data.root is a folder of this machine"};

// Each returns the rule of a member: store_key("store.region", &StoreSpec::region, "...").
template <typename T>
Key store_key(const std::string& path, T StoreSpec::*member, const std::string& description) {
  return key_at(
      path, [=](auto& trial) -> auto& { return trial.data.store.*member; }, description);
}

Key shape_key(const std::string& path, std::optional<double> StoreShape::*member, const std::string& description) {
  return key_at(
             path, [=](auto& trial) -> auto& { return trial.data.store.shape.*member; }, description)
      .has_effect_where(kUsesPipeline);
}

// Most labels are described for the user's own table only.
template <typename T>
Key label_key(const std::string& path, T LabelsSpec::*member, const std::string& description,
              const Condition& where = kOwnTable) {
  return key_at(
             path, [=](auto& trial) -> auto& { return trial.data.labels.*member; }, description)
      .only_where(where);
}

std::vector<KeyRule> label_keys() {
  return {
      label_key("data.labels.csv", &LabelsSpec::csv, "Path of the table in the root; empty: the only *.csv there."),
      label_key("data.labels.image_column", &LabelsSpec::image_column,
                "Column of paths in the root, or of names in any folder below it, with or without extension; empty: "
                "the first column."),
      label_key("data.labels.columns", &LabelsSpec::columns,
                "Columns of 0 and 1 (or truth values such as True), in output order: names, or patterns in which * is "
                "any text, as a list or joined by commas. * alone: all but the image, split and patient columns.",
                kLabelledTable)
          .is_list(),
      label_key("data.labels.separator", &LabelsSpec::separator,
                "If not empty, data.labels.columns is one column of names joined by this; the labels are all names "
                "that occur, sorted."),
      label_key("data.labels.none", &LabelsSpec::none,
                "The name that means no label, such as No Finding; empty: there is none.", kJoinedLabels),
      label_key(
          "data.labels.split_column", &LabelsSpec::split_column,
          "Column of train, val (valid, validation) or test; empty: no splits, so only data.split all has images."),
      label_key("data.labels.patient_column", &LabelsSpec::patient_column,
                "Column that identifies the patient; empty: each image counts as one."),
      label_key("data.labels.uncertain", &LabelsSpec::uncertain,
                "What -1 means in a label column: 0 (U-Zeros), 1 (U-Ones), or a label that loss and scores ignore "
                "(U-Ignore); auto: U-Ones, but an error where data.layout is csv.",
                kLabelledTable),
      label_key("data.labels.blank", &LabelsSpec::blank,
                "The same for an empty field; auto: U-Zeros, but an error where data.layout is csv.", kLabelledTable),
      label_key(
          "data.labels.classes", &LabelsSpec::classes,
          "Number of classes; 0: the highest class in the shards, or ChestX-ray14's labels in ready-made batches.",
          kNumberedClasses)
          .at_most(100'000),
  };
}

// The limits keep every sleep clearly shorter than a hang.
std::vector<KeyRule> shape_keys() {
  constexpr double kSlowest = 1e-3;  // MB/s, and requests per second
  constexpr double kFastest = 1e9;
  constexpr double kMostDelayMs = 60'000;
  return {
      shape_key("store.shape.bandwidth_mb_per_s", &StoreShape::bandwidth_mb_per_s,
                "MB/s that each rank may read; null: no limit.")
          .at_least(kSlowest)
          .at_most(kFastest),
      shape_key("store.shape.latency_ms", &StoreShape::latency_ms,
                "Added to each request (a file, or 1 MiB of a shard); null: nothing.")
          .at_most(kMostDelayMs),
      shape_key("store.shape.jitter_ms", &StoreShape::jitter_ms,
                "Mean of an additional random latency: exponential, from a fixed seed; null: none.")
          .at_most(kMostDelayMs),
      shape_key("store.shape.iops", &StoreShape::iops, "Requests that a rank may start per second; null: any number.")
          .at_least(kSlowest)
          .at_most(kFastest),
  };
}

}  // namespace

std::vector<KeyRule> data_keys() {
  constexpr auto data = &TrialSpec::data;
  std::vector<KeyRule> rules = {
      key("data.root", data, &DataSpec::root,
          "Folder of the data set, relative to the working directory, or a URL: http(s)://, s3://, nfs://.")
          .is_path()
          .has_effect_where(kUsesPipeline),
      key("data.format", data, &DataSpec::format,
          "What a trial reads: images (PNG, JPEG, DICOM), TFRecords, WebDataset's tar files, cached pixels, or "
          "ready-made batches: the ceiling of the compute side."),
      key("data.split", data, &DataSpec::split,
          "Images to use, by the data set's lists, folders or column; val only if the data set has one.")
          .has_effect_where(kUsesPipeline),
      key("data.decoder", data, &DataSpec::decoder, "Decoder of PNGs and JPEGs: chexbench's own fast paths, or OpenCV.")
          .has_effect_where(kUsesPipeline),
      key("data.jpeg", data, &DataSpec::jpeg,
          "scaled decodes a JPEG at 1/2, 1/4 or 1/8 if the network needs no more, which is faster but gives other "
          "pixels.")
          .has_effect_where(kUsesPipeline)
          .only_where(kFastDecoder),
      key("data.color", data, &DataSpec::color,
          "What images are decoded to: gray (three equal channels for the network) or rgb; auto: rgb where data.layout "
          "is imagenet, else gray.")
          .has_effect_where(kUsesPipeline),
      key("data.deliver", data, &DataSpec::deliver,
          "What a batch contains: f32, three normalized channels; u8, one channel (three for rgb), which the engine "
          "normalizes."),
      key("data.on_bad_record", data, &DataSpec::on_bad_record,
          "Whether a corrupt image or record stops the trial, or is skipped and counted.")
          .has_effect_where(kUsesPipeline),
      key("data.layout", data, &DataSpec::layout,
          "How the root stores its labels: ChestX-ray14's table (nih), your own (csv), a folder for each class, the "
          "tables of CheXpert or MIMIC-CXR-JPG (mimic), TensorFlow's shards of ImageNet, or the first of these that "
          "fits (auto).")
          .has_effect_where(kUsesPipeline),
  };
  std::ranges::move(label_keys(), std::back_inserter(rules));
  return rules;
}

std::vector<KeyRule> preprocess_keys() {
  constexpr auto preprocess = &TrialSpec::preprocess;
  return {
      key("preprocess.resize", preprocess, &PreprocessSpec::resize, "Resize method.").has_effect_where(kUsesPipeline),
      key("preprocess.flip", preprocess, &PreprocessSpec::flip, "Flips half of the images horizontally.")
          .has_effect_where(kUsesPipeline),
      key("preprocess.crop", preprocess, &PreprocessSpec::crop,
          "Share of an image's width and height that is used, at a random place; in validation, the center.")
          .at_least(0.1)
          .at_most(1)
          .has_effect_where(kUsesPipeline),
      key("preprocess.resized_crop", preprocess, &PreprocessSpec::resized_crop,
          "Trains on windows of 8 to 100 % of an image's area, at 3:4 to 4:3, like torchvision's RandomResizedCrop; "
          "validation sees the whole image.")
          .has_effect_where(kUsesPipeline),
  };
}

std::vector<KeyRule> store_keys() {
  std::vector<KeyRule> rules = {
      store_key("store.endpoint", &StoreSpec::endpoint,
                "Server, http(s)://host[:port]; empty: AWS_ENDPOINT_URL, or Amazon's.")
          .only_where(kS3),
      store_key("store.region", &StoreSpec::region, "Region of the bucket; empty: from AWS_REGION or ~/.aws/config.")
          .only_where(kS3),
      store_key("store.addressing", &StoreSpec::addressing,
                "Whether the bucket is in the path or before the host name (virtual); auto: in the path if an endpoint "
                "is given.")
          .only_where(kS3),
      store_key(
          "store.timeout_s", &StoreSpec::timeout_s,
          "A request fails after this time of connecting or at less than 1 kB/s, or after 15 times that in total.")
          .above(0)
          .at_most(3600)
          .only_where(kDistant),
      store_key("store.tries", &StoreSpec::tries, "Tries of a request, with growing pauses.")
          .at_least(1)
          .at_most(100)
          .only_where(kDistant),
      store_key("store.redirects", &StoreSpec::redirects,
                "Redirects to follow: same_host, to the same scheme, host and port; any, without a password and never "
                "from https to http.")
          .only_where(kWeb),
      store_key("store.read", &StoreSpec::read,
                "How shards and cached pixels are read: map, or copy, which is safe if other programs change the files "
                "during the run.")
          .has_effect_where(kMapped),
  };
  std::ranges::move(shape_keys(), std::back_inserter(rules));
  return rules;
}

}  // namespace chexbench::spec
