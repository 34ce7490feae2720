#include "exec/tensor_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "exec/npy.h"

namespace solar::exec {
namespace {

class TensorFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "tensor_file_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  static std::string safetensors(const std::string& header, size_t data_bytes) {
    const uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), 8) + header +
           std::string(data_bytes, '\1');
  }
  void expect_refused(const std::string& file, const std::string& what) const {
    const auto result = read_tensors(file);
    ASSERT_FALSE(result) << what;
    EXPECT_EQ(result.error()[0].kind, DiagnosticKind::TensorFile);
    EXPECT_NE(result.error()[0].message.find(what), std::string::npos) << result.error()[0].message;
  }

  std::filesystem::path folder_;
};

NamedTensors samples(const std::vector<ElementType>& types) {
  NamedTensors tensors;
  for (const ElementType type : types) {
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{}, {3}, {2, 3, 4}}) {
      auto tensor = *TensorData::make(type, shape);
      for (int64_t i = 0; i < tensor.count(); ++i) tensor.set(i, static_cast<double>(i % 3));
      tensors.emplace(std::string(ir::name(type)) + "/" + std::to_string(shape.size()), tensor);
    }
  }
  return tensors;
}

TEST_F(TensorFile, SafetensorsRoundTrip) {
  using enum ElementType;
  const auto tensors = samples({F64, F32, F16, BF16, F8E4M3, F8E5M2, I64, I32, I16, I8, U8, Bool});
  ASSERT_TRUE(write_tensors(path("x.safetensors"), tensors));
  const auto back = read_tensors(path("x.safetensors"));
  ASSERT_TRUE(back);
  ASSERT_EQ(back->size(), tensors.size());
  for (const auto& [name, tensor] : tensors) EXPECT_TRUE(back->at(name).same_bytes(tensor)) << name;
  EXPECT_EQ(files(), 1U);
}

TEST_F(TensorFile, NpzRoundTrip) {
  using enum ElementType;
  const auto tensors = samples({F64, F32, F16, I64, I32, I16, I8, U8, Bool});
  ASSERT_TRUE(write_tensors(path("x.npz"), tensors));
  const auto back = read_tensors(path("x.npz"));
  ASSERT_TRUE(back);
  ASSERT_EQ(back->size(), tensors.size());
  for (const auto& [name, tensor] : tensors) EXPECT_TRUE(back->at(name).same_bytes(tensor)) << name;
  EXPECT_EQ(files(), 1U);
}

TEST_F(TensorFile, NoTensorsRoundTrip) {
  for (const char* name : {"x.npz", "x.safetensors"}) {
    ASSERT_TRUE(write_tensors(path(name), {}));
    const auto back = read_tensors(path(name));
    ASSERT_TRUE(back) << name;
    EXPECT_TRUE(back->empty());
  }
}

TEST_F(TensorFile, TypesThatAFormatLacks) {
  EXPECT_FALSE(write_tensors(path("x.npz"), samples({ElementType::BF16})));
  EXPECT_FALSE(write_tensors(path("x.safetensors"), samples({ElementType::I4})));
  EXPECT_EQ(files(), 0U);
}

TEST_F(TensorFile, ADeviceIsNotAFile) {
  for (const char* name : {"x.npz", "x.safetensors"}) {
    std::filesystem::create_symlink("/dev/zero", path(name));
    const auto result = read_tensors(path(name));
    ASSERT_FALSE(result);
    EXPECT_NE(result.error()[0].message.find("a device"), std::string::npos);
  }
}

TEST_F(TensorFile, UnwritablePath) {
  for (const char* name : {"missing/x.npz", "missing/x.safetensors"}) {
    const auto result = write_tensors(path(name), samples({ElementType::F32}));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error()[0].kind, DiagnosticKind::OutputFile);
  }
}

