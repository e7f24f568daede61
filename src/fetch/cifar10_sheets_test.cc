#include "fetch/cifar10_sheets.h"

#include <gtest/gtest.h>

#include "data/cifar.h"
#include "data/image_file.h"
#include "tests/throws.h"

namespace kindred {
namespace {

Bytes AsBytes(const std::string& text) { return {text.begin(), text.end()}; }

std::string LabelList(int count) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) text += fmt::format("{}{}", i > 0 ? "," : "", i % 10);
  return text + "]";
}

FileSet Package() {
  FileSet files;
  for (const auto& name : Cifar10SheetNames()) {
    if (name.ends_with(".json")) {
      const std::string list = LabelList(name.starts_with("train") ? 50000 : 10000);
      files[name] = AsBytes(list);
    } else if (files.count("sheet") == 0) {
      Bytes planes(3 * 1024 * 10000);
      for (size_t p = 0; p < planes.size(); ++p)
        planes[p] = static_cast<uint8_t>(p / 1024 + p / 10240000);
      files["sheet"] = EncodePng(planes, {3, 10000, 1024});
      files[name] = files["sheet"];
    } else {
      files[name] = files["sheet"];
    }
  }
  files.erase("sheet");
  return files;
}

TEST(RebuildCifar10, TurnsRowsOfSheetsIntoRecords) {
  FileSet package = Package();
  const FileSet batches = RebuildCifar10(package);
  ASSERT_EQ(batches.size(), 6u);
  CifarRecords records;
  ParseCifar(batches.at("data_batch_2.bin"), kCifar10Layout, "x", records);
  EXPECT_EQ(records.images.count, 10000);
  EXPECT_EQ(records.labels[1234], 4);
  EXPECT_EQ(records.images[1234][0], static_cast<uint8_t>(1234));          // red: row 1234
  EXPECT_EQ(records.images[1234][1024], static_cast<uint8_t>(11234 + 1));  // green plane
  EXPECT_EQ(records.images[1234][3071], static_cast<uint8_t>(21234 + 2));  // blue plane

  package["test_lables.json"] = AsBytes("[1,2]");
  ExpectError(ExitCode::kData, "not a list of 10000 labels", [&] { RebuildCifar10(package); });
  const std::string high = LabelList(9999).replace(1, 1, "12,3");
  package["test_lables.json"] = AsBytes(high);
  ExpectError(ExitCode::kData, "a label that is not 0 to 9", [&] { RebuildCifar10(package); });
  package["data_batch_1.png"] = EncodePng(Bytes(3 * 16, 0), {3, 4, 4});
  ExpectError(ExitCode::kData, "not a sheet", [&] { RebuildCifar10(package); });
  package.erase("data_batch_1.png");
  ExpectError(ExitCode::kData, "data_batch_1.png is missing", [&] { RebuildCifar10(package); });
}

}  // namespace
}  // namespace kindred
