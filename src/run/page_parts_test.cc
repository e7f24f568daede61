#include "run/page_parts.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "base/file.h"
#include "tests/folders.h"

namespace kindred {
namespace {

Dataset Shapes() { return LoadDataset({.name = "shapes", .limit = 60}); }

TEST(ClientsPart, CountsEveryImageOnce) {
  const Dataset dataset = Shapes();
  const Partition partition = MakePartition(dataset, {.scheme = "noniid1", .clients = 5});
  const Json part = ClientsPart(partition, dataset);
  ASSERT_EQ(part["clients"].size(), 5);
  EXPECT_EQ(part["classes"], Json(dataset.label_names));
  int all = 0;
  for (const auto& client : part["clients"]) {
    int own = 0;
    for (const int count : client["counts"]) own += count;
    EXPECT_EQ(own, client["images"]);
    all += own;
  }
  EXPECT_EQ(all, dataset.train.images.count);
}

TEST(SamplesPart, ArePictures) {
  Experiment experiment;
  const Dataset dataset = Shapes();
  const Partition partition = MakePartition(dataset, {.scheme = "iid", .clients = 5});
  const Json part = SamplesPart(experiment, dataset, partition);
  for (const char* name : {"views", "encodings"}) {
    EXPECT_TRUE(part[name].get<std::string>().starts_with("data:image/png;base64,iVBOR")) << name;
  }
  experiment.privacy.mix = 50;  // more than the client has
  EXPECT_FALSE(SamplesPart(experiment, dataset, partition).contains("encodings"));
}

TEST(EmbeddingPart, IsOfTheImagesItNames) {
  const Dataset dataset = Shapes();
  const Partition partition = MakePartition(dataset, {.scheme = "noniid1", .clients = 5});
  const auto features = torch::rand({dataset.train.images.count, 20});
  const Json part = EmbeddingPart(7, features, dataset, &partition);
  EXPECT_EQ(part["round"], 7);
  EXPECT_EQ(part["count"], dataset.train.images.count);
  EXPECT_EQ(part["axes"], 16);
  EXPECT_EQ(part["labels"], Json(dataset.train.labels));
  for (size_t i = 0; i < part["owners"].size(); ++i) {
    const auto& own = partition.clients[part["owners"][i].get<size_t>()];
    EXPECT_TRUE(std::binary_search(own.begin(), own.end(), static_cast<int>(i)));
  }
  EXPECT_EQ(EmbeddingPart(7, features, dataset, nullptr)["owners"].size(), 0);
}

TEST(WritePagePart, SaysWhatItCostAndStopsNoRun) {
  const TemporaryFolder folder = TestFolder();
  const RunDir dir(folder.path());
  WritePagePart(dir, "clients", [] { return Json{{"classes", Json::array()}}; });
  const Bytes bytes = ReadFile(dir.page() / "clients.json", 1 << 10);
  const Json part = Json::parse(bytes.begin(), bytes.end());
  EXPECT_TRUE(part["classes"].empty());
  EXPECT_GE(part["seconds"], 0);
  WritePagePart(dir, "samples", []() -> Json { throw std::runtime_error("no images"); });
  EXPECT_FALSE(FileExists(dir.page() / "samples.json"));
}

}  // namespace
}  // namespace kindred