TEST_F(TensorFile, BadSafetensorsAreRefused) {
  const auto refuse = [&](const std::string& bytes, const std::string& what) {
    expect_refused(write("x.safetensors", bytes), what);
  };
  expect_refused(path("none.safetensors"), "cannot open");
  expect_refused(write("x.txt", ""), "unknown tensor file format");
  refuse("", "too few");
  refuse(std::string(8, '\xff'), "claims");
  refuse(safetensors("[1]", 0), "not a JSON object");
  refuse(safetensors("{\"a\": ", 0), "not a JSON object");
  refuse(safetensors(R"({"a": 3})", 0), "expected an object");
  refuse(safetensors(R"({"a": {"dtype": "Q7", "shape": [1], "data_offsets": [0, 1]}})", 1),
         "unknown dtype `Q7`");
  refuse(safetensors(R"({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}})", 4),
         "non-negative");
  refuse(safetensors(R"({"a": {"dtype": "F32", "shape": [1.5], "data_offsets": [0, 4]}})", 4),
         "non-negative");
  refuse(safetensors(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 400]}})", 4),
         "leave");
  refuse(safetensors(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}})", 4),
         "leave");
  refuse(safetensors(R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}})", 4),
         "does not take");
  refuse(
      safetensors(
          R"({"a": {"dtype": "F32", "shape": [4294967296, 4294967296], "data_offsets": [0, 0]}})",
          0),
      "does not take");
  refuse(safetensors(R"({"a": {"shape": [1], "data_offsets": [0, 4]}})", 4), "`dtype`");
}

TEST_F(TensorFile, TheLimitHolds) {
  ASSERT_TRUE(write_tensors(path("x.npz"), samples({ElementType::F64})));
  ASSERT_TRUE(write_tensors(path("x.safetensors"), samples({ElementType::F64})));
  EXPECT_FALSE(read_tensors(path("x.npz"), {.bytes = 100}));
  EXPECT_FALSE(read_tensors(path("x.safetensors"), {.bytes = 100}));
}

TEST_F(TensorFile, NpyHeaders) {
  const auto parse = [](const std::string& dictionary, char version = 1) {
    std::string bytes = "\x93NUMPY";
    bytes += version;
    bytes += '\0';
    bytes += static_cast<char>(dictionary.size());
    bytes += version == 1 ? std::string(1, '\0') : std::string(3, '\0');
    return parse_npy_header(bytes + dictionary);
  };
  const auto good = parse("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", 2);
  ASSERT_TRUE(std::holds_alternative<NpyHeader>(good));
  EXPECT_TRUE(std::get<NpyHeader>(good).fortran_order);
  EXPECT_EQ(std::get<NpyHeader>(good).shape, (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(std::holds_alternative<NpyHeader>(
      parse("{'shape': (), 'descr': '|b1', 'fortran_order': False}")));
  for (const char* bad :
       {"", "{", "{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "{'descr': '<f4'}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': 3, 'shape': (1,)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}"}) {
    EXPECT_TRUE(std::holds_alternative<std::string>(parse(bad))) << bad;
  }
  EXPECT_TRUE(std::holds_alternative<std::string>(parse_npy_header("\x93NUMPY\x01\x00\xff\xff{}")));
}

TEST_F(TensorFile, DamagedFilesNeverCrash) {
  const uint64_t seed = 7;
  SCOPED_TRACE("seed 7");
  std::mt19937_64 random(seed);
  for (const char* name : {"x.npz", "x.safetensors"}) {
    ASSERT_TRUE(write_tensors(path(name), samples({ElementType::F32, ElementType::I8})));
    const std::string good = read(path(name));
    for (int round = 0; round < 400; ++round) {
      std::string bad = good;
      if (round % 4 == 0) bad.resize(random() % bad.size());
      for (uint64_t n = random() % 4; n > 0 && !bad.empty(); --n)
        bad[random() % bad.size()] = static_cast<char>(random());
      static_cast<void>(read_tensors(write(name, bad), {.bytes = 1 << 20}));
    }
  }
}

}  // namespace
}  // namespace solar::exec
