#include "spec/key_making.hpp"

#include <optional>
#include <string>
#include <utility>

#include "spec/key_conditions.hpp"

namespace chexbench::spec {
namespace {

// Returns the rule of a member of the store: store_key("store.region", &StoreSpec::region, "...").
template <typename T>
KeyRule store_key(std::string path, T StoreSpec::*member, std::string description) {
  return key_at(
      std::move(path),
      std::move(description), [=](auto& experiment) -> auto& { return experiment.data.store.*member; });
}

// Returns the rule of a member of LabelsSpec that also applies to the published tables, which have label columns, too.
template <typename T>
KeyRule table_key(std::string path, T LabelsSpec::*member, std::string description) {
  return labelled_table_only(key_at(
      std::move(path),
      std::move(description), [=](auto& experiment) -> auto& { return experiment.data.labels.*member; }));
}

// Returns the rule of a member of LabelsSpec that applies only to data.layout csv: label_key("data.labels.csv",
// &LabelsSpec::csv, "...").
KeyRule label_key(std::string path, std::string LabelsSpec::*member, std::string description) {
  return own_table_only(table_key(std::move(path), member, std::move(description)));
}

KeyRule shape_key(std::string path, std::optional<double> StoreShape::*member, std::string description) {
  return input_only(key_at(
      std::move(path),
      std::move(description), [=](auto& experiment) -> auto& { return experiment.data.store.shape.*member; }));
}

void add_set_keys(std::vector<KeyRule>& rules) {
  constexpr auto data = &TrialSpec::data;
  rules.push_back(
      input_only(path_key(key("data.root", data, &DataSpec::root,
                              "Folder of the data set, relative to the working directory, or where a server has it: "
                              "http(s)://, s3://, nfs://."))));
  rules.push_back(
      key("data.format", data, &DataSpec::format,
          "Files to read: PNGs and JPEGs; TFRecords, WebDataset's tar files or cached pixels (see data convert); or "
          "ready-made synthetic batches: the ceiling of the compute side."));
  rules.push_back(input_only(key("data.split", data, &DataSpec::split,
                                 "Images to use, by the data set's lists, folders or column; "
                                 "val where it has one.")));
  rules.push_back(input_only(
      key("data.decoder", data, &DataSpec::decoder, "PNG and JPEG decoder: chexbench's own fast paths, or OpenCV.")));
  rules.push_back(fast_decoder_only(input_only(
      key("data.jpeg", data, &DataSpec::jpeg,
          "Pixels of a JPEG that are decoded: all (full: the same for every decoder), or as few as the network's size "
          "needs (scaled: faster, and other pixels)."))));
  rules.push_back(input_only(key("data.color", data, &DataSpec::color,
                                 "What images are decoded to: gray, of which a network gets three equal channels, or "
                                 "rgb; auto: rgb where data.layout is imagenet, else gray.")));
  rules.push_back(key("data.deliver", data, &DataSpec::deliver,
                      "What a batch holds: f32, 3 channels, normalized; u8, 1 channel (3 of rgb), normalized by the "
                      "engine."));
  rules.push_back(input_only(key("data.on_bad_record", data, &DataSpec::on_bad_record,
                                 "A corrupt image or record stops the trial, or is skipped and counted.")));
}

void add_layout_keys(std::vector<KeyRule>& rules) {
  rules.push_back(input_only(key("data.layout", &TrialSpec::data, &DataSpec::layout,
                                 "How the root holds its labels: ChestX-ray14's table (nih), a table of one's own "
                                 "(csv), a folder for each class (folders), CheXpert's tables (chexpert), those of "
                                 "MIMIC-CXR-JPG (mimic), TensorFlow's shards of ImageNet (imagenet), or what is found "
                                 "(auto).")));
  rules.push_back(label_key("data.labels.csv", &LabelsSpec::csv,
                            "The table's path in the root; empty: the only *.csv that lies there."));
  rules.push_back(label_key("data.labels.image_column", &LabelsSpec::image_column,
                            "Column of the image files' names; empty: the first."));
  rules.push_back(table_key("data.labels.columns", &LabelsSpec::columns,
                            "Columns of 0 and 1, a label each: names and patterns with *, as a list or joined by "
                            "commas."));
  rules.back().values.names = true;
  rules.push_back(label_key("data.labels.separator", &LabelsSpec::separator,
                            "Not empty: data.labels.columns is one column, whose fields hold names joined by this."));
  rules.push_back(joined_labels_only(
      label_key("data.labels.none", &LabelsSpec::none, "The name that stands for no label; empty: none does.")));
  rules.push_back(label_key("data.labels.split_column", &LabelsSpec::split_column,
                            "Column that says train, val or test; empty: there are no splits."));
  rules.push_back(label_key("data.labels.patient_column", &LabelsSpec::patient_column,
                            "Column that tells patients apart; empty: each image is another."));
  rules.push_back(table_key("data.labels.uncertain", &LabelsSpec::uncertain,
                            "What -1 means in a label column: 0 (U-Zeros), 1 (U-Ones), or that loss and scores leave "
                            "the label out (U-Ignore); auto: U-Ones, but an error where data.layout is csv."));
  rules.push_back(table_key("data.labels.blank", &LabelsSpec::blank,
                            "What an empty field means in a label column, in the same words; auto: U-Zeros, but an "
                            "error where data.layout is csv."));
  rules.push_back(numbered_classes_only(at_most(
      100'000, key_at(
                   "data.labels.classes",
                   "How many classes there are; 0: as many as the highest in the shards, or ChestX-ray14's labels in "
                   "ready-made batches.",
                   [](auto& experiment) -> auto& { return experiment.data.labels.classes; }))));
}

void add_preprocess_keys(std::vector<KeyRule>& rules) {
  constexpr auto preprocess = &TrialSpec::preprocess;
  rules.push_back(input_only(key("preprocess.resize", preprocess, &PreprocessSpec::resize, "Resize method.")));
  rules.push_back(
      input_only(key("preprocess.flip", preprocess, &PreprocessSpec::flip, "Flip half of the images horizontally.")));
  rules.push_back(input_only(at_least(
      0.1, at_most(1, key("preprocess.crop", preprocess, &PreprocessSpec::crop,
                          "Share of an image's width and height that is seen, somewhere in it; in a validation in its "
                          "middle.")))));
  rules.push_back(
      input_only(key("preprocess.resized_crop", preprocess, &PreprocessSpec::resized_crop,
                     "In training, 8 to 100 % of an image's area is seen, as a window of 3:4 to 4:3, resized "
                     "to the network's input; in a validation all of it. As torchvision's "
                     "RandomResizedCrop.")));
}

// The limits keep every sleep clearly shorter than a hang.
void add_shape_keys(std::vector<KeyRule>& rules) {
  constexpr double kSlowest = 1e-3;  // MB/s, and requests per second
  constexpr double kFastest = 1e9;
  constexpr double kMostDelayMs = 60'000;
  rules.push_back(at_most(
      kFastest, at_least(kSlowest, shape_key("store.shape.bandwidth_mb_per_s", &StoreShape::bandwidth_mb_per_s,
                                             "Slows reading down, for each rank, to so many MB/s; null: it does "
                                             "not."))));
  rules.push_back(at_most(kMostDelayMs, shape_key("store.shape.latency_ms", &StoreShape::latency_ms,
                                                  "Added to each request (a file, or 1 MiB of a shard); null: "
                                                  "nothing.")));
  rules.push_back(at_most(kMostDelayMs, shape_key("store.shape.jitter_ms", &StoreShape::jitter_ms,
                                                  "Mean of a random latency on top: exponential, from a fixed seed; "
                                                  "null: none.")));
  rules.push_back(at_most(
      kFastest, at_least(kSlowest, shape_key("store.shape.iops", &StoreShape::iops,
                                             "Requests of a rank that may begin in a second; null: any number."))));
}

void add_store_keys(std::vector<KeyRule>& rules) {
  rules.push_back(s3_only(store_key("store.endpoint", &StoreSpec::endpoint,
                                    "Server, http(s)://host[:port]; empty: as AWS_ENDPOINT_URL says, or Amazon's.")));
  rules.push_back(s3_only(store_key("store.region", &StoreSpec::region,
                                    "Region of the bucket; empty: as AWS_REGION or ~/.aws/config say.")));
  rules.push_back(s3_only(store_key("store.addressing", &StoreSpec::addressing,
                                    "Whether the bucket stands in the path or before the host's name; auto: in the "
                                    "path where an endpoint is given.")));
  rules.push_back(
      distant_only(at_most(3600, above(0, store_key("store.timeout_s", &StoreSpec::timeout_s,
                                                    "Seconds to connect, and with less than 1 kB/s coming in, after "
                                                    "which a request has failed; one as a whole has 15 times as "
                                                    "long.")))));
  rules.push_back(distant_only(at_most(100, at_least(1, store_key("store.tries", &StoreSpec::tries,
                                                                  "How often a request is tried, with pauses that "
                                                                  "grow.")))));
  rules.push_back(
      web_only(store_key("store.redirects", &StoreSpec::redirects,
                         "Redirects that are followed: to the same scheme, host and port only (same_host), or to any "
                         "(any), without a password and never from https to http.")));
  rules.push_back(mapped_only(store_key("store.read", &StoreSpec::read,
                                        "How shards and cached pixels are read: mapped, or copied, for files that "
                                        "other programs may change meanwhile.")));
  add_shape_keys(rules);
}

}  // namespace

