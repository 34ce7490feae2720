#include "base/file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace solar {
namespace {

namespace fs = std::filesystem;

/// A folder of one test.
struct Folder {
  fs::path path;
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "solar-file-testXXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path); }
};

std::string refusal(const std::string& path) {
  const auto read = read_file(path);
  if (read) return "";
  EXPECT_EQ(read.error().front().kind, DiagnosticKind::SourceFile);
  return read.error().front().message;
}

TEST(ReadFile, ADeviceIsRefusedInsteadOfReadForEver) {
  for (const char* device : {"/dev/zero", "/dev/full", "/dev/urandom"}) {
    EXPECT_EQ(refusal(device),
              "cannot read `" + std::string(device) + "`: it is a device, not a file");
    EXPECT_EQ(irregular_kind(device), "a device");
  }
}

TEST(ReadFile, ANamedPipeAndASocketAreRefusedInsteadOfWaitedFor) {
  const Folder folder;
  const std::string pipe = (folder.path / "p").string();
  const std::string link = (folder.path / "l").string();
  const std::string name = (folder.path / "s").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  fs::create_symlink(pipe, link);
  EXPECT_EQ(refusal(pipe), "cannot read `" + pipe + "`: it is a named pipe, not a file");
  EXPECT_EQ(refusal(link), "cannot read `" + link + "`: it is a named pipe, not a file");
  EXPECT_EQ(irregular_kind(link), "a named pipe");
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(name.size(), sizeof address.sun_path);
  name.copy(address.sun_path, name.size());
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(refusal(name), "cannot read `" + name + "`: it is a socket, not a file");
  ::close(fd);
  EXPECT_EQ(irregular_kind("/"), "a directory");
  EXPECT_EQ(irregular_kind("/no/such"), "");
}

TEST(ReadFile, FoldersAndMissingFiles) {
  EXPECT_EQ(refusal("/"), "cannot read `/`: Is a directory");
  EXPECT_EQ(refusal("/no/such"), "cannot read `/no/such`: No such file or directory");
}

TEST(ReadFile, AFileThatNoSpanCouldPointInto) {
  const Folder folder;
  const fs::path path = folder.path / "large";
  std::ofstream(path).close();
  fs::resize_file(path, (uintmax_t{1} << 30) + 1);  // sparse: takes no room
  EXPECT_EQ(refusal(path.string()), "cannot read `" + path.string() + "`: it is larger than 1 GiB");
}

TEST(ReadFile, FilesAndPipes) {
  const Folder folder;
  const std::string path = (folder.path / "f").string();
  const std::string content("a\0\xff\n", 4);
  ASSERT_TRUE(write_file(path, content).has_value());
  EXPECT_EQ(*read_file(path), content);
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "piped", 5), 5);
  ::close(ends[1]);
  EXPECT_EQ(*read_file("/dev/fd/" + std::to_string(ends[0])), "piped");
  ::close(ends[0]);
}

}  // namespace
}  // namespace solar
