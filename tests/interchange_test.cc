// What leaves Kindred means the same elsewhere: an exported encoder in torchvision, ONNX Runtime
// and OpenCV, features in scikit-learn and NumPy. On real images: Fashion-MNIST's, coloured. `make
// test` installs all of them; without one of them its test fails, it is not skipped.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <opencv2/dnn.hpp>

#include "data/gunzip.h"
#include "data/idx.h"
#include "tests/folders.h"
#include "tests/program.h"

namespace kindred {
namespace {

const std::filesystem::path kFashion = "/usr/share/datasets/fashion-mnist";

Bytes ReadFashion(const char* name) {
  const auto path = kFashion / name;
  return Gunzip(ReadFile(path, 1 << 28), 1 << 28, path.string());
}

// The first images of the training set, tinted so that a swapped channel shows: class folders of
// PNG files below train/ and test/, in the order of their names.
struct Tinted {
  Tinted(const std::filesystem::path& folder, int train, int test, bool one_channel = false) {
    const Images grey = ParseIdxImages(ReadFashion("train-images-idx3-ubyte.gz"), "images");
    const auto labels = ParseIdxLabels(ReadFashion("train-labels-idx1-ubyte.gz"), 10, "labels");
    const int channels = one_channel ? 1 : 3;
    for (int i = 0; i < train + test; ++i) {
      Bytes pixels;
      for (int c = 0; c < channels; ++c) {
        const int tint = c == 0 ? 4 : c == 1 ? 3 : 1 + labels[static_cast<size_t>(i)] % 3;
        for (const uint8_t value : grey[i]) {
          pixels.push_back(static_cast<uint8_t>(value * tint / 4));
        }
      }
      const auto path = folder / (i < train ? "train" : "test") /
                        std::to_string(labels[static_cast<size_t>(i)]) /
                        fmt::format("{:05}.png", i);
      std::filesystem::create_directories(path.parent_path());
      WriteFileAtomically(path, EncodePng(pixels, {channels, 28, 28}));
      made[path.string().substr(folder.string().size() + 1)] = std::move(pixels);
    }
  }
  std::map<std::string, Bytes> made;  // by path
};

std::vector<float> Floats(const Bytes& bytes, size_t skip = 0) {
  std::vector<float> values((bytes.size() - skip) / sizeof(float));
  std::memcpy(values.data(), bytes.data() + skip, values.size() * sizeof(float));
  return values;
}

// The values of an npy file.
std::vector<float> ReadNpy(const std::filesystem::path& path) {
  const Bytes bytes = ReadFile(path, 1 << 28);
  return Floats(bytes, size_t{10} + bytes[8] + 256u * bytes[9]);
}

void ExpectSameFeatures(const std::vector<float>& own, const std::vector<float>& other,
                        const std::string& who) {
  ASSERT_EQ(own.size(), other.size()) << who;
  float most = 0, size = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    most = std::max(most, std::abs(own[i] - other[i]));
    size = std::max(size, std::abs(own[i]));
  }
  EXPECT_LT(most, 1e-4f) << who;
  EXPECT_GT(size, 0.1f) << "features that say something";
}

void RunCommand(const std::string& command) {
  ASSERT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT
}

struct Variant {
  const char* set;
  int channels;
};

class ExportedEncoder : public testing::TestWithParam<Variant> {};

TEST_P(ExportedEncoder, GivesTheSameFeaturesElsewhere) {
  constexpr int kCount = 256;
  const auto folder = TestFolder();
  const int channels = GetParam().channels;
  const Tinted images(folder.path() / "data", kCount, 0, channels == 1);
  const std::string data = fmt::format(
      " --set data.name=folder --set data.path=data --set data.size=28 --set data.limit=0"
      " --set data.channels={}",
      channels);
  const Ran trained = Kindred(
      folder, fmt::format("train --config {}/configs/tiny.toml{} --set partition.scheme=iid "
                          "--set partition.clients=2 --set train.rounds=1 {} --out run",
                          KINDRED_SOURCE_DIR, data, GetParam().set));
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Ran embedded = Kindred(folder, "embed --run run --split train --out h.npy");
  ASSERT_EQ(embedded.code, 0) << embedded.err;
  const auto h = ReadNpy(folder.path() / "h.npy");

  // The pixels in the order of the table's rows.
  const Bytes table = ReadFile(folder.path() / "h.csv", 1 << 20);
  std::istringstream lines(std::string(table.begin(), table.end()));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "row,split,file,label");
  Bytes pixels;
  while (std::getline(lines, line)) {
    const size_t first = line.find(',', line.find(',') + 1) + 1;
    const std::string file = line.substr(first, line.rfind(',') - first);
    ASSERT_TRUE(images.made.contains(file)) << line;
    const Bytes& own = images.made.at(file);
    pixels.insert(pixels.end(), own.begin(), own.end());
  }
  ASSERT_EQ(pixels.size(), static_cast<size_t>(kCount * channels * 28 * 28));
  WriteFileAtomically(folder.path() / "images.u8", pixels);
  const std::string in = (folder.path() / "images.u8").string();
  const std::string out = (folder.path() / "other.f32").string();
  const std::string scripts = std::string(KINDRED_SOURCE_DIR) + "/tests/interchange/";
  const std::string shape = fmt::format("{} {} 28 28", kCount, channels);

