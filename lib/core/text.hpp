// Text helpers for all rooms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace chexbench {

// Returns `text` with A to Z in lower case.
std::string lower_case(std::string_view text);

// Returns `text` with a to z in upper case.
std::string upper_case(std::string_view text);

// Returns `word` quoted for a shell: in quotes if it has a character that is special there, and in $'...' if it has one
// that printable() escapes, such as a byte that is not UTF-8.
std::string shell_word(const std::string& word);

// Returns a length of time for people, in whole numbers: "45 s", "7 min", "2 h 5 min".
std::string duration_text(double seconds);

// Returns "3 min left", with `bound` before it ("at most 3 min left"), or "nearly done" below half a second: the text
// stays until the next step, and "0 s left" would be wrong all that time.
std::string time_left_text(double seconds, std::string_view bound = "");

// Returns a size for people, with few digits: "28 kB", "443 MB", "1.5 GB".
std::string bytes_text(double bytes);

// Returns a rate, such as images/s, for people: with three digits, or whole with commas: "3.81", "81.2", "812",
// "1,051".
std::string rate_text(double per_s);

// Return a whole number with commas: "112,120".
std::string grouped(std::string digits);
std::string grouped(std::uint64_t count);

// Returns a count of things named `one` in the singular: "1 file", "3,000 files".
std::string count_text(std::uint64_t count, std::string_view one);

// Returns the clause as a sentence: with a capital letter, and a full stop unless it has one. An empty clause stays
// empty.
std::string sentence_of(std::string clause);

}  // namespace chexbench
