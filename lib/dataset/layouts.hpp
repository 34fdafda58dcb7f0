// The ways in which a root holds its labels, each read into the same Index.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dataset/index.hpp"

namespace chexbench::dataset {

// Which layout the root has: root.layout, or for automatic the first of these that fits what lies in it: a
// Data_Entry*.csv (nih), any other *.csv (csv), folders (folders). Lists the root alone.
// @throws DataError: no such root, or nothing of these in it
spec::DataLayout find_layout(const storage::DataRoot& root);

// ChestX-ray14: Data_Entry_2017.csv (or a later edition), train_val_list.txt, test_list.txt.
Index read_nih_layout(const storage::DataRoot& root);

// A table of one's own, as root.labels describes it; its quoted fields may hold commas, but no line breaks.
// label_names: columns of 0 and 1 in the order in which root.labels.columns names them (those of a pattern in that of
// the table), or the names that the one column joins, sorted.
// @throws DataError (file, line, column, what is wrong), SpecError for a column that the table lacks
Index read_csv_layout(const storage::DataRoot& root);

// Folders of classes: ROOT/CLASS/..., or ROOT/SPLIT/CLASS/... where one of ROOT's folders is called train, val (valid,
// validation) or test. label_names: the folders that hold an image in any split, sorted. An image has one label, and
// is a patient of its own.
// @throws DataError where no folder holds an image
Index read_folder_layout(const storage::DataRoot& root);

// `files` under the names of the rows that mean them: a name is a path in the root or, where no such file is there, the
// file's own name in any folder, with its ending or without. Files that no row means keep their paths as names.
// In the order of names. @throws DataError where a name could mean two files
std::vector<ImageFile> match_files(const Index& index, const std::vector<ImageFile>& files);

// Which split a folder or a field of that name means: train, val (valid, validation), test; null for another word.
bool IndexRow::*split_called(std::string_view name);
// The root says which images are in that split.
void note_split(bool IndexRow::*split, Index& index);

}  // namespace chexbench::dataset
