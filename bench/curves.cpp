// Time of the traffic curves of single einsums, and what they reach: one line a case, then the
// median and the worst time.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "bound/curve.h"
#include "bound/single_cases.h"

int main() {
  using namespace solar::bound;
  std::vector<double> times;
  for (const SingleCase& one : single_cases()) {
    double best = 1e9;
    Curve curve;
    for (int i = 0; i < 3; ++i) {
      const std::clock_t start = std::clock();
      curve = traffic_curve(one.einsum);
      best = std::min(best, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    times.push_back(best);
    std::printf("%-30s %8.2f ms %5zu points", one.name.c_str(), best, curve.size());
    for (auto [capacity, given] : one.reached) {
      long long ours = -1;
      for (const Point& point : curve)
        if (point.capacity <= capacity) ours = point.traffic;
      std::printf("  S=%lld given %lld ours %lld%s", static_cast<long long>(capacity),
                  static_cast<long long>(given), ours,
                  ours < 0 || ours > given ? " WORSE"
                  : ours < given           ? " better"
                                           : "");
    }
    std::printf("\n");
  }
  std::sort(times.begin(), times.end());
  std::printf("median %.2f ms, worst %.2f ms\n", times[times.size() / 2], times.back());
}
