#include "spec/names.hpp"

namespace chexbench::spec {
namespace {

template <typename Enum>
using Names = std::vector<std::pair<Enum, std::string>>;

template <typename Enum>
std::string word_of(Enum value) {
  for (const auto& [candidate, word] : named_values<Enum>()) {
    if (candidate == value) return word;
  }
  return "unknown";
}

}  // namespace

template <>
std::span<const std::pair<DataFormat, std::string>> named_values() {
  static const Names<DataFormat> names = {{DataFormat::png, "png"},
                                          {DataFormat::tfrecord, "tfrecord"},
                                          {DataFormat::webdataset, "webdataset"},
                                          {DataFormat::cached, "cached"},
                                          {DataFormat::synthetic, "synthetic"}};
  return names;
}

template <>
std::span<const std::pair<DataLayout, std::string>> named_values() {
  static const Names<DataLayout> names = {{DataLayout::automatic, "auto"},
                                          {DataLayout::nih, "nih"},
                                          {DataLayout::csv, "csv"},
                                          {DataLayout::folders, "folders"}};
  return names;
}

template <>
std::span<const std::pair<Split, std::string>> named_values() {
  static const Names<Split> names = {
      {Split::train, "train"}, {Split::val, "val"}, {Split::test, "test"}, {Split::all, "all"}};
  return names;
}

template <>
std::span<const std::pair<DecoderKind, std::string>> named_values() {
  static const Names<DecoderKind> names = {{DecoderKind::fast, "fast"}, {DecoderKind::opencv, "opencv"}};
  return names;
}

template <>
std::span<const std::pair<JpegDecode, std::string>> named_values() {
  static const Names<JpegDecode> names = {{JpegDecode::full, "full"}, {JpegDecode::scaled, "scaled"}};
  return names;
}

template <>
std::span<const std::pair<OnBadRecord, std::string>> named_values() {
  static const Names<OnBadRecord> names = {{OnBadRecord::stop, "stop"}, {OnBadRecord::skip, "skip"}};
  return names;
}

template <>
std::span<const std::pair<ResizeMethod, std::string>> named_values() {
  static const Names<ResizeMethod> names = {{ResizeMethod::bilinear, "bilinear"}, {ResizeMethod::area, "area"}};
  return names;
}

template <>
std::span<const std::pair<Precision, std::string>> named_values() {
  static const Names<Precision> names = {
      {Precision::f32, "f32"}, {Precision::tf32, "tf32"}, {Precision::fp16, "fp16"}, {Precision::bf16, "bf16"}};
  return names;
}

template <>
std::span<const std::pair<OptimizerKind, std::string>> named_values() {
  static const Names<OptimizerKind> names = {{OptimizerKind::adam, "adam"}, {OptimizerKind::sgd, "sgd"}};
  return names;
}

template <>
std::span<const std::pair<UpdateScheme, std::string>> named_values() {
  static const Names<UpdateScheme> names = {{UpdateScheme::all_reduce, "all_reduce"},
                                            {UpdateScheme::ring, "ring"},
                                            {UpdateScheme::tree, "tree"},
                                            {UpdateScheme::hierarchical, "hierarchical"},
                                            {UpdateScheme::parameter_server, "parameter_server"}};
  return names;
}

template <>
std::span<const std::pair<CommModel, std::string>> named_values() {
  static const Names<CommModel> names = {{CommModel::real, "real"},
                                         {CommModel::shaped, "shaped"},
                                         {CommModel::alpha_beta, "alpha_beta"},
                                         {CommModel::none, "none"}};
  return names;
}

template <>
std::span<const std::pair<GradientDtype, std::string>> named_values() {
  static const Names<GradientDtype> names = {
      {GradientDtype::f32, "f32"}, {GradientDtype::fp16, "fp16"}, {GradientDtype::bf16, "bf16"}};
  return names;
}

template <>
std::span<const std::pair<CommBackend, std::string>> named_values() {
  static const Names<CommBackend> names = {
      {CommBackend::automatic, "auto"}, {CommBackend::nccl, "nccl"}, {CommBackend::mpi, "mpi"}};
  return names;
}

template <>
std::span<const std::pair<PageCache, std::string>> named_values() {
  static const Names<PageCache> names = {
      {PageCache::as_is, "as_is"}, {PageCache::warm, "warm"}, {PageCache::cold, "cold"}};
  return names;
}

template <>
std::span<const std::pair<Schedule, std::string>> named_values() {
  static const Names<Schedule> names = {
      {Schedule::constant, "constant"}, {Schedule::cosine, "cosine"}, {Schedule::plateau, "plateau"}};
  return names;
}

template <>
std::span<const std::pair<BatchNormMode, std::string>> named_values() {
  static const Names<BatchNormMode> names = {{BatchNormMode::train, "train"}, {BatchNormMode::frozen, "frozen"}};
  return names;
}

template <>
std::span<const std::pair<Deliver, std::string>> named_values() {
  static const Names<Deliver> names = {{Deliver::f32, "f32"}, {Deliver::u8, "u8"}};
  return names;
}

template <>
std::span<const std::pair<S3Addressing, std::string>> named_values() {
  static const Names<S3Addressing> names = {
      {S3Addressing::automatic, "auto"}, {S3Addressing::path, "path"}, {S3Addressing::virtual_host, "virtual"}};
  return names;
}

std::string to_string(DataFormat value) { return word_of(value); }
std::string to_string(DataLayout value) { return word_of(value); }
std::string to_string(Split value) { return word_of(value); }
std::string to_string(DecoderKind value) { return word_of(value); }
std::string to_string(JpegDecode value) { return word_of(value); }
std::string to_string(OnBadRecord value) { return word_of(value); }
std::string to_string(ResizeMethod value) { return word_of(value); }
std::string to_string(Precision value) { return word_of(value); }
std::string to_string(OptimizerKind value) { return word_of(value); }
std::string to_string(UpdateScheme value) { return word_of(value); }
std::string to_string(CommModel value) { return word_of(value); }
std::string to_string(GradientDtype value) { return word_of(value); }
std::string to_string(CommBackend value) { return word_of(value); }
std::string to_string(PageCache value) { return word_of(value); }
std::string to_string(Schedule value) { return word_of(value); }
std::string to_string(BatchNormMode value) { return word_of(value); }
std::string to_string(Deliver value) { return word_of(value); }
std::string to_string(S3Addressing value) { return word_of(value); }

}  // namespace chexbench::spec
