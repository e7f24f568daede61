#include "identity/kit.h"

#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/name.h"

namespace kindred {
namespace {

constexpr uint64_t kMostPemBytes = 64 << 10;

std::string ReadPem(const std::filesystem::path& path) {
  const Bytes bytes = ReadFile(path, kMostPemBytes);
  return {bytes.begin(), bytes.end()};
}

void RefuseSharedKey(const std::filesystem::path& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & 0177) != 0) {
    throw NetworkError("{0}: others than its owner may use this key; chmod 600 {0}",
                       Printable(path.string()));
  }
}

KeyPair ReadKeyPair(const std::filesystem::path& folder, const std::string& name,
                    const char* remedy) {
  const auto key = folder / (name + ".key"), certificate = folder / (name + ".crt");
  RefuseSharedKey(key);
  KeyPair pair = {.key = ReadPem(key), .certificate = ReadPem(certificate)};
  if (!ReadCertificate(pair.certificate)) {
    throw NetworkError("{}: not a certificate of Kindred's; {}", Printable(certificate.string()),
                       remedy);
  }
  if (!KeyFits(pair)) {
    throw NetworkError("{}: not the key of {}; {}", Printable(key.string()),
                       Printable(certificate.string()), remedy);
  }
  return pair;
}

// The authority's certificate, which vouches for the pair.
std::string ReadVouching(const std::filesystem::path& folder, const KeyPair& pair,
                         CertificateUse use) {
  const auto path = folder / "ca.crt";
  std::string authority = ReadPem(path);
  if (!Verifies(pair.certificate, authority, use, std::nullopt)) {
    throw NetworkError(
        "{}: does not vouch for the certificate beside it as {}; take files of one "
        "kit",
        Printable(path.string()),
        use == CertificateUse::kClient ? "a client's" : "the coordinator's");
  }
  return authority;
}

}  // namespace

std::filesystem::path AuthorityPart(const std::filesystem::path& pki_folder) {
  return pki_folder / "authority";
}

std::filesystem::path CoordinatorPart(const std::filesystem::path& pki_folder) {
  const auto part = pki_folder / "coordinator";
  return IsFolder(part) ? part : pki_folder;
}

Kit ReadKit(const std::filesystem::path& folder) {
  KeyPair pair = ReadKeyPair(folder, "client", "ask for a new kit, or restore both files");
  std::string authority = ReadVouching(folder, pair, CertificateUse::kClient);
  const CertificateFacts facts = *ReadCertificate(pair.certificate);
  if (!IsName(facts.name)) {
    throw NetworkError("{}: a certificate for {}, which is no name; ask for a new kit",
                       Printable((folder / "client.crt").string()), Printable(facts.name));
  }
  return {std::move(authority), std::move(pair.certificate), std::move(pair.key), facts.name,
          facts.expires};
}

ServerKit ReadServerKit(const std::filesystem::path& pki_folder) {
  const auto part = CoordinatorPart(pki_folder);
  KeyPair pair = ReadKeyPair(part, "server", "`kindred pki renew-server` makes both anew");
  std::string authority = ReadVouching(part, pair, CertificateUse::kCoordinator);
  const int64_t expires = ReadCertificate(pair.certificate)->expires;
  return {std::move(authority), std::move(pair.certificate), std::move(pair.key), expires};
}

std::optional<CertificateFacts> ReadServerFacts(const std::filesystem::path& pki_folder) {
  const auto path = CoordinatorPart(pki_folder) / "server.crt";
  if (!FileExists(path)) return std::nullopt;
  return ReadCertificate(ReadPem(path));
}

KeyPair ReadAuthority(const std::filesystem::path& pki_folder) {
  const auto part = AuthorityPart(pki_folder);
  KeyPair pair = ReadKeyPair(part, "ca", "restore both from a copy");
  const auto trusted = CoordinatorPart(pki_folder) / "ca.crt";
  if (ReadPem(trusted) != pair.certificate) {
    throw NetworkError("{}: of another authority than {}; take both parts of one federation",
                       Printable(trusted.string()), Printable(part.string()));
  }
  return pair;
}

}  // namespace kindred
