#include "arch/library.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "arch/toml_file.h"
#include "base/diagnostic_text.h"

namespace solar::arch {
namespace {

namespace fs = std::filesystem;

const fs::path kLibrary = fs::path(SOLAR_ROOT) / "arch";

constexpr const char* kGood = R"(name = "Test machine"
sparsity_factor = 1
source = ["a test"]
[peak.vector]
fp32 = "2 Tflop/s"
[dram]
bandwidth = "1 TB/s"
size = "8 GB"
)";

/// A folder of its own for each test, removed afterwards.
class ArchFiles : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(testing::TempDir()) / (std::string("solar-arch-") + info->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }

  /// The only diagnostic of a file with this text.
  Diagnostic only(const std::string& text) {
    const Diagnostics all = check(write("machine.toml", text), kLibrary);
    EXPECT_EQ(all.size(), 1U) << text << "\n" << render_text(all);
    return all.empty() ? Diagnostic{} : all[0];
  }

  static std::string marked(const Diagnostic& diagnostic) {
    if (diagnostic.span.source == nullptr) return "";
    const auto begin = static_cast<size_t>(diagnostic.span.begin);
    return diagnostic.span.source->text.substr(begin,
                                               static_cast<size_t>(diagnostic.span.end) - begin);
  }

  fs::path folder_;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

double teraflops(const Machine& machine, UnitClass unit, NumberFormat format) {
  for (const Rate& rate : machine.rates) {
    if (rate.unit == unit && rate.format == format) return 2 * rate.peak.value / 1e12;
  }
  return 0;
}

TEST(Library, EveryFileIsRightWithoutWarnings) {
  const auto names = list(kLibrary);
  ASSERT_TRUE(names.has_value());
  for (const char* name : {"a6000", "b200", "h100-pcie", "h100-sxm", "thor"}) {
    EXPECT_TRUE(std::find(names->begin(), names->end(), name) != names->end()) << name;
  }
  for (const std::string& name : *names) {
    const Diagnostics all = check(name, kLibrary);
    EXPECT_TRUE(all.empty()) << render_text(all);
    const auto machine = load(name, kLibrary);
    ASSERT_TRUE(machine.has_value());
    EXPECT_EQ(machine->id, name);
    EXPECT_FALSE(machine->source.empty());
    EXPECT_NE(machine->fastest(NumberFormat::Fp32), nullptr);
  }
}

TEST(Library, HasTheDatasheetValues) {
  struct Row {
    const char* name;
    double fp64, fp32, tf32, bf16, fp8, fp4, int8, bandwidth, scale, strict_bandwidth;
  };
  // Tflop/s (Top/s), GB/s; 0 where there is none.
  for (const Row& row : {
           Row{"b200", 37, 75, 1125, 2250, 4500, 9000, 4500, 8000, 1.059, 8184},
           Row{"h100-sxm", 67, 67, 494.7, 989.4, 1978.9, 0, 1978.9, 3350, 1.082, 3352},
           Row{"h100-pcie", 51, 51.2, 378, 756.5, 1513, 0, 1513, 2039, 1.083, 2039},
           Row{"a6000", 1.2, 38.7, 77.4, 154.8, 0, 0, 309.7, 768, 1.167, 0},
           Row{"thor", 0.126, 8.06, 129.4, 258.8, 517.5, 1035, 517.5, 273, 1, 0},
           Row{"a100-sxm-80gb", 19.5, 19.5, 156, 312, 0, 0, 624, 2039, 1, 0},
           Row{"h200-sxm", 67, 67, 494.7, 989.4, 1978.9, 0, 1978.9, 4800, 1.082, 4917},
           Row{"rtx-4090", 1.29, 82.6, 82.6, 165.2, 330.3, 0, 660.6, 1008, 1.107, 0},
           Row{"rtx-5090", 1.64, 104.8, 104.8, 209.5, 419, 1676, 838, 1792, 1.205, 0},
           Row{"l40s", 1.43, 91.6, 183, 362.05, 733, 0, 733, 864, 1, 0},
           Row{"mi300x", 163.4, 163.4, 653.7, 1307.4, 2614.9, 0, 2614.9, 5300, 1, 0},
           Row{"gb200", 40, 80, 1250, 2500, 5000, 10000, 5000, 8000, 1, 8184},
           Row{"mi355x", 78.6, 157.3, 0, 2516.6, 5033, 10066, 5033, 8000, 1, 0},
           Row{"gb10", 0.48, 31, 62, 125, 250, 500, 250, 273, 2, 0},
           Row{"orin-64gb", 0.083, 5.32, 21.3, 42.6, 0, 0, 85.2, 204.8, 1, 0},
       }) {
    const auto machine = load(row.name, kLibrary);
    ASSERT_TRUE(machine.has_value()) << row.name;
    const auto fastest = [&](NumberFormat format) {
      const Rate* rate = machine->fastest(format);
      return rate == nullptr ? 0 : 2 * rate->peak.value / 1e12;
    };
    EXPECT_DOUBLE_EQ(fastest(NumberFormat::Fp64), row.fp64) << row.name;
    EXPECT_DOUBLE_EQ(teraflops(*machine, UnitClass::Vector, NumberFormat::Fp32), row.fp32)
        << row.name;
    EXPECT_DOUBLE_EQ(teraflops(*machine, UnitClass::Tensor, NumberFormat::Tf32), row.tf32)
        << row.name;
    EXPECT_DOUBLE_EQ(teraflops(*machine, UnitClass::Tensor, NumberFormat::Bf16), row.bf16)
        << row.name;
    EXPECT_DOUBLE_EQ(fastest(NumberFormat::Fp16), row.bf16) << row.name;
    EXPECT_DOUBLE_EQ(fastest(NumberFormat::Fp8), row.fp8) << row.name;
    EXPECT_DOUBLE_EQ(fastest(NumberFormat::Fp4), row.fp4) << row.name;
    EXPECT_DOUBLE_EQ(fastest(NumberFormat::Int8), row.int8) << row.name;
    EXPECT_DOUBLE_EQ(machine->dram_bandwidth.value / 1e9, row.bandwidth) << row.name;
    EXPECT_DOUBLE_EQ(machine->strict_peak_scale.value_or(0), row.scale) << row.name;
    EXPECT_DOUBLE_EQ(machine->strict_dram_bandwidth.value_or(BytesPerSecond{}).value / 1e9,
                     row.strict_bandwidth)
        << row.name;
  }
}

TEST(Library, UnknownNameOffersTheNearest) {
  const auto hint = [](const char* name) {
    const auto machine = load(name, kLibrary);
    EXPECT_FALSE(machine.has_value()) << name;
    if (machine) return std::string();
    EXPECT_EQ(machine.error().at(0).kind, DiagnosticKind::UnknownArch);
    return machine.error().at(0).hint;
  };
  EXPECT_NE(hint("h100").find("did you mean `h100-pcie` or `h100-sxm`?"), std::string::npos);
  EXPECT_NE(hint("H100_SXM").find("`h100-sxm`"), std::string::npos);
  EXPECT_NE(hint("jetson-thor").find("`thor`"), std::string::npos);
  EXPECT_NE(hint("b20").find("`b200`"), std::string::npos);
  EXPECT_NE(hint("4090").find("`rtx-4090`"), std::string::npos);
  EXPECT_EQ(hint("toaster").find("did you mean"), std::string::npos);
  EXPECT_EQ(hint("").find("did you mean"), std::string::npos);
  EXPECT_EQ(hint(std::string(100000, 'h').c_str()).find("did you mean"), std::string::npos);
}

TEST(Library, MissingFolderIsSaid) {
  const auto names = list("/nonexistent-folder");
  ASSERT_FALSE(names.has_value());
  EXPECT_EQ(names.error()[0].kind, DiagnosticKind::ArchFile);
}

TEST_F(ArchFiles, AMinimalFileLoads) {
  const auto machine = load(write("mine.toml", kGood), kLibrary);
  ASSERT_TRUE(machine.has_value()) << render_text(machine.error());
  EXPECT_EQ(machine->id, "mine");
  EXPECT_DOUBLE_EQ(machine->fastest(NumberFormat::Fp32)->peak.value, 1e12);
  EXPECT_EQ(machine->dram_size.value, 8000000000);
  EXPECT_FALSE(machine->strict_peak_scale.has_value());
}

TEST_F(ArchFiles, UnreadableFiles) {
  const auto kind = [](const std::string& path) {
    const auto machine = load(path, kLibrary);
    EXPECT_FALSE(machine.has_value());
    return machine ? DiagnosticKind::Usage : machine.error()[0].kind;
  };
  EXPECT_EQ(kind((folder_ / "absent.toml").string()), DiagnosticKind::ArchFile);
  EXPECT_EQ(kind(folder_.string()), DiagnosticKind::ArchFile);
  EXPECT_EQ(kind("/dev/zero"), DiagnosticKind::ArchFile);
  EXPECT_EQ(kind(write("binary.toml", std::string("name = \"\x00\xff\xfe\"", 13))),
            DiagnosticKind::ArchFile);
  EXPECT_EQ(kind(write("large.toml", std::string(2 << 20, '#'))), DiagnosticKind::ArchFile);
  EXPECT_EQ(kind(write("empty.toml", "")), DiagnosticKind::ArchKey);
  EXPECT_EQ(kind(write("deep.toml", "a = " + std::string(10000, '[') + std::string(10000, ']'))),
            DiagnosticKind::ArchFile);
}

TEST_F(ArchFiles, SyntaxErrorsHaveAPlace) {
  const Diagnostic diagnostic = only(replaced(kGood, "size = \"8 GB\"", "size = 8 GB"));
  EXPECT_EQ(diagnostic.kind, DiagnosticKind::ArchFile);
  EXPECT_EQ(position_of(*diagnostic.span.source, diagnostic.span.begin).line, 8);
  const Diagnostic twice = only(replaced(kGood, "size = ", "bandwidth = \"2 TB/s\"\nsize = "));
  EXPECT_EQ(twice.kind, DiagnosticKind::ArchFile);
  EXPECT_EQ(position_of(*twice.span.source, twice.span.begin).line, 8);
}

TEST_F(ArchFiles, UnknownKeysOfferTheNearest) {
  const Diagnostic typo = only(replaced(kGood, "[dram]", "[dram]\ntyp = \"HBM\""));
  EXPECT_EQ(typo.kind, DiagnosticKind::ArchKey);
  EXPECT_EQ(marked(typo), "typ");
  EXPECT_NE(typo.hint.find("`dram.type`"), std::string::npos) << typo.hint;
  const Diagnostic alien = only(replaced(kGood, "[dram]", "[dram]\ncolour = \"HBM\""));
  EXPECT_EQ(alien.message, "`dram.colour` is not a key of architecture files");
  EXPECT_NE(alien.hint.find("`bandwidth`, `size` or `type`"), std::string::npos) << alien.hint;
  EXPECT_EQ(only(std::string(kGood) + "[cooling]\n").kind, DiagnosticKind::ArchKey);
  EXPECT_EQ(only(std::string(kGood) + "[cooling.fans.left]\n").kind, DiagnosticKind::ArchKey);
}

TEST_F(ArchFiles, MissingKeysAreAllNamed) {
  const Diagnostics all = check(write("machine.toml", "vendor = \"nobody\"\n"), kLibrary);
  std::string messages;
  for (const Diagnostic& diagnostic : all) {
    EXPECT_EQ(diagnostic.kind, DiagnosticKind::ArchKey);
    messages += diagnostic.message + "\n";
  }
  for (const char* key :
       {"name", "source", "dram.bandwidth", "dram.size", "peak.vector.fp32", "sparsity_factor"}) {
    EXPECT_NE(messages.find(std::string("`") + key + "` is missing"), std::string::npos) << key;
  }
}

TEST_F(ArchFiles, UnitsAreDemanded) {
  const Diagnostic bare = only(replaced(kGood, "\"1 TB/s\"", "3350"));
  EXPECT_EQ(bare.kind, DiagnosticKind::ArchUnit);
  EXPECT_EQ(bare.message, "`dram.bandwidth` has no unit");
  EXPECT_EQ(marked(bare), "3350");
  ASSERT_EQ(bare.fixes.size(), 1U);
  EXPECT_EQ(bare.fixes[0].replacement, "\"3350 TB/s\"");
  EXPECT_EQ(bare.fixes[0].confidence, FixConfidence::HasPlaceholders);

  const Diagnostic other = only(replaced(kGood, "1 TB/s", "1 TB"));
  EXPECT_EQ(other.kind, DiagnosticKind::ArchUnit);
  EXPECT_EQ(marked(other), "\"1 TB\"");
  EXPECT_EQ(only(replaced(kGood, "\"8 GB\"", "true")).kind, DiagnosticKind::ArchUnit);
  EXPECT_EQ(only(replaced(kGood, "2 Tflop/s", "2 Top/s")).kind, DiagnosticKind::ArchUnit);
  EXPECT_EQ(only(replaced(kGood, "fp32 = ", "int8 = ")).kind, DiagnosticKind::ArchUnit);
  EXPECT_EQ(only(replaced(kGood, "2 Tflop/s", "1024 MAC/cycle")).kind, DiagnosticKind::ArchUnit);
}

TEST_F(ArchFiles, PositionsCountBytesAfterOtherScripts) {
  const Diagnostic bare =
      only(replaced(replaced(kGood, "Test machine", "Prüfmaschine"), "\"8 GB\"", "\"8 µB\" # ü"));
  EXPECT_EQ(marked(bare), "\"8 µB\"");
}

TEST_F(ArchFiles, StorageThatIsNotThere) {
  const std::string none = std::string(kGood) + "[on_chip]\ntensor_memory = \"none\"\n";
  const auto machine = load(write("mine.toml", none), kLibrary);
  ASSERT_TRUE(machine.has_value()) << render_text(machine.error());
  EXPECT_EQ(machine->tensor_memory, Bytes{0});
  EXPECT_FALSE(machine->register_file.has_value());
  EXPECT_EQ(only(replaced(kGood, "8 GB", "none")).kind, DiagnosticKind::ArchUnit);
}

TEST_F(ArchFiles, RatesPerCycleUseTheClock) {
  const auto machine = load(write("mine.toml", replaced(kGood, "2 Tflop/s", "1024 MAC/cycle") +
                                                   "[clock]\ndatasheet = \"2 GHz\"\n"),
                            kLibrary);
  ASSERT_TRUE(machine.has_value()) << render_text(machine.error());
  EXPECT_DOUBLE_EQ(machine->fastest(NumberFormat::Fp32)->peak.value, 2048e9);
}

TEST_F(ArchFiles, WrongFormsAndValues) {
  const std::string good = kGood;
  for (const std::string& text : {
           replaced(good, "sparsity_factor = 1", "sparsity_factor = \"1\""),
           replaced(good, "sparsity_factor = 1", "sparsity_factor = 0"),
           replaced(good, "\"Test machine\"", "7"),
           replaced(good, "\"Test machine\"", "\"\""),
           replaced(good, "[\"a test\"]", "[1, 2]"),
           good + "[strict]\npeak_scale = 0.9\n",
           good + "[strict]\npeak_scale = \"1.1\"\n",
           good + "[strict]\npeak_scale = nan\n",
           good + "[strict]\npeak_scale = 1e308\n",
           good + "[strict]\ndram_bandwidth = \"900 GB/s\"\n",
           good + "[clock]\ndatasheet = \"2 GHz\"\nmax = \"1 GHz\"\n",
           good + "[clock]\ndatasheet = \"2 GHz\"\nmax = \"3 GHz\"\n[strict]\npeak_scale = 1.1\n",
           "extends = 3\n" + good,
           "extends = \"\"\n" + good,
       }) {
    EXPECT_EQ(only(text).kind, DiagnosticKind::ArchFile) << text;
  }
}

TEST_F(ArchFiles, TwoFilesOfOneNameAreAnError) {
  fs::create_directories(folder_ / "d");
  const std::string first = write("s1.toml", kGood);
  const std::string second = write("d/s1.toml", replaced(kGood, "1 TB/s", "2 TB/s"));
  const auto both = load_all({first, "h100-sxm", second}, kLibrary);
  ASSERT_FALSE(both.has_value());
  const Diagnostic& error = both.error().front();
  EXPECT_EQ(error.kind, DiagnosticKind::Usage);
  EXPECT_NE(error.message.find("`" + first + "` and `" + second + "`"), std::string::npos)
      << error.message;
  // The same as a name of the library.
  const std::string copy = write("h100-sxm.toml", kGood);
  EXPECT_FALSE(load_all({"h100-sxm", copy}, kLibrary).has_value());
}

TEST_F(ArchFiles, AFileNamedTwiceCountsOnce) {
  const std::string path = write("s1.toml", kGood);
  const auto all = load_all({path, "h100-sxm", (folder_ / "." / "s1.toml").string(),
                             (kLibrary / "h100-sxm.toml").string()},
                            kLibrary);
  ASSERT_TRUE(all.has_value()) << render_text(all.error());
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ((*all)[0].id, "s1");
  EXPECT_EQ((*all)[1].id, "h100-sxm");
}

TEST_F(ArchFiles, AllProblemsOfAllFilesAreReported) {
  const auto all = load_all({"h100", write("bad.toml", "x = 1"), "nothing"}, kLibrary);
  ASSERT_FALSE(all.has_value());
  EXPECT_GE(all.error().size(), 3U);
  EXPECT_EQ(all.error().front().kind, DiagnosticKind::UnknownArch);
  EXPECT_EQ(all.error().back().kind, DiagnosticKind::UnknownArch);
}

TEST_F(ArchFiles, UncertainMustNameValues) {
  const Diagnostic diagnostic = only("uncertain = [\"peak.tensor.tf32\"]\n" + std::string(kGood));
  EXPECT_EQ(diagnostic.kind, DiagnosticKind::ArchKey);
  EXPECT_EQ(marked(diagnostic), "\"peak.tensor.tf32\"");
  const auto machine = load(
      write("mine.toml", "uncertain = [\"peak.vector.fp32\"]\n" + std::string(kGood)), kLibrary);
  ASSERT_TRUE(machine.has_value());
  EXPECT_TRUE(machine->rates.at(0).uncertain);
}

TEST_F(ArchFiles, ExtendsTakesWhatIsNotGiven) {
  const auto machine = load(write("mine.toml",
                                  "extends = \"h100-sxm\"\n[dram]\nbandwidth = \"6 TB/s\"\n"
                                  "[peak.tensor]\nfp8 = \"none\"\n"),
                            kLibrary);
  ASSERT_TRUE(machine.has_value()) << render_text(machine.error());
  EXPECT_EQ(machine->id, "mine");
  EXPECT_EQ(machine->name, "NVIDIA H100 SXM, changed by mine");
  EXPECT_DOUBLE_EQ(machine->dram_bandwidth.value, 6e12);
  EXPECT_EQ(machine->dram_size.value, 80000000000);
  EXPECT_EQ(machine->fastest(NumberFormat::Fp8), nullptr);
  EXPECT_DOUBLE_EQ(teraflops(*machine, UnitClass::Tensor, NumberFormat::Bf16), 989.4);
  EXPECT_EQ(machine->extends, std::vector<std::string>{"h100-sxm"});
  // The strict bandwidth described the replaced one; the strict peaks still hold.
  EXPECT_FALSE(machine->strict_dram_bandwidth.has_value());
  EXPECT_TRUE(machine->strict_peak_scale.has_value());
}

TEST_F(ArchFiles, ExtendsByPathIsRelativeToTheFile) {
  write("base.toml", kGood);
  const auto machine = load(
      write("mine.toml", "extends = \"./base.toml\"\nname = \"Mine\"\n[dram]\nsize = \"9 GB\"\n"),
      kLibrary);
  ASSERT_TRUE(machine.has_value()) << render_text(machine.error());
  EXPECT_EQ(machine->name, "Mine");
  EXPECT_EQ(machine->dram_size.value, 9000000000);
}

TEST_F(ArchFiles, ErrorsOfTheExtendedFilePointIntoIt) {
  write("base.toml", replaced(kGood, "8 GB", "8 GHz"));
  const Diagnostics all = check(write("mine.toml", "extends = \"base.toml\"\n"), kLibrary);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(all[0].span.source->name.ends_with("base.toml"));
}

TEST_F(ArchFiles, BrokenExtends) {
  write("a.toml", "extends = \"b.toml\"\n");
  const Diagnostics cycle = check(write("b.toml", "extends = \"./a.toml\"\n"), kLibrary);
  ASSERT_EQ(cycle.size(), 1U);
  EXPECT_EQ(cycle[0].kind, DiagnosticKind::ArchFile);
  EXPECT_NE(cycle[0].message.find("extends itself"), std::string::npos);
  EXPECT_EQ(only("extends = \"machine.toml\"\n").kind, DiagnosticKind::ArchFile);
  const Diagnostic unknown = only("extends = \"h100\"\n");
  EXPECT_EQ(unknown.kind, DiagnosticKind::UnknownArch);
  EXPECT_EQ(marked(unknown), "\"h100\"");
  EXPECT_EQ(only("extends = \"absent.toml\"\n").kind, DiagnosticKind::ArchFile);
}

TEST_F(ArchFiles, ReportsAllProblemsInOrder) {
  const std::string text =
      "name = 3\ncolour = \"red\"\nsparsity_factor = 1\nsource = [\"t\"]\n[peak.vector]\nfp32 = 7\n"
      "[dram]\nbandwidth = \"1 TB/s\"\nsize = \"8 Hz\"\n";
  const Diagnostics all = check(write("machine.toml", text), kLibrary);
  ASSERT_EQ(all.size(), 4U) << render_text(all);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.span.begin < b.span.begin;
  }));
}

TEST(Library, KeysOfManyPartsAreRefused) {
  std::string key = "a";
  for (int i = 0; i < 30'000; ++i) key += ".a";
  for (const std::string& text : {"[" + key + "]\n", key + " = 1\n"}) {
    const auto source = std::make_shared<Source>("deep.toml", text);
    const auto parsed = parse_toml(source);
    ASSERT_FALSE(parsed.has_value());
    EXPECT_EQ(parsed.error().front().kind, DiagnosticKind::ArchFile);
  }
}

}  // namespace
}  // namespace solar::arch
