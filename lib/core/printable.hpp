// Shows text of unknown origin in messages and on terminals, and keeps the secrets of URLs out of output and records.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace chexbench {

// Returns `text` for quoting in a message, on one line and without effect on a terminal: control characters, marks that
// change the direction or break the line (U+200E, U+2028, U+202E and similar), and bytes that are not UTF-8 become
// \xNN; everything else is unchanged, including backslashes. The result has at most `max_bytes` bytes, followed by
// "..." if something was cut off. Thread-safe.
std::string printable(std::string_view text, std::size_t max_bytes = 200);

// Does the same for a text of several lines, keeping line ends and tabs, and without cutting. Thread-safe.
std::string printable_lines(std::string_view text);

// Returns how many bytes the character at the beginning of `text` has, 1 to 4, or 0 if there is none: `text` is empty,
// ends in the middle of one, or has a sequence that RFC 3629 forbids (overlong forms, surrogates, more than U+10FFFF).
std::size_t utf8_character_bytes(std::string_view text);

// Returns whether all of `text` is UTF-8; an empty text is.
bool is_utf8(std::string_view text);

// Returns `text` with U+FFFD for each byte that is not part of a character, because JSON and CSV must be UTF-8.
std::string as_utf8(std::string_view text);

// Returns `text`, which is one URL or one argument of a command line, with possible secrets in its URLs as "...":
// everything before the last '@' (user and password; %40 counts too), an authority whose port is not a number (a
// password without its '@'), and everything after a '?' or '#' (signatures and tokens). A user and password without a
// scheme, as in me:word@host, are hidden as well. When in doubt it hides more: malformed text is split the way its
// author may have meant it. Thread-safe.
std::string without_credentials(std::string_view text);

// Does the same for each URL in a message. A quotation mark, a line end, or a blank after one of ":;," ends a URL.
std::string without_credentials_in_message(std::string_view message);

}  // namespace chexbench
