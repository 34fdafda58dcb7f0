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
  rules.push_back(input_only(path_key(
      key("data.root", data, &DataSpec::root,
          "Folder of the data set, relative to the working directory, or a URL: http(s)://, s3://, nfs://."))));
  rules.push_back(
      key("data.format", data, &DataSpec::format,
          "What a trial reads: image files (png: PNG, JPEG, DICOM), TFRecords, WebDataset's tar files, cached pixels "
          "(see data convert), or ready-made synthetic batches, the ceiling of the compute side."));
  rules.push_back(
      input_only(key("data.split", data, &DataSpec::split,
                     "Images to use, by the data set's lists, folders or column; val only if the data set has one.")));
  rules.push_back(input_only(key("data.decoder", data, &DataSpec::decoder,
                                 "Decoder of PNGs and JPEGs: chexbench's own fast paths, or OpenCV.")));
  rules.push_back(fast_decoder_only(
      input_only(key("data.jpeg", data, &DataSpec::jpeg,
                     "full decodes all pixels of a JPEG, the same for every decoder; scaled decodes it at 1/2, 1/4 or "
                     "1/8 if the network needs no more, which is faster but gives other pixels."))));
  rules.push_back(input_only(key("data.color", data, &DataSpec::color,
                                 "What images are decoded to: gray, replicated to three equal channels for the "
                                 "network, or rgb; auto: rgb where data.layout is imagenet, else gray.")));
  rules.push_back(key("data.deliver", data, &DataSpec::deliver,
                      "What a batch contains: f32, three normalized channels; u8, one channel (three for rgb), which "
                      "the engine normalizes."));
  rules.push_back(input_only(key("data.on_bad_record", data, &DataSpec::on_bad_record,
                                 "Whether a corrupt image or record stops the trial, or is skipped and counted.")));
}

void add_layout_keys(std::vector<KeyRule>& rules) {
  rules.push_back(
      input_only(key("data.layout", &TrialSpec::data, &DataSpec::layout,
                     "How the root stores its labels: ChestX-ray14's table (nih), your own table (csv), a folder for "
                     "each class (folders), CheXpert's tables (chexpert), MIMIC-CXR-JPG's tables (mimic), TensorFlow's "
                     "shards of ImageNet (imagenet), or the first of these that fits (auto).")));
  rules.push_back(
      label_key("data.labels.csv", &LabelsSpec::csv, "Path of the table in the root; empty: the only *.csv there."));
  rules.push_back(label_key("data.labels.image_column", &LabelsSpec::image_column,
                            "Column of file names: a path in the root, or a bare name in any folder below it, with or "
                            "without its extension; empty: the first column."));
  rules.push_back(table_key(
      "data.labels.columns", &LabelsSpec::columns,
      "Columns of 0 and 1 (or truth values such as True), one label each, in output order: names, or patterns in which "
      "* is any text, as a list or joined by commas. * alone: all but the image, split and patient columns."));
  rules.back().values.names = true;
  rules.push_back(label_key("data.labels.separator", &LabelsSpec::separator,
                            "If not empty, data.labels.columns is one column of names joined by this; the labels are "
                            "all names that occur, sorted."));
  rules.push_back(
      joined_labels_only(label_key("data.labels.none", &LabelsSpec::none,
                                   "The name that means no label, such as No Finding; empty: there is none.")));
  rules.push_back(label_key("data.labels.split_column", &LabelsSpec::split_column,
                            "Column of train, val (valid, validation) or test; empty: there are no splits, so only "
                            "data.split all has images."));
  rules.push_back(label_key("data.labels.patient_column", &LabelsSpec::patient_column,
                            "Column that identifies the patient; empty: each image counts as a separate patient."));
  rules.push_back(
      table_key("data.labels.uncertain", &LabelsSpec::uncertain,
                "What -1 means in a label column: 0 (U-Zeros), 1 (U-Ones), or that loss and scores ignore that label "
                "of the image (U-Ignore); auto: U-Ones, but an error where data.layout is csv."));
  rules.push_back(table_key("data.labels.blank", &LabelsSpec::blank,
                            "What an empty field means in a label column, in the same words; auto: U-Zeros, but an "
                            "error where data.layout is csv."));
  rules.push_back(numbered_classes_only(at_most(
      100'000,
      key_at(
          "data.labels.classes",
          "Number of classes; 0: the highest class in the shards, or ChestX-ray14's labels in ready-made batches.",
          [](auto& experiment) -> auto& { return experiment.data.labels.classes; }))));
}

void add_preprocess_keys(std::vector<KeyRule>& rules) {
  constexpr auto preprocess = &TrialSpec::preprocess;
  rules.push_back(input_only(key("preprocess.resize", preprocess, &PreprocessSpec::resize, "Resize method.")));
  rules.push_back(
      input_only(key("preprocess.flip", preprocess, &PreprocessSpec::flip, "Flips half of the images horizontally.")));
  rules.push_back(input_only(at_least(
      0.1,
      at_most(
          1,
          key("preprocess.crop", preprocess, &PreprocessSpec::crop,
              "Share of an image's width and height that is used, at a random place; in validation, the center.")))));
  rules.push_back(
      input_only(key("preprocess.resized_crop", preprocess, &PreprocessSpec::resized_crop,
                     "Training sees a window of 8 to 100 % of an image's area, at 3:4 to 4:3, resized to the network's "
                     "input, like torchvision's RandomResizedCrop; validation sees the whole image.")));
}

