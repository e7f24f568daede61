#include "data/image_folder.h"

#include <gtest/gtest.h>

#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

DataOptions FolderOptions(const std::filesystem::path& path) {
  return {.name = "folder", .path = path.string(), .size = 4};
}

TEST(ImageFolder, ClassFoldersAreLabels) {
  const auto folder = TestFolder();
  WriteFlatPng(folder.path() / "dog" / "1.png", 8, 8, 200, 0, 0);
  WriteFlatPng(folder.path() / "cat" / "2.PNG", 5, 9, 10, 20, 30);
  WriteFlatPng(folder.path() / "cat" / "1.png", 4, 4, 1, 2, 3);
  WriteFileAtomically(folder.path() / "cat" / "notes.txt", std::string_view("no image"));
  const Dataset dataset = LoadImageFolder(FolderOptions(folder.path()));
  EXPECT_EQ(dataset.label_names, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(dataset.train.labels, (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(dataset.train.folders, dataset.train.labels);
  EXPECT_EQ(dataset.train.files, (std::vector<std::string>{"cat/1.png", "cat/2.PNG", "dog/1.png"}));
  EXPECT_EQ(dataset.train.images.height, 4);
  EXPECT_EQ(dataset.train.images[1][0], 10);
  EXPECT_EQ(dataset.train.images[1][47], 30);
  EXPECT_EQ(dataset.test.images.count, 0);
}

TEST(ImageFolder, OwnersFoldersHoldClassFolders) {
  const auto folder = TestFolder();
  for (const char* path : {"b/cat/1.png", "a/dog/1.png", "a/cat/1.png"}) {
    WriteFlatPng(folder.path() / path, 4, 4, 1, 2, 3);
  }
  const Dataset dataset = LoadImageFolder(FolderOptions(folder.path()));
  EXPECT_EQ(dataset.folder_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(dataset.label_names, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(dataset.train.folders, (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(dataset.train.labels, (std::vector<int>{0, 1, 0}));
}

TEST(ImageFolder, AFlatFolderIsUnlabeled) {
  const auto folder = TestFolder();
  WriteFlatPng(folder.path() / "1.png", 4, 4, 1, 2, 3);
  const Dataset dataset = LoadImageFolder(FolderOptions(folder.path()));
  EXPECT_EQ(dataset.Classes(), 0);
  EXPECT_TRUE(dataset.train.labels.empty());
  EXPECT_EQ(dataset.train.images.count, 1);
}

TEST(ImageFolder, TrainAndTestFoldersAreTheSplit) {
  const auto folder = TestFolder();
  WriteFlatPng(folder.path() / "train" / "a" / "1.png", 4, 4, 1, 2, 3);
  WriteFlatPng(folder.path() / "test" / "b" / "1.png", 4, 4, 1, 2, 3);
  const Dataset dataset = LoadImageFolder(FolderOptions(folder.path()));
  EXPECT_EQ(dataset.label_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(dataset.train.labels, (std::vector<int>{0}));
  EXPECT_EQ(dataset.test.labels, (std::vector<int>{1}));
}

TEST(ImageFolder, HoldoutTakesItsShareOfEachClass) {
  const auto folder = TestFolder();
  for (int i = 0; i < 10; ++i) {
    WriteFlatPng(folder.path() / "a" / fmt::format("{}.png", i), 4, 4, 1, 2, 3);
    if (i < 5) WriteFlatPng(folder.path() / "b" / fmt::format("{}.png", i), 4, 4, 1, 2, 3);
  }
  DataOptions options = FolderOptions(folder.path());
  options.holdout = 0.2;
  const Dataset dataset = LoadImageFolder(options);
  EXPECT_EQ(dataset.test.labels, (std::vector<int>{0, 0, 1}));
  EXPECT_EQ(dataset.train.images.count, 12);
}

TEST(ImageFolder, AListNamesPathsLabelsAndOwners) {
  const auto folder = TestFolder();
  WriteFlatPng(folder.path() / "x" / "one image.png", 4, 4, 1, 2, 3);
  WriteFlatPng(folder.path() / "y" / "2.png", 4, 4, 4, 5, 6);
  WriteFileAtomically(
      folder.path() / "list.txt",
      std::string_view("# images\ny/2.png\tdog\tclinic 1\r\nx/one image.png\tcat\tb\n"));
  const Dataset dataset = LoadImageFolder(FolderOptions(folder.path() / "list.txt"));
  EXPECT_EQ(dataset.label_names, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(dataset.train.labels, (std::vector<int>{1, 0}));
  EXPECT_EQ(dataset.folder_names, (std::vector<std::string>{"b", "clinic 1"}));
  EXPECT_EQ(dataset.train.images[0][0], 4);
  const auto expect = [&](const char* text, const std::string& part) {
    WriteFileAtomically(folder.path() / "list.txt", std::string_view(text));
    ExpectError(ExitCode::kData, part,
                [&] { LoadImageFolder(FolderOptions(folder.path() / "list.txt")); });
  };
  expect("a\tb\tc\td\n", "list.txt:1: must be");
  expect("# nothing\n", "names no image");
  expect("y/2.png\tdog\nx/one image.png\n", "has no label");
  expect("y/2.png\t\tclinic\nx/one image.png\n", "has no owner");
  expect("none.png\n", "cannot open");
}

TEST(ImageFolder, UnreadableImagesAreCountedAgainstTheBudget) {
  const auto folder = TestFolder();
  WriteFlatPng(folder.path() / "1.png", 4, 4, 1, 2, 3);
  WriteFileAtomically(folder.path() / "2.png", std::string_view("not a picture"));
  WriteFileAtomically(folder.path() / "3.jpg", std::string_view("\xff\xd8\xff not one either"));
  DataOptions options = FolderOptions(folder.path());
  ExpectError(ExitCode::kData, "2.png: neither PNG nor JPEG; data.skip=1",
              [&] { LoadImageFolder(options); });
  options.skip = 1;
  ExpectError(ExitCode::kData, "3.jpg: damaged JPEG", [&] { LoadImageFolder(options); });
  options.skip = 2;
  EXPECT_EQ(LoadImageFolder(options).train.images.count, 1);
  std::filesystem::remove(folder.path() / "1.png");
  ExpectError(ExitCode::kData, "not one readable image", [&] { LoadImageFolder(options); });
}

TEST(ImageFolder, RefusesFoldersItCannotMakeSenseOf) {
  const auto folder = TestFolder();
  ExpectError(ExitCode::kUsage, "data.path is empty", [] { LoadImageFolder({.name = "folder"}); });
  ExpectError(ExitCode::kData, "no such folder",
              [] { LoadImageFolder(FolderOptions("/none/here")); });
  ExpectError(ExitCode::kData, "no .png", [&] { LoadImageFolder(FolderOptions(folder.path())); });
  WriteFlatPng(folder.path() / "1.png", 4, 4, 1, 2, 3);
  WriteFlatPng(folder.path() / "a" / "1.png", 4, 4, 1, 2, 3);
  ExpectError(ExitCode::kData, "different depths",
              [&] { LoadImageFolder(FolderOptions(folder.path())); });
}

TEST(ImageFolder, LinkLoopsEnd) {
  const auto folder = TestFolder();
  WriteFlatPng(folder.path() / "a" / "1.png", 4, 4, 1, 2, 3);
  std::filesystem::create_directory_symlink(folder.path(), folder.path() / "a" / "up");
  std::filesystem::create_directory_symlink("self", folder.path() / "self");
  EXPECT_EQ(LoadImageFolder(FolderOptions(folder.path())).train.images.count, 1);
  ExpectError(ExitCode::kData, "symbolic links",
              [&] { LoadImageFolder(FolderOptions(folder.path() / "self")); });
}

TEST(ImageFolder, OwnersMayLinkToTheSameImages) {
  const auto folder = TestFolder();
  WriteFlatPng(folder.path() / "a" / "cat" / "1.png", 4, 4, 1, 2, 3);
  std::filesystem::create_directory(folder.path() / "b");
  std::filesystem::create_directory_symlink(folder.path() / "a" / "cat",
                                            folder.path() / "b" / "cat");
  EXPECT_EQ(LoadImageFolder(FolderOptions(folder.path())).train.folders, (std::vector<int>{0, 1}));
}

TEST(ImageFolder, ATestSetForAllOwnersMakesNoOwner) {
  const auto folder = TestFolder();
  for (const char* path : {"train/a/cat/1.png", "train/b/cat/1.png", "test/cat/1.png"}) {
    WriteFlatPng(folder.path() / path, 4, 4, 1, 2, 3);
  }
  EXPECT_EQ(LoadImageFolder(FolderOptions(folder.path())).folder_names,
            (std::vector<std::string>{"a", "b"}));
  std::filesystem::rename(folder.path() / "test" / "cat" / "1.png",
                          folder.path() / "test" / "1.png");
  std::filesystem::remove(folder.path() / "test" / "cat");
  ExpectError(ExitCode::kData, "1.png: has no label",
              [&] { LoadImageFolder(FolderOptions(folder.path())); });
}

TEST(ImageFolder, ALimitDecodesNoMoreThanItTakes) {
  const auto folder = TestFolder();
  WriteFlatPng(folder.path() / "a" / "1.png", 4, 4, 1, 2, 3);
  WriteFileAtomically(folder.path() / "a" / "2.png", std::string_view("never read"));
  WriteFlatPng(folder.path() / "b" / "1.png", 4, 4, 1, 2, 3);
  DataOptions options = FolderOptions(folder.path());
  options.limit = 2;
  EXPECT_EQ(LoadImageFolder(options).train.labels, (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace kindred
