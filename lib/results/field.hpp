// A field of a record: its name in files, and its properties. Right after its struct, each record has a function
// visit_fields(visit, record), which calls visit(field, member) for each field, and visit_lists() if it contains
// records. JSON, CSV, messages between ranks and the merging of ranks use nothing else of a record. A field without
// properties is visited by its name alone.
#pragma once

#include <concepts>
#include <type_traits>

namespace chexbench::results {

// How to merge the values of several ranks: take rank 0's, the sum or the largest. `sum` concatenates lists.
enum class Merge { first, sum, largest };

// All texts are literals, or outlive the visit. It converts to its name, so that a visitor that needs only the name
// takes `const char* name`. Names are part of the file formats, so they must not change.
struct Field {
  const char* name = "";
  const char* unit = "";      // "s", "bytes", "images/s"; "1" for ratios and shares; "" without a unit
  const char* meaning = "";   // a phrase without a full stop
  const char* empty_if = "";  // when it has no value: a clause without "if"; "" if it always has one
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
