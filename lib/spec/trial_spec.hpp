// The experiment spec as plain structs: one member per JSON key, initialized with the key's default. Nothing here
// depends on JSON; parse.hpp turns text into these structs. A spec is immutable once parsed, so threads may share it.
// keys.cpp describes every key and its range.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/batch.hpp"
#include "core/half.hpp"
#include "spec/ops.hpp"

namespace chexbench::spec {

enum class DataFormat { images, tfrecord, webdataset, cached, ready };
// Returns whether files of the format contain many images each.
constexpr bool reads_shards(DataFormat format) {
  return format == DataFormat::tfrecord || format == DataFormat::webdataset;
}
enum class DataLayout { automatic, nih, csv, folders, chexpert, mimic, imagenet };
// How to treat values of a label table other than 0 and 1, named as in Irvin et al., "CheXpert", AAAI 2019: leave the
// label out of loss and scores, or take it as 0 or 1. Automatic: as the layout's publishers suggest, or an error.
enum class UnclearLabel { automatic, ignore, zeros, ones };
enum class Split { train, val, test, all };
enum class DecoderKind { fast, opencv };
enum class JpegDecode { full, scaled };
// The colors that images are decoded to. Automatic: rgb if the layout is imagenet, else gray.
enum class Color { automatic, gray, rgb };
enum class OnBadRecord { stop, skip };
enum class ResizeMethod { bilinear, area };
enum class Precision { f32, tf32, fp16, bf16 };
enum class OptimizerKind { adam, adamw, sgd };
// Returns whether the optimizer also keeps the mean of squared gradients.
constexpr bool is_adam(OptimizerKind kind) { return kind != OptimizerKind::sgd; }
// The labels of an image: any number of independent ones (sigmoid), or exactly one class (softmax).
enum class Task { multi_label, classes };
enum class UpdateScheme { all_reduce, ring, tree, hierarchical, parameter_server };
enum class CommModel { real, shaped, alpha_beta, none };
enum class CommBackend { automatic, nccl, mpi };  // for gradients in device memory
enum class PageCache { as_is, warm, cold };
enum class Schedule { constant, cosine, plateau };
enum class BatchNormMode { train, frozen };
enum class Freeze { none, base };
enum class S3Addressing { automatic, path, virtual_host };
enum class Redirects { same_host, any };
enum class FileReading { map, copy };
// The work of a second job on the host: the same kind as this one's (input, training or both), or work that exhausts a
// single resource (memory bandwidth, page cache, storage).
enum class SecondJobKind { none, input, training, both, memory, page_cache, storage };

// Limits that slow down reading from a store, for each rank separately. An empty member means no limit.
struct StoreShape {
  std::optional<double> bandwidth_mb_per_s;  // in 1e6 bytes per second
  std::optional<double> latency_ms;          // added to each request
  std::optional<double> jitter_ms;           // mean of an additional exponential latency
  std::optional<double> iops;                // requests started per second

  friend bool operator==(const StoreShape&, const StoreShape&) = default;
};

// How to reach a store, and how to read its files.
struct StoreSpec {
  std::string endpoint;  // of s3://; empty: AWS_ENDPOINT_URL, or else Amazon's
  std::string region;    // of s3://; empty: AWS_REGION, or else ~/.aws/config
  S3Addressing addressing = S3Addressing::automatic;
  double timeout_s = 20;  // a request fails after this long without connecting, or (nearly) without bytes
  int tries = 5;          // attempts of a request
  Redirects redirects = Redirects::same_host;  // which redirects of a web server are followed
  FileReading read = FileReading::map;         // of shards and cached pixels in folders of this machine
  StoreShape shape;

