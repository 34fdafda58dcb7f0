#include "report/economics.hpp"

#include <fmt/format.h>

#include <string>

#include "report/labels.hpp"
#include "report/rates.hpp"

namespace chexbench::report {
namespace {

// Epochs that pay for `conversion_s` where TFRecords give `ratio` times the images/s; nothing where they give no more.
std::optional<double> break_even(double conversion_s, double png_epoch_s, double ratio) {
  const double saved_s = png_epoch_s * (1 - 1 / ratio);
  return saved_s > 0 ? std::optional(conversion_s / saved_s) : std::nullopt;
}

std::string epochs_text(const Economics& economics) {
  if (!economics.epochs) return "it never pays";
  std::string text = fmt::format("it pays after {:.1f} epochs", *economics.epochs);
  if (economics.least_epochs) {
    text += economics.most_epochs
                ? fmt::format(" (95 % interval {:.1f} to {:.1f})", *economics.least_epochs, *economics.most_epochs)
                : fmt::format(" (95 % interval from {:.1f} to never)", *economics.least_epochs);
  }
  return text;
}

}  // namespace

std::optional<Economics> tfrecord_economics(const TrialResult& png, const TrialResult& tfrecord) {
  const auto ratio = paired_rates(tfrecord, png);
  if (!ratio || tfrecord.data.converted_images == 0 || median_rate(png) <= 0) return {};
  const auto images = static_cast<double>(png.data.images);
  const double epoch_s = images / median_rate(png);
  Economics economics{
      .conversion_s = tfrecord.data.conversion_s * images / static_cast<double>(tfrecord.data.converted_images),
      .saved_s = epoch_s * (1 - 1 / ratio->value),
      .tfrecord_bytes = tfrecord.data.tfrecord_bytes};
  economics.epochs = break_even(economics.conversion_s, epoch_s, ratio->value);
  if (ratio->ci95) {
    economics.least_epochs = break_even(economics.conversion_s, epoch_s, ratio->ci95->high);
    economics.most_epochs = break_even(economics.conversion_s, epoch_s, ratio->ci95->low);
  }
  return economics;
}

std::vector<Finding> economics_findings(const std::vector<const TrialResult*>& trials) {
  std::vector<Finding> findings;
  for (const TrialResult* tfrecord_trial : trials) {
    const TrialResult& tfrecord = *tfrecord_trial;
    if (tfrecord.spec.data.format != spec::DataFormat::tfrecord) continue;
    for (const TrialResult* png_trial : trials) {
      const TrialResult& png = *png_trial;
      spec::Experiment like_tfrecord = png.spec;
      like_tfrecord.data.format = spec::DataFormat::tfrecord;
      if (png.spec.data.format != spec::DataFormat::png || !(like_tfrecord == tfrecord.spec)) continue;
      const auto economics = tfrecord_economics(png, tfrecord);
      if (!economics) continue;
      const bool emulated = tfrecord.emulated;
      findings.push_back(
          {.kind = "economics",
           .text =
               fmt::format("{}: converting took {:.1f} s and {:.2f} GB for {} images, and TFRecords save {:.2f} s "
                           "of an epoch of {:.1f} s: {}.",
                           marked(tfrecord.trial, emulated), economics->conversion_s,
                           1e-9 * static_cast<double>(economics->tfrecord_bytes), png.data.images, economics->saved_s,
                           static_cast<double>(png.data.images) / median_rate(png), epochs_text(*economics)),
           .emulated = emulated});
    }
  }
  return findings;
}

}  // namespace chexbench::report
