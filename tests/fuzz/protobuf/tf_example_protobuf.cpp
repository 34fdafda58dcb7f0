// tf.Example: the parser against protobuf, whose messages TensorFlow reads. This is only in the preset `fuzz`, because
// nothing else needs protobuf.
#include <algorithm>

#include "example.pb.h"
#include "formats/tf_example.hpp"
#include "fuzz/fuzz.hpp"

namespace chexbench::fuzz {
namespace {

using golden::Example;
using golden::Feature;

// protobuf's result, as far as chexbench uses it; std::nullopt if data for an image is missing.
struct PeerView {
  std::string encoded, filename, format;
  std::vector<std::int64_t> labels;
  std::optional<std::int64_t> height, patient;
};

const Feature* feature_of(const Example& example, const std::string& key) {
  const auto found = example.features().feature().find(key);
  return found == example.features().feature().end() ? nullptr : &found->second;
}

const std::string* text_of(const Example& example, const std::string& key) {
  const Feature* const feature = feature_of(example, key);
  return feature == nullptr || feature->bytes_list().value().empty() ? nullptr : &feature->bytes_list().value(0);
}

std::optional<std::int64_t> number_of(const Example& example, const std::string& key) {
  const Feature* const feature = feature_of(example, key);
  if (feature == nullptr || feature->int64_list().value().empty()) return std::nullopt;
  return feature->int64_list().value(0);
}

std::optional<PeerView> read_by_protobuf(Bytes record, std::size_t labels) {
  Example example;
  if (!example.ParseFromArray(record.data(), static_cast<int>(record.size()))) return std::nullopt;
  const std::string* const encoded = text_of(example, "image/encoded");
  const std::string* const filename = text_of(example, "image/filename");
  const std::string* const format = text_of(example, "image/format");
  const Feature* const label = feature_of(example, "image/label");
  const bool lacks_format = feature_of(example, "image/format") != nullptr && format == nullptr;
  if (encoded == nullptr || filename == nullptr || filename->empty() || label == nullptr || lacks_format) return {};
  const auto& values = label->int64_list().value();
  if (static_cast<std::size_t>(values.size()) != labels) return std::nullopt;
  if (!std::ranges::all_of(values, [](std::int64_t value) { return value == 0 || value == 1; })) return std::nullopt;
  return PeerView{.encoded = *encoded,
                  .filename = *filename,
                  .format = format == nullptr ? "" : *format,
                  .labels = {values.begin(), values.end()},
                  .height = number_of(example, "image/height"),
                  .patient = number_of(example, "patient_id")};
}

bool same_values(const formats::ExampleView& view, const PeerView& peer) {
  for (std::size_t f = 0; f < peer.labels.size(); ++f) {
    if (view.labels.has(f) != (peer.labels[f] == 1)) return false;
  }
  return std::ranges::equal(view.encoded, std::as_bytes(std::span(peer.encoded))) && view.filename == peer.filename &&
         view.format == peer.format && view.height == peer.height && view.patient == peer.patient;
}

}  // namespace

FUZZ_TARGET(tf_example_protobuf, "formats/tf_example.cpp formats/wire.cpp") {
  Input input(bytes);
  const std::size_t labels = input.byte() % 80;
  const auto view = accepted({ExitCode::data}, [&] { return formats::parse_example(input.rest(), {}, labels); });
  const std::optional<PeerView> peer = read_by_protobuf(input.rest(), labels);
  require(view.has_value() || !peer, "protobuf reads an image where the parser refuses it");
  require(!view || peer, "the parser reads an image where protobuf finds none");
  if (view) require(same_values(*view, *peer), "protobuf reads other values");
}

}  // namespace chexbench::fuzz
