// A field of a record as files name it, and what else is to be known of it. Each record has, right after its struct, a
// function visit_fields(visit, record), which calls visit(field, member) for each field in turn, and visit_lists() if
// it holds records. They are all that JSON, CSV, messages between ranks and the merging of ranks know of a record. A
// field of which nothing is said is visited by its name alone.
#pragma once

#include <concepts>
#include <type_traits>

namespace chexbench::results {

// What becomes of the values of several ranks: the value of rank 0, the sum or the largest one. Lists are appended by
// `sum`.
enum class Merge { first, sum, largest };

// All texts are literals, or outlive the visit that they are passed to. It converts to its name, so that a visitor that
// needs only the name takes `const char* name`. Names are part of the file formats, so they must not change.
struct Field {
  const char* name = "";
  const char* unit = "";      // "s", "bytes", "images/s"; "1" for ratios and shares; "" for what has no unit
  const char* meaning = "";   // a phrase without a full stop
  const char* empty_if = "";  // when there is no value: a clause without "if"; "" if there always is one
  Merge merge = Merge::first;

  constexpr operator const char*() const { return name; }
};

constexpr Field summed(Field field) {
  field.merge = Merge::sum;
  return field;
}
constexpr Field largest(Field field) {
  field.merge = Merge::largest;
  return field;
}

// A record for a reader, or a const one for a writer.
template <class Record, class Type>
concept MaybeConst = std::same_as<std::remove_const_t<Record>, Type>;

}  // namespace chexbench::results
