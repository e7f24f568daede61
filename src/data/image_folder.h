// Images of one's own: PNG and JPEG files in folders, or named in a list.
//
//   PATH/cat/1.png             class folders: the folder is the label
//   PATH/clinic_a/cat/1.png    owners' folders with class folders in them
//   PATH/1.png                 a flat folder: no labels
//   PATH/train/..., PATH/test/...   either of these, already split
//   list.txt                   one line per image: path [TAB label [TAB owner]], paths from the
//                              list's folder
#pragma once

#include "data/dataset.h"

namespace kindred {

// Reads, scales and cuts every image to options.size (32 when 0), in the order of their paths.
// Other files are passed over. At most options.skip unreadable images are left out, each with a
// warning; one more is an error. Links to folders are followed, unless they lead back to a folder
// above.
Dataset LoadImageFolder(const DataOptions& options);

}  // namespace kindred