  friend bool operator==(const StoreSpec&, const StoreSpec&) = default;
};

// How a table assigns labels to images. Only for data.layout csv, except for `columns`, `uncertain` and `blank`, which
// also apply to the tables of CheXpert and MIMIC-CXR, and `classes`.
struct LabelsSpec {
  std::string csv;             // path of the table in the root; empty: the only *.csv there
  std::string image_column;    // column of the images' file names; empty: the first column
  std::string columns = "*";   // label columns of 0 and 1: names and patterns ('*' is any text), joined by commas
  std::string separator;       // if not empty, `columns` is one column of label names joined by this
  std::string none;            // with a separator: the name that means "no label"
  std::string split_column;    // column with train, val or test; empty: the set has no splits
  std::string patient_column;  // column that identifies patients; empty: one patient per image
  UnclearLabel uncertain = UnclearLabel::automatic;  // what -1 means in a label column
  UnclearLabel blank = UnclearLabel::automatic;      // what an empty field means in a label column
  int classes = 0;  // of layout imagenet and of ready-made batches; 0: the highest class in the shards, or 14 labels

  friend bool operator==(const LabelsSpec&, const LabelsSpec&) = default;
};

// The group "data" and, as `store`, the group "store".
struct DataSpec {
  std::string root;  // folder, relative to the working directory, or a URL; may be empty only for format ready
  DataFormat format = DataFormat::images;
  Split split = Split::train;
  DecoderKind decoder = DecoderKind::fast;
  Deliver deliver = Deliver::f32;
  OnBadRecord on_bad_record = OnBadRecord::stop;
  StoreSpec store = {};
  DataLayout layout = DataLayout::automatic;
  LabelsSpec labels = {};
  JpegDecode jpeg = JpegDecode::full;
  Color color = Color::automatic;

  friend bool operator==(const DataSpec&, const DataSpec&) = default;
};

// Returns gray or rgb.
constexpr Color color_of(const DataSpec& data) {
  if (data.color != Color::automatic) return data.color;
  return data.layout == DataLayout::imagenet ? Color::rgb : Color::gray;
}
// Returns the content of batches: u8 with one channel or three.
constexpr Deliver delivered(const DataSpec& data) {
  return data.deliver == Deliver::u8 && color_of(data) == Color::rgb ? Deliver::u8_rgb : data.deliver;
}

// The group "preprocess".
struct PreprocessSpec {
  ResizeMethod resize = ResizeMethod::bilinear;
  bool flip = false;          // flips half of the images horizontally
  bool resized_crop = false;  // trains on a window of random place, size and shape (pipeline/image_loader.hpp)
  double crop = 1;  // share of width and height that is kept: at a random place in training, central in validation

  friend bool operator==(const PreprocessSpec&, const PreprocessSpec&) = default;
};

// The group "model".
struct ModelSpec {
  std::string name = "resnet50";
  int image_size = 224;            // height and width of the network's input, in pixels
  std::string weights = "random";  // or the path of a safetensors file
  BatchNormMode batch_norm = BatchNormMode::train;
  Freeze freeze = Freeze::none;  // base: only the last layer is trained
  bool dropout = true;           // false removes the network's dropout
  std::uint64_t seed = 1;        // of random weights and of dropout

