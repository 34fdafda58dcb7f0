// The words by which JSON names the values of each enum of a spec.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "spec/experiment.hpp"

namespace chexbench::spec {

// Returns the values of an enum with their words, in the order in which they are shown. names.cpp defines it for every
// enum of experiment.hpp and for Deliver. The table lives as long as the program. Thread-safe.
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
