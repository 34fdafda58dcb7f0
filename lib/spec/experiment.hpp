// The experiment spec as plain structs: one member per JSON key, defaults in place..
// Nothing here knows JSON; parse.hpp turns text into these. Immutable once parsed: everybody gets a const reference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/batch.hpp"
#include "spec/ops.hpp"

namespace chexbench::spec {

enum class DataFormat { png, tfrecord, webdataset, cached, synthetic };
// Whether the format's images lie many to a file.
constexpr bool reads_shards(DataFormat format) {
  return format == DataFormat::tfrecord || format == DataFormat::webdataset;
}
enum class DataLayout { automatic, nih, csv, folders };
enum class Split { train, val, test, all };
enum class DecoderKind { fast, opencv };
enum class JpegDecode { full, scaled };
enum class OnBadRecord { stop, skip };
enum class ResizeMethod { bilinear, area };
enum class Precision { f32, tf32, fp16, bf16 };
enum class OptimizerKind { adam, sgd };
enum class UpdateScheme { all_reduce, ring, tree, hierarchical, parameter_server };
enum class CommModel { real, shaped, alpha_beta, none };
enum class GradientDtype { f32, fp16, bf16 };
enum class CommBackend { automatic, nccl, mpi };  // of gradients in device memory
enum class PageCache { as_is, warm, cold };
enum class Schedule { constant, cosine, plateau };
enum class BatchNormMode { train, frozen };
enum class S3Addressing { automatic, path, virtual_host };

// What a store is slowed down to, as one rank sees it. Empty: not limited.
struct StoreShape {
  std::optional<double> bandwidth_mb_per_s;  // 1e6 bytes
  std::optional<double> latency_ms;          // of a request
  std::optional<double> jitter_ms;           // added to it: exponential, with this mean
  std::optional<double> iops;                // requests that begin in a second

  friend bool operator==(const StoreShape&, const StoreShape&) = default;
};

// How a store is asked that is no folder of this machine.
struct StoreSpec {
  std::string endpoint;  // of s3://; empty: as the environment says, or Amazon's
  std::string region;    // of s3://; empty: likewise
  S3Addressing addressing = S3Addressing::automatic;
  double timeout_s = 20;  // to connect, and with not a byte coming in
  int tries = 5;          // of a request
  StoreShape shape;

  friend bool operator==(const StoreSpec&, const StoreSpec&) = default;
};

// Which labels the images of a root with a table of one's own have: data.layout csv.
struct LabelsSpec {
  std::string csv;             // the table, in the root; empty: the only *.csv there
  std::string image_column;    // file names; empty: the first column
  std::string columns = "*";   // of 0 and 1: names and patterns ('*' stands for any text), joined by commas
  std::string separator;       // not empty: `columns` is one column of names, joined by this
  std::string none;            // with a separator: the name that stands for no label
  std::string split_column;    // train, val or test; empty: the set has no splits
  std::string patient_column;  // empty: each image is a patient of its own

  friend bool operator==(const LabelsSpec&, const LabelsSpec&) = default;
};

struct DataSpec {
  std::string root;  // relative to the working directory, or an URL; empty only with format synthetic
  DataFormat format = DataFormat::png;
  Split split = Split::train;
  DecoderKind decoder = DecoderKind::fast;
  Deliver deliver = Deliver::f32;
  OnBadRecord on_bad_record = OnBadRecord::stop;
  StoreSpec store = {};
  DataLayout layout = DataLayout::automatic;
  LabelsSpec labels = {};
  JpegDecode jpeg = JpegDecode::full;

  friend bool operator==(const DataSpec&, const DataSpec&) = default;
};

struct PreprocessSpec {
  ResizeMethod resize = ResizeMethod::bilinear;
  bool flip = false;
  double crop = 1;  // share of an image's sides that is seen: at random in training, the middle in validation