  // A frozen base must stay as loaded, so its batch norms are frozen, too.
  bool has_frozen_norms() const { return batch_norm == BatchNormMode::frozen || freeze == Freeze::base; }
  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

// The group "training".
struct TrainingSpec {
  int batch_size = 16;        // images per rank (the local batch)
  int accumulate_steps = 1;   // local batches per step; their gradients are averaged before one reduction and update
  bool overlap_input = true;  // false: the next batch is requested only after the engine finished the previous one
  Precision precision = Precision::f32;
  OptimizerKind optimizer = OptimizerKind::adam;
  double learning_rate = 1e-3;
  double momentum = 0.9;                     // sgd only
  double weight_decay = 0;                   // of all parameters; adamw: decoupled, else L2
  std::optional<double> clip_gradient_norm;  // upper limit for the norm of all gradients; empty: no limit
  double ema_decay = 0;                      // of the moving average of the weights used to validate; 0: none
  Task task = Task::multi_label;
  double label_smoothing = 0;          // share of each target spread evenly over its possible values
  std::string class_weights = "none";  // none | balanced (over the training images) | numbers joined by commas
  int epochs = 0;  // epochs over the training images, a validation after each; 0: run measure.steps instead
  // From here to target_auroc: only if epochs > 0.
  Schedule schedule = Schedule::constant;  // of the learning rate
  double warmup_epochs = 0;                // epochs in which the learning rate rises from 0
  bool scale_learning_rate = false;        // multiplies the learning rate by the number of ranks
  int plateau_patience = 1;                // epochs without a better validation loss that count as a plateau
  double plateau_factor = 0.1;             // a plateau multiplies the learning rate by this
  int stop_patience = 0;                   // epochs without a better validation that end the training; 0: never
  double validation_share = 0.1;       // share of the split's patients held out; 0: validate with the training images
  std::string checkpoint;              // path of the checkpoint to continue from; empty: a new training
  std::optional<double> target_auroc;  // the time to reach this mean AUROC is reported
  // Engine cuda only.
  bool deterministic = false;                // bit-identical results on the same device, with slower convolutions
  bool fused = true;                         // fuses convolutions with neighbouring layers where that measured faster
  std::optional<double> tuning_s;            // after that, convolutions take the first plan that runs; empty: no limit
  bool cuda_graph = true;                    // launches a step as one CUDA graph if communication allows it
  bool concurrent_weight_gradients = false;  // runs them on a second stream, in parallel with the rest of backward

  friend bool operator==(const TrainingSpec&, const TrainingSpec&) = default;
};

// The group "comm".
struct CommSpec {
  UpdateScheme update = UpdateScheme::all_reduce;  // the library's all-reduce, or one built from messages between ranks
  int servers = 1;                                 // parameter_server: number of ranks, from 0 on, that also serve
  int ranks_per_group = 0;                         // hierarchical: consecutive ranks per group; 0: one group per host
  std::int64_t bucket_bytes = 26214400;            // gradients averaged at once (25 MiB, as in PyTorch DDP)
  std::int64_t first_bucket_bytes = 1048576;       // small, so that communication starts early (as in PyTorch DDP)
  FloatType gradient_dtype = FloatType::f32;       // type in which gradients are sent; sums are in f32
  CommModel model = CommModel::real;
  CommBackend backend = CommBackend::automatic;
  double stall_limit_s = 60;      // engine cuda: minimum time before an unfinished step is abandoned
  double timeout_s = 1800;        // longest wait for another rank in exchanges between host memories; 0: no limit
  double alpha_s = 3e-6;          // models alpha_beta and shaped: latency of a message, in seconds
  double beta_bytes_per_s = 9e9;  // models alpha_beta and shaped: bandwidth of a link
  double launch_s = 0;            // model alpha_beta: fixed cost of a bucket, in seconds
  // Of model alpha_beta, too (spec/comm_profile.hpp):
  std::string profile = "ideal";  // what software adds to the links: a name, or the path of a file
  std::string link;               // between hosts, by name; empty: alpha_s and beta_bytes_per_s
  std::string host_link;          // between the ranks of a host, by name; empty: as between hosts
  int ranks_per_host = 0;         // consecutive ranks that share a host; 0: every rank has its own

  friend bool operator==(const CommSpec&, const CommSpec&) = default;
};

// The group "emulation": a scale model of accelerators with more cores each than a rank has here.
struct EmulationSpec {
  int cores_per_accelerator = 0;  // cores that feed one accelerator in the model; 0: no scale model
  double core_speed = 1;          // speed of a core here / of one in the model

