#include "fetch/download.h"

#include <gtest/gtest.h>

#include "tests/folders.h"
#include "tests/http_server.h"
#include "tests/throws.h"

namespace kindred {
namespace {

const DownloadOptions kQuick = {.tries = 4, .first_pause_ms = 1};

Bytes Content() {
  Bytes content(50'000);
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<uint8_t>(i * 31 >> 3);
  return content;
}

TEST(Download, GoesOnWhereTheTransferBroke) {
  const auto folder = TestFolder();
  HttpServer server(Content(), {.cut_first = 2, .cut_after = 9000});
  Download(server.address() + "x", folder.path() / "x.part", kQuick);
  EXPECT_EQ(ReadFile(folder.path() / "x.part", 1 << 20), Content());
  EXPECT_EQ(server.answers(), 3);
  EXPECT_EQ(server.sent(), Content().size());  // no byte came twice
}

TEST(Download, ALaterCallGoesOnToo) {
  const auto folder = TestFolder();
  const auto part = folder.path() / "x.part";
  HttpServer server(Content(), {.cut_first = 4, .cut_after = 1000});
  ExpectError(ExitCode::kData, "broke off 4 times",
              [&] { Download(server.address() + "x", part, kQuick); });
  EXPECT_EQ(std::filesystem::file_size(part), 4000u);
  Download(server.address() + "x", part, kQuick);
  EXPECT_EQ(ReadFile(part, 1 << 20), Content());
  Download(server.address() + "x", part, kQuick);  // complete already
  EXPECT_EQ(ReadFile(part, 1 << 20), Content());
}

TEST(Download, BeginsAnewWithAServerThatCannotResume) {
  const auto folder = TestFolder();
  HttpServer server(Content(), {.cut_first = 1, .ranges = false});
  Download(server.address() + "x", folder.path() / "x.part", kQuick);
  EXPECT_EQ(ReadFile(folder.path() / "x.part", 1 << 20), Content());
}

TEST(Download, SaysWhatTheAddressAnswered) {
  const auto folder = TestFolder();
  HttpServer server(Content(), {.status = "404 Not Found"});
  ExpectError(ExitCode::kNetwork, "404",
              [&] { Download(server.address() + "x", folder.path() / "x.part", kQuick); });
  ExpectError(ExitCode::kNetwork, "127.0.0.1",
              [&] { Download("http://127.0.0.1:1/x", folder.path() / "x.part", kQuick); });
  ExpectError(ExitCode::kNetwork,
              "file:", [&] { Download("file:///etc/passwd", folder.path() / "x.part", kQuick); });
}

TEST(Download, ShowsNoPassword) {
  EXPECT_EQ(WithoutPassword("https://me:secret@host/a@b"), "https://host/a@b");
  EXPECT_EQ(WithoutPassword("https://host/a@b"), "https://host/a@b");
}

TEST(Download, StopsAtItsLimit) {
  const auto folder = TestFolder();
  HttpServer server(Content(), {});
  DownloadOptions options = kQuick;
  options.limit = 10'000;
  ExpectError(ExitCode::kData, "more than 10000 bytes: not the file",
              [&] { Download(server.address() + "x", folder.path() / "x.part", options); });
}

}  // namespace
}  // namespace kindred