void add_data_keys(std::vector<KeyRule>& rules) {
  add_set_keys(rules);
  add_layout_keys(rules);
  add_preprocess_keys(rules);
  add_store_keys(rules);
}

namespace {

KeyRule class_weights_key() {
  KeyRule rule = trained_only(key("training.class_weights", &TrialSpec::training, &TrainingSpec::class_weights,
                                  "What each label or class counts in the loss: none (all alike), balanced (by how "
                                  "many of the images that train have it), or numbers, one for all or one for each; "
                                  "of multi_label, they are PyTorch's pos_weight."));
  rule.values.names = rule.values.numbers = true;
  return rule;
}

}  // namespace

void add_learning_keys(std::vector<KeyRule>& rules) {
  constexpr auto training = &TrialSpec::training;
  rules.push_back(at_most(
      1000, trained_only(key("training.weight_decay", training, &TrainingSpec::weight_decay,
                             "Of all parameters: L2 with adam and sgd, decoupled with adamw, as in torch.optim."))));
  rules.push_back(at_most(
      1e15, above(0, trained_only(key("training.clip_gradient_norm", training, &TrainingSpec::clip_gradient_norm,
                                      "The most that the norm of all gradients together may be, after they "
                                      "were averaged over the ranks; null: no limit.")))));
  rules.push_back(
      at_most(1, trained_only(key("training.ema_decay", training, &TrainingSpec::ema_decay,
                                  "Below 1: an exponential moving average of the weights, which is what validates "
                                  "and what best.safetensors holds; 0: none."))));
  rules.push_back(trained_only(key("training.task", training, &TrainingSpec::task,
                                   "multi_label: an image has any number of labels (sigmoid); classes: exactly one "
                                   "(softmax cross-entropy, top-1 and top-5).")));
  rules.push_back(
      at_most(1, trained_only(key("training.label_smoothing", training, &TrainingSpec::label_smoothing,
                                  "Below 1: share of each target that is spread evenly over what it could be."))));
  rules.push_back(class_weights_key());
}

}  // namespace chexbench::spec
