#pragma once
// Parts of JSON reports that several of them have.

#include <nlohmann/json.hpp>

#include "report/report.h"

namespace solar::report {

nlohmann::ordered_json to_json(const Rewrite& rewrite);
nlohmann::ordered_json to_json(const Degenerate& degenerate);

}  // namespace solar::report