  friend bool operator==(const PreprocessSpec&, const PreprocessSpec&) = default;
};

struct ModelSpec {
  std::string name = "resnet50";
  int image_size = 224;
  std::string weights = "random";  // or the path of a safetensors file
  BatchNormMode batch_norm = BatchNormMode::train;
  bool dropout = true;  // where the network has it
  std::uint64_t seed = 1;

  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

struct TrainingSpec {
  int batch_size = 16;       // per rank
  int accumulate_steps = 1;  // batches of a step, whose gradients are averaged before its one reduction and update
  Precision precision = Precision::f32;
  OptimizerKind optimizer = OptimizerKind::adam;
  double learning_rate = 1e-3;
  double momentum = 0.9;  // sgd only
  int epochs = 0;         // over the images that train, with a validation after each; 0: measure.steps instead
  Schedule schedule = Schedule::constant;  // of the learning rate, as all below with epochs only
  double warmup_epochs = 0;                // in which it rises from 0
  bool scale_learning_rate = false;        // times the ranks
  int plateau_patience = 1;                // epochs without a better validation loss
  double plateau_factor = 0.1;
  double validation_share = 0.1;       // of the split's patients
  std::string checkpoint;              // to go on from; empty: a new training
  std::optional<double> target_auroc;  // the mean over findings whose time is told
  // Engine cuda only.
  bool deterministic = false;  // the same bits on the same device, each time
  bool fused = true;           // convolutions with what surrounds them, where that was measured to be faster
  bool cuda_graph = true;      // a step is launched as a whole

  friend bool operator==(const TrainingSpec&, const TrainingSpec&) = default;
};

struct CommSpec {
  UpdateScheme update = UpdateScheme::all_reduce;  // the library's own, or one of ours over messages between ranks
  int servers = 1;                                 // parameter_server: ranks that serve too
  int ranks_per_group = 0;                         // hierarchical: consecutive ranks; 0: those of a host
  std::int64_t bucket_bytes = 26214400;
  std::int64_t first_bucket_bytes = 1048576;          // small, so that communication starts early (PyTorch DDP)
  GradientDtype gradient_dtype = GradientDtype::f32;  // between ranks; they are summed in f32
  CommModel model = CommModel::real;
  CommBackend backend = CommBackend::automatic;
  double alpha_s = 3e-6;          // alpha_beta, shaped: latency of a message
  double beta_bytes_per_s = 9e9;  // alpha_beta, shaped: bandwidth of a link
  double launch_s = 0;            // alpha_beta: fixed cost of a bucket

  friend bool operator==(const CommSpec&, const CommSpec&) = default;
};

struct MeasureSpec {
  int warmup_steps = 3;
  int steps = 12;
  int repeats = 6;
  PageCache page_cache = PageCache::as_is;
  std::uint64_t seed = 1;
  bool attribution = true;               // ops time their work, so that waits can be booked to them
  bool trace = false;                    // threads record what they do, for trace.json
  std::optional<double> max_seconds;     // of one trial, all repeats together
  std::optional<double> relative_error;  // half width of the 95 % interval / median at which a trial may end

  friend bool operator==(const MeasureSpec&, const MeasureSpec&) = default;
};

// One trial, fully resolved: nothing is swept any more.
struct Experiment {
  std::string name = "experiment";
  DataSpec data;
  PreprocessSpec preprocess;
  PipelineSpec pipeline;  // the preset or file already expanded to its ops
  ModelSpec model;
  TrainingSpec training;
  std::string engine = "auto";  // auto | cuda | onednn | none | emulated:<profile>
  CommSpec comm;
  int ranks = 0;                      // 0: all
  std::optional<int> cores_per_rank;  // empty: floor(cores / largest local world)
  bool all_cores = false;             // "all": every rank may use every core
  MeasureSpec measure;

  friend bool operator==(const Experiment&, const Experiment&) = default;
};

// Names as they stand in JSON, e.g. to_string(DataFormat::png) == "png".
std::string to_string(DataFormat value);
std::string to_string(DataLayout value);
std::string to_string(Split value);
std::string to_string(DecoderKind value);
std::string to_string(JpegDecode value);
std::string to_string(OnBadRecord value);
std::string to_string(ResizeMethod value);
std::string to_string(Precision value);
std::string to_string(OptimizerKind value);
std::string to_string(UpdateScheme value);
std::string to_string(CommModel value);
std::string to_string(GradientDtype value);
std::string to_string(CommBackend value);
std::string to_string(PageCache value);
std::string to_string(Schedule value);
std::string to_string(BatchNormMode value);
std::string to_string(Deliver value);
std::string to_string(S3Addressing value);

}  // namespace chexbench::spec
