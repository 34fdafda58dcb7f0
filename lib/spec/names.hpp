// The words that stand for the values of each enum in JSON.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spec/experiment.hpp"

namespace chexbench::spec {

// The values of an enum and their words, in the order in which they are shown. Defined for every enum of
// experiment.hpp and for Deliver.
template <typename Enum>
std::span<const std::pair<Enum, std::string>> named_values();

template <>
std::span<const std::pair<DataFormat, std::string>> named_values();
template <>
std::span<const std::pair<DataLayout, std::string>> named_values();
template <>
std::span<const std::pair<Split, std::string>> named_values();
template <>
std::span<const std::pair<DecoderKind, std::string>> named_values();
template <>
std::span<const std::pair<JpegDecode, std::string>> named_values();
template <>
std::span<const std::pair<OnBadRecord, std::string>> named_values();
template <>
std::span<const std::pair<ResizeMethod, std::string>> named_values();
template <>
std::span<const std::pair<Precision, std::string>> named_values();
template <>
std::span<const std::pair<OptimizerKind, std::string>> named_values();
template <>
std::span<const std::pair<UpdateScheme, std::string>> named_values();
template <>
std::span<const std::pair<CommModel, std::string>> named_values();
template <>
std::span<const std::pair<GradientDtype, std::string>> named_values();
template <>
std::span<const std::pair<CommBackend, std::string>> named_values();
template <>
std::span<const std::pair<PageCache, std::string>> named_values();
template <>
std::span<const std::pair<BatchNormMode, std::string>> named_values();
template <>
std::span<const std::pair<Deliver, std::string>> named_values();

}  // namespace chexbench::spec