  friend bool operator==(const EmulationSpec&, const EmulationSpec&) = default;
};

// The group "measure".
struct MeasureSpec {
  int warmup_steps = 3;                     // steps before the measured ones
  int steps = 12;                           // measured steps of a repeat
  int repeats = 6;                          // each with a fresh pipeline and fresh weights
  int extra_repeats = 6;                    // at most this many more, if some were disturbed or vary too much
  PageCache page_cache = PageCache::as_is;  // state of the files before each repeat
  std::uint64_t seed = 1;                   // of shuffles and flips
  bool attribution = true;                  // ops time their work, so that waits can be attributed to them
  bool trace = false;                       // threads record what they do, for trace.json
  std::optional<double> max_seconds;        // a trial ends after the repeat that exceeds this time
  std::optional<double> max_total_seconds;  // once the run's repeats took this long, trials get at most one
  std::optional<double> relative_error;     // a trial ends once half of its 95 % interval / median is below this
  std::optional<double> target_au;          // accelerator utilization needed to pass, as in MLPerf Storage

  friend bool operator==(const MeasureSpec&, const MeasureSpec&) = default;
};

// The group "second_job": a job that runs alongside the trial on each of its hosts.
struct SecondJobSpec {
  SecondJobKind kind = SecondJobKind::none;
  std::string cores = "apart";    // shared: those of the trial | apart: the others | cpus:0-3,8
  std::string engine = "onednn";  // kinds training and both: onednn | emulated:<profile>
  std::string root;               // of the images it reads; empty: data.root

  friend bool operator==(const SecondJobSpec&, const SecondJobSpec&) = default;
};

// One trial, fully resolved: each key has one value.
struct TrialSpec {
  std::string name = "experiment";
  DataSpec data;
  PreprocessSpec preprocess;
  PipelineSpec pipeline;  // presets and files are already expanded to ops
  ModelSpec model;
  TrainingSpec training;
  std::string engine = "auto";  // auto | cuda | onednn | none | emulated:<profile>
  EmulationSpec emulation;
  CommSpec comm;
  int ranks = 0;                      // 0: all ranks of the job
  std::optional<int> cores_per_rank;  // empty: cores of the machine / most ranks on a machine, rounded down
  bool all_cores = false;             // cores_per_rank is "all": each rank may use every core
  SecondJobSpec second_job;
  MeasureSpec measure;

  friend bool operator==(const TrialSpec&, const TrialSpec&) = default;
};

// Returns whether a root is an address such as s3://bucket/images, not a local path.
inline bool is_url(std::string_view root) { return root.find("://") != std::string_view::npos; }

// The enums that a spec names by words; named_values() lists the words of each.
#define CHEXBENCH_FOR_EACH_NAMED_ENUM(DO) \
  DO(DataFormat)                          \
  DO(DataLayout)                          \
  DO(UnclearLabel)                        \
  DO(Split)                               \
  DO(DecoderKind)                         \
  DO(JpegDecode)                          \
  DO(Color)                               \
  DO(OnBadRecord)                         \
  DO(ResizeMethod)                        \
  DO(Precision)                           \
  DO(OptimizerKind)                       \
  DO(Task)                                \
  DO(UpdateScheme)                        \
  DO(CommModel)                           \
  DO(FloatType)                           \
  DO(CommBackend)                         \
  DO(PageCache)                           \
  DO(Schedule)                            \
  DO(BatchNormMode)                       \
  DO(Freeze)                              \
  DO(Deliver)                             \
  DO(S3Addressing)                        \
  DO(Redirects)                           \
  DO(FileReading)                         \
  DO(SecondJobKind)

// to_string() returns the word for a value in JSON, e.g. to_string(DataFormat::images) == "images". It is no template,
// because a call would be ambiguous with CLI11's template.
#define CHEXBENCH_DECLARE(Enum) std::string to_string(Enum value);
CHEXBENCH_FOR_EACH_NAMED_ENUM(CHEXBENCH_DECLARE)
#undef CHEXBENCH_DECLARE

// Returns the values of an enum with their words, in the order in which they are shown. A value's further words are
// aliases, which are read but not written. The table is valid until the program ends. Thread-safe.
template <typename Enum>
std::span<const std::pair<Enum, std::string>> named_values();

}  // namespace chexbench::spec
