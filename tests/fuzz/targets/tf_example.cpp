// tf.Example: the parser against its plain twin, and accepted messages against the writer.
#include <algorithm>

#include "formats/tf_example_plain.hpp"
#include "fuzz/fuzz.hpp"

namespace chexbench::fuzz {
namespace {

struct Outcome {
  std::optional<formats::ExampleView> view;
  std::string error;
};

template <typename Parse>
Outcome outcome_of(Parse parse) {
  try {
    return {.view = parse(), .error = {}};
  } catch (const Error& error) {
    check_error(error, {ExitCode::data});
    return {.view = std::nullopt, .error = error.what()};
  }
}

bool same(const formats::ExampleView& a, const formats::ExampleView& b) {
  return std::ranges::equal(a.encoded, b.encoded) && a.filename == b.filename && a.format == b.format &&
         a.labels == b.labels && a.height == b.height && a.width == b.width && a.channels == b.channels &&
         a.patient == b.patient;
}

// A view that was written must be read as it was.
void check_example_round_trip(const formats::ExampleView& view, std::size_t labels) {
  const formats::ExampleFields fields{.filename = view.filename,
                                      .format = view.format,
                                      .labels = view.labels,
                                      .height = view.height.value_or(0),
                                      .width = view.width.value_or(0),
                                      .channels = view.channels.value_or(0),
                                      .patient = view.patient.value_or(0),
                                      .label_count = labels};
  Buffer record;
  formats::write_example(fields, view.encoded, record);
  const formats::ExampleView again = formats::parse_example(record, {}, labels);
  require(std::ranges::equal(again.encoded, view.encoded) && again.filename == view.filename &&
              again.format == view.format && again.labels == view.labels && again.height == fields.height &&
              again.patient == fields.patient,
          "an example that was written is read as another one");
}

}  // namespace

FUZZ_TARGET(tf_example, "formats/tf_example.cpp formats/wire.cpp") {
  Input input(bytes);
  const std::size_t labels = input.byte() % 80;
  const Outcome fast = outcome_of([&] { return formats::parse_example(input.rest(), {}, labels); });
  const Outcome plain = outcome_of([&] { return formats::parse_example_plain(input.rest(), {}, labels); });
  require(fast.view.has_value() == plain.view.has_value(), "the plain twin accepts what the parser refuses, or not");
  if (!fast.view) return;
  require(same(*fast.view, *plain.view), "the plain twin reads other values");
  check_example_round_trip(*fast.view, labels);
}

}  // namespace chexbench::fuzz