// The limits keep every sleep clearly shorter than a hang.
void add_shape_keys(std::vector<KeyRule>& rules) {
  constexpr double kSlowest = 1e-3;  // MB/s, and requests per second
  constexpr double kFastest = 1e9;
  constexpr double kMostDelayMs = 60'000;
  rules.push_back(at_most(
      kFastest, at_least(kSlowest, shape_key("store.shape.bandwidth_mb_per_s", &StoreShape::bandwidth_mb_per_s,
                                             "Limits each rank's reading to this many MB/s; null: no limit."))));
  rules.push_back(at_most(kMostDelayMs, shape_key("store.shape.latency_ms", &StoreShape::latency_ms,
                                                  "Added to each request (a file, or 1 MiB of a shard); null: "
                                                  "nothing.")));
  rules.push_back(at_most(kMostDelayMs, shape_key("store.shape.jitter_ms", &StoreShape::jitter_ms,
                                                  "Mean of a random latency on top: exponential, from a fixed seed; "
                                                  "null: none.")));
  rules.push_back(
      at_most(kFastest, at_least(kSlowest, shape_key("store.shape.iops", &StoreShape::iops,
                                                     "Requests that a rank may start per second; null: any number."))));
}

void add_store_keys(std::vector<KeyRule>& rules) {
  rules.push_back(s3_only(store_key("store.endpoint", &StoreSpec::endpoint,
                                    "Server, http(s)://host[:port]; empty: AWS_ENDPOINT_URL, or Amazon's.")));
  rules.push_back(s3_only(
      store_key("store.region", &StoreSpec::region, "Region of the bucket; empty: from AWS_REGION or ~/.aws/config.")));
  rules.push_back(s3_only(store_key("store.addressing", &StoreSpec::addressing,
                                    "Whether the bucket is in the path or before the host name (virtual); auto: in the "
                                    "path if an endpoint is given.")));
  rules.push_back(distant_only(
      at_most(3600, above(0, store_key("store.timeout_s", &StoreSpec::timeout_s,
                                       "A request fails after this many seconds of connecting or of receiving less "
                                       "than 1 kB/s, or after 15 times as long in total.")))));
  rules.push_back(
      distant_only(at_most(100, at_least(1, store_key("store.tries", &StoreSpec::tries,
                                                      "How many times a request is tried, with growing pauses.")))));
  rules.push_back(web_only(store_key("store.redirects", &StoreSpec::redirects,
                                     "Which redirects are followed: same_host, to the same scheme, host and port; any, "
                                     "without a password and never from https to http.")));
  rules.push_back(mapped_only(store_key("store.read", &StoreSpec::read,
                                        "How shards and cached pixels are read: mapped, or copied, which is safe if "
                                        "other programs may change the files during the run.")));
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
  KeyRule rule = trained_only(
      key("training.class_weights", &TrialSpec::training, &TrainingSpec::class_weights,
          "Weight of each label or class in the loss: none; a number; a list with one number for each; or balanced, "
          "counted over the training images. For multi_label it is PyTorch's pos_weight (balanced: negatives / "
          "positives), for classes its weight (balanced: images / classes / images of the class)."));
  rule.values.names = rule.values.numbers = true;
  return rule;
}

}  // namespace

void add_learning_keys(std::vector<KeyRule>& rules) {
  constexpr auto training = &TrialSpec::training;
  rules.push_back(at_most(
      1000, trained_only(key(
                "training.weight_decay", training, &TrainingSpec::weight_decay,
                "Applies to all parameters, including norms and biases, as in torch.optim: added to the gradient (L2) "
                "with adam and sgd, subtracted from the weights with adamw, whose default in PyTorch is 0.01."))));
  rules.push_back(at_most(
      1e15,
      above(0, trained_only(
                   key("training.clip_gradient_norm", training, &TrainingSpec::clip_gradient_norm,
                       "Upper limit of the norm of all gradients together, as in clip_grad_norm_; null: no limit.")))));
  rules.push_back(at_most(
      1, trained_only(key("training.ema_decay", training, &TrainingSpec::ema_decay,
                          "Below 1: decay of an exponential moving average of the weights, as in PyTorch's "
                          "get_ema_multi_avg_fn; the average is validated and stored in best.safetensors. 0: none."))));
  rules.push_back(
      trained_only(key("training.task", training, &TrainingSpec::task,
                       "multi_label: an image has any number of labels, each with a sigmoid; classes: exactly one, "
                       "with softmax cross-entropy, scored by top-1 and top-5 instead of AUROC.")));
  rules.push_back(at_most(1, trained_only(key("training.label_smoothing", training, &TrainingSpec::label_smoothing,
                                              "Below 1: share of each target that is spread over 0 and 1 (multi_label, "
                                              "as in Keras) or over all classes (classes, as in PyTorch)."))));
  rules.push_back(class_weights_key());
}

}  // namespace chexbench::spec
