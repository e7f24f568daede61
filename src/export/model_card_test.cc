#include "export/model_card.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/random_encoder.h"

namespace kindred {
namespace {

TEST(ModelCard, SaysWhatItIsAndWhatItIsNot) {
  const Encoder encoder = ExportedEncoder();
  ModelCard card = {.encoder = encoder,
                    .origin = {{"method", "ccl"},
                               {"dataset", "cifar10"},
                               {"round", 20},
                               {"shared_features", {{"features", "encoded"}, {"mix", 4}}}},
                    .license = "CC0",
                    .metrics = {{{"kind", "eval"},
                                 {"metric", "linear"},
                                 {"protocol", "fast"},
                                 {"dataset", "cifar10"},
                                 {"train_images", 5000},
                                 {"test_images", 2000},
                                 {"accuracy", 0.4125},
                                 {"deviation", 0.01}},
                                {{"kind", "knn"}, {"round", 20}, {"knn", 0.33}}}};
  std::string text = ModelCardText(card);
  for (const char* part :
       {"resnet10 of width 4", "8x8 images", "32 numbers",
        "| linear | fast | cifar10 "
        "| 5000, 2000 | 41.25 % +- 1.00 |",
        "33.00 %", "a mix of 4 images", "not encryption", "CC0", "mean [0.5, 0.4, 0.3]"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  card.origin.erase("shared_features");
  EXPECT_EQ(ModelCardText(card).find("InstaHide"), std::string::npos);
  card.origin["method_note"] = "base model of public images of mnist";
  EXPECT_NE(ModelCardText(card).find("| method | ccl: base model of public images of mnist |"),
            std::string::npos);
  card.origin["method"] = "a\nb";
  EXPECT_EQ(ModelCardText(card).find("a\nb"), std::string::npos);
}

}  // namespace
}  // namespace kindred
