#include "exec/jit/host_functions.h"

#include <array>

#include "exec/lanes_binary.h"
#include "exec/lanes_unary.h"

namespace solar::exec::native {
namespace {

template <ElementType type>
float decode(uint8_t code) {
  return Codec<type>::load(code);
}
template <ElementType type>
uint8_t encode(float value) {
  return Codec<type>::store(value);
}
template <ElementType type>
float round_to(double value) {
  return cast_value<type>(value);
}
float lgamma_f32(float x) { return log_gamma(x); }
double lgamma_f64(double x) { return log_gamma(x); }

template <class Function>
HostFunction entry(const char* name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

}  // namespace

std::span<const HostFunction> host_functions() {
  static const std::array functions = {
      entry("solar_decode_f8e4m3", decode<ElementType::F8E4M3>),
      entry("solar_decode_f8e5m2", decode<ElementType::F8E5M2>),
      entry("solar_decode_f4e2m1", decode<ElementType::F4E2M1>),
      entry("solar_encode_f8e4m3", encode<ElementType::F8E4M3>),
      entry("solar_encode_f8e5m2", encode<ElementType::F8E5M2>),
      entry("solar_encode_f4e2m1", encode<ElementType::F4E2M1>),
      entry("solar_round_f16", round_to<ElementType::F16>),
      entry("solar_round_bf16", round_to<ElementType::BF16>),
      entry("solar_round_f8e4m3", round_to<ElementType::F8E4M3>),
      entry("solar_round_f8e5m2", round_to<ElementType::F8E5M2>),
      entry("solar_round_f4e2m1", round_to<ElementType::F4E2M1>),
      entry("solar_lgamma_f32", lgamma_f32),
      entry("solar_lgamma_f64", lgamma_f64),
      entry("solar_mod_f32", float_mod<float>),
      entry("solar_mod_f64", float_mod<double>),
      entry("solar_power_i64", integer_power),
  };
  return functions;
}

}  // namespace solar::exec::native
