#include "report/page.h"

#include "base/embedded.h"
#include "base/error.h"

namespace kindred {
namespace {

constexpr std::string_view kPlace =
    R"(<script type="application/json" id="kindred-data">null</script>)";

// JSON that no HTML parser takes for markup, and that is one line of any script.
std::string Inert(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    switch (c) {
      case '<':
        safe += "\\u003c";
        break;
      case '>':
        safe += "\\u003e";
        break;
      case '&':
        safe += "\\u0026";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string_view LivePage() { return EmbeddedFile("page.html"); }

std::string FrozenPage(const Json& data) {
  const std::string_view page = LivePage();
  const size_t at = page.find(kPlace);
  Check(at != std::string_view::npos, "the page has no place for its data");
  const size_t null = at + kPlace.find("null");
  std::string frozen(page.substr(0, null));
  frozen += Inert(data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  frozen += page.substr(null + 4);
  return frozen;
}

}  // namespace kindred
