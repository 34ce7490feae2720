// Analyses programs on request, for bench/nvlabs_solar.py: each line of the input is
//   FILE.alir ARCH,ARCH
// and is answered by the processor seconds from reading the file to the last bound.

#include <fmt/format.h>
#include <time.h>

#include <iostream>
#include <sstream>

#include "driver/pipeline.h"

namespace {

using namespace solar;

double processor_now() {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

int main() {
  const driver::Environment environment = driver::environment_of_process();
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    driver::AnalyzeOptions options;
    std::string archs;
    words >> options.source >> archs;
    std::istringstream names(archs);
    for (std::string name; std::getline(names, name, ',');) options.archs.push_back(name);
    const double begin = processor_now();
    const auto report = driver::analyze(options, environment);
    const double spent = processor_now() - begin;
    if (report) {
      std::cout << fmt::format("{:.9f}", spent) << std::endl;
    } else {
      std::cout << "error: " << report.error().front().message << std::endl;
    }
  }
}
