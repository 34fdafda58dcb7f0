// For layout csv: finds out which columns of the user's own table are labels, and reads the labels of its rows.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/index.hpp"
#include "dataset/table_rows.hpp"

namespace chexbench::dataset {

// The positions in the header, counted from 0, of the columns that are read.
struct LabelColumns {
  std::size_t count = 0;  // columns in the header
  std::size_t image = 0;
  std::vector<std::size_t> labels;       // the columns of 0 and 1, in the order of label_names
  std::vector<std::string> label_names;  // the names of those columns
  std::size_t joined = 0;                // the one column of label names if data.labels.separator is set, else unused
  std::optional<std::size_t> split, patient;
  std::string likely_patient;  // if `patient` is empty: the name of a column that may be it, or empty
};

// Finds the columns that data.labels (`spec`) names in a table with such a header. A column without a name, as written
// by pandas and spreadsheets, is not a label. If the spec names no column of images, it is the first that has a name,
// or the first of all if the first row has an image's name there. Thread-safe.
// @throws SpecError naming the key, the table and the nearest column (or all columns) if a name or pattern fits no
// column, if data.labels.columns is empty, or if it is more than one column and a separator is given
// @throws DataError if the header names a column twice
LabelColumns find_columns(const TableRows& rows, const spec::LabelsSpec& spec, const std::string& table);

// Reads the labels of the rows, one row after the other. If data.labels.separator is set, all names are known only
// after the last row, so read() numbers them in order of appearance and finish() renumbers them. Keeps references to
// its arguments. Not thread-safe.
class LabelReader {
 public:
  LabelReader(const LabelColumns& columns, const spec::LabelsSpec& spec) : columns_(columns), spec_(spec) {}

  // Returns the labels of one row. `fields` are all of its fields; `where` (file and line) begins the message of an
  // error.
  // A value may be a number or a truth value, in any common spelling. Single letters are truth values in a column that
  // has T and F, or Y and N, and nothing else but blanks: a column with only F may be the sex.
  // @throws DataError naming `where`, the column and the value if a value is neither 0 nor 1, nor defined by
  // data.labels.uncertain or data.labels.blank, or if there are too many different names
  LabelBits read(const std::vector<std::string_view>& fields, std::string_view where);

  // Checks the single letters, once the last row is read. finish() does so, too.
  // @throws DataError if a column that has such letters is not one of truth values
  void check_letters() const;

  // Returns the names of the labels. If a separator is set, they are sorted, and the labels of `rows` are renumbered in
  // that order. @throws DataError if a separator is set and no row has a label, or all are truth values
  std::vector<std::string> finish(const std::string& table, std::vector<IndexRow>& rows);

 private:
  // Returns the keys that a column with this value, and the column of patients, may be meant for, as the end of a
  // message.
  std::string other_keys(const std::string& column, std::string_view value) const;
  // Reads T, F, Y and N, which are truth values if finish() finds that the column allows it. Returns whether it is a
  // letter.
  bool read_letter(std::size_t label, std::string_view value, std::string_view where, LabelBits& labels);
  // @throws DataError that the value is neither 0 nor 1; `hint` suggests what else it could be
  [[noreturn]] void refuse(std::size_t label, std::string_view value, std::string_view where,
                           const std::string& hint) const;
  // Notes a label whose value is neither 0 nor 1 according to the spec. @throws DataError if the spec does not define
  // it
  void set_unclear(std::size_t label, std::string_view value, std::string_view where, LabelBits& labels);
  LabelBits read_names(std::string_view field, std::string_view where);

  const LabelColumns& columns_;
  const spec::LabelsSpec& spec_;
  struct Letters {
    std::set<char> found;      // in lower case
    std::string value, where;  // of the first
  };
  std::map<std::size_t, Letters> letters_;  // of the labels that have any
  std::vector<bool> has_others_;            // for each label: whether it has other values than letters and blanks
  std::map<std::string, std::size_t, std::less<>> names_;  // each name with its number in the order of appearance
};

// Returns whether `pattern` fits the whole `name`. A '*' in the pattern stands for any text, even none.
bool fits(std::string_view pattern, std::string_view name);

// Common to the tables of CheXpert and MIMIC-CXR-JPG: the observations of the CheXpert labeler, and images in a folder
// for each study.

// Returns `labels` for such a table: with `image_column`; with the 14 observations of the labeler in CheXpert's order,
// if it does not choose columns, so that a network trained on one of the sets works on the other; and with the meaning
// of -1 and of an empty field, by default U-Ones and U-Zeros. The log reports that once.
spec::LabelsSpec observation_labels(const spec::LabelsSpec& labels, std::string_view image_column);

// Returns the last `parts` parts of a path, or the whole path if it has fewer: the path of a study's image in its set,
// independent of the folders around it.
std::string_view last_parts(std::string_view path, int parts);

// Returns the image files of the root under the last `parts` parts of their paths, with the ending .jpg used in the
// tables, in the order of names. Names and paths are kept in `names`; `passed` is as in list_images().
// @throws DataError if two files have one name, or a folder cannot be read
std::vector<ImageFile> find_study_files(const storage::DataRoot& root, int parts, NameArena& names, PassedOver* passed);

}  // namespace chexbench::dataset
