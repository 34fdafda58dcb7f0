#include "spec/trial_spec.hpp"

namespace chexbench::spec {
namespace {

template <typename Enum>
using Names = std::vector<std::pair<Enum, std::string>>;

// One table for each enum, found by the type of the argument.
Names<DataFormat> names_of(DataFormat) {
  return {{DataFormat::images, "images"},  {DataFormat::tfrecord, "tfrecord"}, {DataFormat::webdataset, "webdataset"},
          {DataFormat::cached, "cached"},  {DataFormat::ready, "ready"},       {DataFormat::images, "png"},
          {DataFormat::ready, "synthetic"}};
}
Names<DataLayout> names_of(DataLayout) {
  return {{DataLayout::automatic, "auto"},   {DataLayout::nih, "nih"},           {DataLayout::csv, "csv"},
          {DataLayout::folders, "folders"},  {DataLayout::chexpert, "chexpert"}, {DataLayout::mimic, "mimic"},
          {DataLayout::imagenet, "imagenet"}};
}
Names<UnclearLabel> names_of(UnclearLabel) {
  return {{UnclearLabel::automatic, "auto"},
          {UnclearLabel::ignore, "U-Ignore"},
          {UnclearLabel::zeros, "U-Zeros"},
          {UnclearLabel::ones, "U-Ones"}};
}
Names<Split> names_of(Split) {
  return {{Split::train, "train"}, {Split::val, "val"}, {Split::test, "test"}, {Split::all, "all"}};
}
Names<DecoderKind> names_of(DecoderKind) { return {{DecoderKind::fast, "fast"}, {DecoderKind::opencv, "opencv"}}; }
Names<JpegDecode> names_of(JpegDecode) { return {{JpegDecode::full, "full"}, {JpegDecode::scaled, "scaled"}}; }
Names<Color> names_of(Color) { return {{Color::automatic, "auto"}, {Color::gray, "gray"}, {Color::rgb, "rgb"}}; }
Names<OnBadRecord> names_of(OnBadRecord) { return {{OnBadRecord::stop, "stop"}, {OnBadRecord::skip, "skip"}}; }
Names<ResizeMethod> names_of(ResizeMethod) {
  return {{ResizeMethod::bilinear, "bilinear"}, {ResizeMethod::area, "area"}};
}
Names<Precision> names_of(Precision) {
  return {{Precision::f32, "f32"}, {Precision::tf32, "tf32"}, {Precision::fp16, "fp16"}, {Precision::bf16, "bf16"}};
}
Names<OptimizerKind> names_of(OptimizerKind) {
  return {{OptimizerKind::adam, "adam"}, {OptimizerKind::adamw, "adamw"}, {OptimizerKind::sgd, "sgd"}};
}
Names<Task> names_of(Task) { return {{Task::multi_label, "multi_label"}, {Task::classes, "classes"}}; }
Names<UpdateScheme> names_of(UpdateScheme) {
  return {{UpdateScheme::all_reduce, "all_reduce"},
          {UpdateScheme::ring, "ring"},
          {UpdateScheme::tree, "tree"},
          {UpdateScheme::hierarchical, "hierarchical"},
          {UpdateScheme::parameter_server, "parameter_server"}};
}
Names<CommModel> names_of(CommModel) {
  return {{CommModel::real, "real"},
          {CommModel::shaped, "shaped"},
          {CommModel::alpha_beta, "alpha_beta"},
          {CommModel::none, "none"}};
}
Names<FloatType> names_of(FloatType) {
  return {{FloatType::f32, "f32"}, {FloatType::fp16, "fp16"}, {FloatType::bf16, "bf16"}};
}
Names<CommBackend> names_of(CommBackend) {
  return {{CommBackend::automatic, "auto"}, {CommBackend::nccl, "nccl"}, {CommBackend::mpi, "mpi"}};
}
Names<PageCache> names_of(PageCache) {
  return {{PageCache::as_is, "as_is"}, {PageCache::warm, "warm"}, {PageCache::cold, "cold"}};
}
Names<Schedule> names_of(Schedule) {
  return {{Schedule::constant, "constant"}, {Schedule::cosine, "cosine"}, {Schedule::plateau, "plateau"}};
}
Names<BatchNormMode> names_of(BatchNormMode) {
  return {{BatchNormMode::train, "train"}, {BatchNormMode::frozen, "frozen"}};
}
Names<Freeze> names_of(Freeze) { return {{Freeze::none, "none"}, {Freeze::base, "base"}}; }
Names<Deliver> names_of(Deliver) { return {{Deliver::f32, "f32"}, {Deliver::u8, "u8"}}; }
Names<FileReading> names_of(FileReading) { return {{FileReading::map, "map"}, {FileReading::copy, "copy"}}; }
Names<SecondJobKind> names_of(SecondJobKind) {
  return {{SecondJobKind::none, "none"},         {SecondJobKind::input, "input"},
          {SecondJobKind::training, "training"}, {SecondJobKind::both, "both"},
          {SecondJobKind::memory, "memory"},     {SecondJobKind::page_cache, "page_cache"},
          {SecondJobKind::storage, "storage"}};
}
Names<S3Addressing> names_of(S3Addressing) {
  return {{S3Addressing::automatic, "auto"}, {S3Addressing::path, "path"}, {S3Addressing::virtual_host, "virtual"}};
}
Names<Redirects> names_of(Redirects) { return {{Redirects::same_host, "same_host"}, {Redirects::any, "any"}}; }

}  // namespace

template <typename Enum>
std::span<const std::pair<Enum, std::string>> named_values() {
  static const Names<Enum> names = names_of(Enum{});
  return names;
}

namespace {

template <typename Enum>
std::string word_of(Enum value) {
  for (const auto& [candidate, word] : named_values<Enum>()) {
    if (candidate == value) return word;
  }
  return "unknown";
}

}  // namespace

#define CHEXBENCH_DEFINE(Enum)                                           \
  template std::span<const std::pair<Enum, std::string>> named_values(); \
  std::string to_string(Enum value) { return word_of(value); }
CHEXBENCH_FOR_EACH_NAMED_ENUM(CHEXBENCH_DEFINE)
#undef CHEXBENCH_DEFINE

}  // namespace chexbench::spec