  for (const char* kind : {"float", "uint8"}) {
    const Ran exported =
        Kindred(folder, fmt::format("export --run run --out {} --input {}", kind, kind));
    ASSERT_EQ(exported.code, 0) << exported.err;
    const std::string onnx = (folder.path() / kind / "encoder.onnx").string();
    RunCommand(fmt::format("KINDRED_NODE_MODULES={} node {}onnx_features.js {} {} {} {} {}",
                           KINDRED_NODE_MODULES, scripts, onnx, in, shape, kind, out));
    ExpectSameFeatures(h, Floats(ReadFile(out, 1 << 28)), fmt::format("ONNX Runtime, {}", kind));
  }
  RunCommand(fmt::format(
      "/usr/bin/python3 {}torchvision_features.py {}/float/encoder.safetensors {} {} {}", scripts,
      folder.path().string(), in, shape, out));
  ExpectSameFeatures(h, Floats(ReadFile(out, 1 << 28)), "torchvision");

  cv::dnn::Net net = cv::dnn::readNetFromONNX((folder.path() / "float/encoder.onnx").string());
  const int sizes[] = {kCount, channels, 28, 28};
  cv::Mat blob(4, sizes, CV_32F);
  for (size_t i = 0; i < pixels.size(); ++i) {
    reinterpret_cast<float*>(blob.data)[i] = static_cast<float>(pixels[i]) / 255;
  }
  net.setInput(blob, "images");
  const cv::Mat result = net.forward("h");
  ASSERT_TRUE(result.isContinuous());
  const auto* values = reinterpret_cast<const float*>(result.data);
  ExpectSameFeatures(h, std::vector<float>(values, values + result.total()), "OpenCV");
}

INSTANTIATE_TEST_SUITE_P(
    Encoders, ExportedEncoder,
    testing::Values(Variant{"--set model.width=16", 3},
                    Variant{"--set model.arch=resnet18 --set model.width=8", 1},
                    Variant{"--set model.arch=resnet18 --set model.width=64 --set train.batch=64",
                            3}),
    [](const auto& variant) { return std::to_string(variant.index); });

TEST(Metrics, AgreeWithScikitLearnAndNumpy) {
  const auto folder = TestFolder();
  const Tinted images(folder.path() / "data", 2000, 1000);
  const Ran trained = Kindred(
      folder,
      fmt::format("train --config {}/configs/tiny.toml --set data.name=folder --set data.path=data "
                  "--set data.size=28 --set data.limit=0 --set partition.scheme=iid "
                  "--set partition.clients=2 --set train.rounds=1 --out run",
                  KINDRED_SOURCE_DIR));
  ASSERT_EQ(trained.code, 0) << trained.err;
  for (const char* split : {"train", "test"}) {
    const Ran embedded =
        Kindred(folder, fmt::format("embed --run run --split {0} --out {0}.npy", split));
    ASSERT_EQ(embedded.code, 0) << embedded.err;
  }
  const std::string out = (folder.path() / "reference.json").string();
  RunCommand(
      fmt::format("cd {} && /usr/bin/python3 {}/tests/interchange/reference_metrics.py train.npy "
                  "train.csv test.npy test.csv > {}",
                  folder.path().string(), KINDRED_SOURCE_DIR, out));
  const Bytes text = ReadFile(out, 1 << 20);
  const auto reference = nlohmann::json::parse(text.begin(), text.end());
  for (const char* metric : {"linear", "knn"}) {
    const Ran ran = Kindred(folder, fmt::format("eval {} --run run --json", metric));
    ASSERT_EQ(ran.code, 0) << ran.err;
    const auto result = nlohmann::json::parse(ran.out);
    const double own = result["accuracy"];
    EXPECT_NEAR(own, reference[metric].get<double>(), 0.005) << metric;
    EXPECT_GT(own, 0.3) << metric;
    if (std::string(metric) != "knn") continue;
    int moved = 0;  // votes that differ, each counted twice
    for (size_t i = 0; i < 10; ++i) {
      for (size_t j = 0; j < 10; ++j) {
        moved += std::abs(result["confusion"][i][j].get<int>() -
                          reference["knn_confusion"][i][j].get<int>());
      }
    }
    EXPECT_LE(moved, 4) << "but for near-ties";
  }
}

}  // namespace
}  // namespace kindred
