// A field of a record as files name it. Fields that become columns of CSV files also say what their column holds.
#pragma once

namespace chexbench::results {

// All texts are literals, or outlive the visit that they are passed to. It converts to its name, so that a visitor that
// needs only the name takes `const char* name`.
struct Field {
  const char* name = "";
  const char* unit = "";      // "s", "bytes", "images/s"; "1" for ratios and shares; "" for what has no unit
  const char* meaning = "";   // a phrase without a full stop
  const char* empty_if = "";  // when there is no value: a clause without "if"; "" if there always is one

  constexpr operator const char*() const { return name; }
};

}  // namespace chexbench::results
