// Scatters, ragged loops, sorting, run-time slices, operators without a body, storage.

#include <gtest/gtest.h>

#include "einsum/lift_test_util.h"

namespace solar::einsum {
namespace {

LiftOptions with_values(std::map<int32_t, std::vector<int64_t>> ports) {
  LiftOptions options;
  options.index_values = [ports](ir::TensorId id) -> std::optional<std::vector<int64_t>> {
    const auto at = ports.find(static_cast<int32_t>(id));
    return at == ports.end() ? std::nullopt : std::optional(at->second);
  };
  return options;
}

constexpr char kCsr[] = R"(
program csr(input ptr: i64[M + 1], input col: i64[NNZ], input val: f32[NNZ], input x: f32[K, N]) -> (y) {
  dims M = 4, K = 5, N = 3, NNZ = 7
  op "csr_mm" nominal NNZ*N {
    indexed y: f32[M, N] { for i:M, p:NNZ in ptr[i] .. ptr[i + 1], n:N   y[i,n] += val[p] * x[col[p], n] }
  }
})";

TEST(Data, SparseRowsCountTheirPoints) {
  const Graph graph =
      lift_text(kCsr, with_values({{0, {0, 2, 2, 5, 7}}, {1, {0, 3, 3, 3, 4, 0, 4}}}));
  EXPECT_EQ(graph.totals.macs.value, 21);
  EXPECT_EQ(graph.totals.macs_useful.value, 21);
  EXPECT_EQ(graph.operators.at(0).formula, "NNZ*N");
  EXPECT_EQ(read_bytes(graph, 0), 8 * 5);
  EXPECT_EQ(read_bytes(graph, 1), 8 * 7);
  EXPECT_EQ(read_bytes(graph, 2), 4 * 7);
  EXPECT_EQ(graph.reads.at(3).bytes, (ByteRange{Bytes{12}, Bytes{36}, Bytes{60}}));
  EXPECT_TRUE(assumes(graph, "example-ranges"));
  EXPECT_TRUE(graph.exact);
}

TEST(Data, RowsThatEndEarlyHaveFewerPoints) {
  const Graph graph = lift_text(kCsr, with_values({{0, {1, 2, 2, 2, 4}}}));
  EXPECT_EQ(graph.totals.macs.value, 21);
  EXPECT_EQ(graph.totals.macs_useful.value, 3 * 3);
  EXPECT_EQ(read_bytes(graph, 0), 8 * 5);
  EXPECT_EQ(read_bytes(graph, 2), 4 * 3);
}

TEST(Data, UnknownRangesAreALowerBound) {
  const Graph graph = lift_text(kCsr);
  EXPECT_EQ(graph.totals.macs.value, 21);
  EXPECT_EQ(graph.totals.macs_useful.value, 0);
  EXPECT_FALSE(graph.exact);
  EXPECT_EQ(read_bytes(graph, 0), 8 * 5);
  EXPECT_EQ(graph.totals.bytes_read_inputs.max.value, 8 * 12 + 4 * 7 + 4 * 15);
  EXPECT_TRUE(assumes(graph, "ranges-not-known"));
}

TEST(Data, CoordinateProductsAreScatters) {
  const Graph graph = lift_text(R"(
program coo(input row: i64[NNZ], input col: i64[NNZ], input val: f32[NNZ], input x: f32[K, N]) -> (y) {
  dims M = 4, K = 5, N = 3, NNZ = 7
  scatter y: f32[M, N] { for p:NNZ, n:N   y[row[p], n] += val[p] * x[col[p], n] }
})");
  EXPECT_EQ(graph.totals.macs.value, 21);
  EXPECT_EQ(graph.totals.macs_useful.value, 21);
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 8 * 14 + 4 * 7 + 4 * 3);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 4 * 12);
  EXPECT_EQ(graph.nodes.at(0).einsum, "y[row[p],n] = sum{p} val[p] * x[col[p],n]");
}

TEST(Data, AFunctionalUpdateCopiesTheRest) {
  const Graph graph = lift_text(R"(
program put(input y0: f32[M, D], input ids: i64[N], input x: f32[N, D]) -> (y) {
  dims M = 10, D = 4, N = 3
  scatter y: f32[M, D] { for i:N, d:D   y[ids[i], d] = x[i,d]  unique base y0 }
})");
  EXPECT_EQ(read_bytes(graph, 0), 4 * (40 - 12));
  EXPECT_EQ(read_bytes(graph, 1), 24);
  EXPECT_EQ(read_bytes(graph, 2), 48);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 160);
}

TEST(Data, UpdatesAtKnownPlaces) {
  const Graph graph = lift_text(R"(
program put(input y0: f32[M, D], input x: f32[N, D]) -> (y) {
  dims M = 10, D = 4, N = 3
  scatter y: f32[M, D] { for i:N, d:D   y[2*i + 1, d] += x[i,d]  base y0 }
})");
  EXPECT_EQ(read_bytes(graph, 0), 160);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 160);
  EXPECT_FALSE(graph.totals.depends_on_data);
}

// One decode step with a cache that is updated in place at a run-time position.
constexpr char kCache[] = R"(
program decode(state cache: f32[H, T, D], input q: f32[H, D], input k: f32[H, D], input pos: i64[]) -> (s) {
  dims H = 2, T = 10, D = 4
  scatter c2: f32[H, T, D] { for h:H, d:D   c2[h, pos[], d] = k[h,d]  unique base donated cache }
  kernel s: f32[H, T] { for h:H, t:T, d:D   s[h,t] += q[h,d] * c2[h,t,d] }
  update cache = c2
})";

TEST(Data, ADonatedCacheMovesOnlyWhatIsNew) {
  const Graph graph = lift_text(kCache);
  EXPECT_EQ(graph.totals.macs_useful.value, 80);
  EXPECT_EQ(read_bytes(graph, 0), 4 * (80 - 8));
  EXPECT_EQ(graph.totals.bytes_read_params.max.value, 4 * (80 - 8));
  EXPECT_TRUE(graph.totals.example_known);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 4 * (8 + 20));
  EXPECT_EQ(graph.totals.bytes_written_outputs.max.value, 4 * (8 + 20));
  const Operator* update = find_operator(graph, "c2");
  ASSERT_NE(update, nullptr);
  EXPECT_EQ(update->bytes_out.min.value, 4 * 8);
}

TEST(Data, ACacheThatIsNotDonatedIsCopied) {
  std::string text = kCache;
  text.erase(text.find("donated "), 8);
  const Graph graph = lift_text(text);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 4 * (80 + 20));
}

TEST(Data, ADonatedCacheThroughTheStepsOfALoop) {
  const Graph graph = lift_text(R"(
program generate(state cache: f32[T, D], input k: f32[S, D], input w: f32[D, D]) -> (last) {
  dims T = 10, D = 4, S = 3
  let (c1, k1) = repeat t:S with (c = cache, r = 0.0) {
    scatter c2: f32[T, D] { for d:D   c2[t + 2, d] = k[t,d]  unique base donated c }
    kernel r2: f32[] { for n:T, d:D   r2[] += c2[n,d]  init r[] }
    next (c2, r2)
  }
  view last = k1 { -> 1 }
  update cache = c1
})");
  // Rows 2 .. 4 are overwritten; row 2 before it is read, rows 3 and 4 are read first.
  EXPECT_EQ(read_bytes(graph, 0), 4 * (40 - 4));
  EXPECT_EQ(read_bytes(graph, 1), 4 * 12);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 4 * (12 + 1));
}

TEST(Data, SumsIntoDonatedRowsReadAndWriteThem) {
  const char* const text = R"(
program bump(state table: f32[V, D], input ids: i64[N], input g: f32[N, D]) -> (n) {
  dims V = 50, D = 4, N = 6
  scatter t2: f32[V, D] { for i:N, d:D   t2[ids[i], d] += g[i,d]  base donated table }
  kernel n: f32[] { for i:N, d:D   n[] += g[i,d] }
  update table = t2
})";
  const Graph graph = lift_text(text, with_values({{1, {3, 3, 7, 3, 9, 7}}}));
  const Bytes row{16};
  EXPECT_EQ(graph.totals.bytes_read_params, (ByteRange{row, Bytes{48}, Bytes{96}}));
  EXPECT_EQ(graph.totals.bytes_written_outputs, (ByteRange{Bytes{20}, Bytes{52}, Bytes{100}}));
}

TEST(Data, RunTimeSlicesReadAsMuchAsTheyHold) {
  const Graph graph = lift_text(R"(
program window(input x: f32[B, T, D], input pos: i64[], param w: f32[D]) -> (y) {
  dims B = 2, T = 10, D = 4
  slice part = x[:, at pos size 3, :]
  kernel y: f32[B, 3] { for b:B, t:3, d:D   y[b,t] += part[b,t,d] * w[d] }
})");
  EXPECT_EQ(graph.totals.bytes_read_inputs, (ByteRange{Bytes{104}, Bytes{104}, Bytes{104}}));
  EXPECT_EQ(graph.totals.macs_useful.value, 24);
  EXPECT_TRUE(graph.totals.example_known);
}

TEST(Data, SortingReadsLinesAndMultipliesNothing) {
  const Graph graph = lift_text(R"(
program best(input x: f32[B, N]) -> (v) {
  dims B = 3, N = 10
  op "topk" { let (v, ix) = topk(x; axis = 1, k = 4) }
})");
  EXPECT_EQ(graph.totals.macs.value, 0);
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 4 * 30);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 4 * 12);
  EXPECT_EQ(graph.totals.elementwise_ops, 30 * 2);
  EXPECT_EQ(graph.nodes.at(0).einsum, "v, ix = largest(x; axis = 1, count = 4)");
}

TEST(Data, CompactReadsAll) {
  const Graph graph = lift_text(R"(
program parts(input x: i64[N], input y: f32[A, B]) -> (v, n, places) {
  dims N = 8, A = 2, B = 3
  let (v, n) = unique(x; limit = 5)
  let (places, count) = nonzero(y; limit = 4)
})");
  EXPECT_EQ(read_bytes(graph, 0), 64);
  EXPECT_EQ(read_bytes(graph, 1), 24);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 8 * (5 + 1 + 4 * 2));
  EXPECT_EQ(graph.totals.elementwise_ops, 8 * 3 + 6);
}

TEST(Data, MixtureOfExpertsWorksPerChosenExpert) {
  const Graph graph = lift_text(R"(
program moe(input x: f32[S, D], param gate: f32[E, D], param w: f32[E, F, D]) -> (y) {
  dims S = 6, D = 4, E = 5, F = 3, K = 2
  op "gate" { let g = linear(x, gate) }
  op "topk" { let (best, chosen) = topk(g; axis = 1, k = K) }
  op "experts" { indexed a: f32[S, K, F] { for s:S, k:K, f:F, d:D   a[s,k,f] += x[s,d] * w[chosen[s,k], f, d] } }
  kernel y: f32[S, F] { for s:S, f:F, k:K   y[s,f] += best[s,k] * a[s,k,f] }
})");
  EXPECT_EQ(graph.totals.macs.value, 6 * 5 * 4 + 6 * 2 * 3 * 4 + 6 * 3 * 2);
  EXPECT_EQ(graph.totals.macs_useful.value, graph.totals.macs.value);
  EXPECT_EQ(read_bytes(graph, 2), 4 * 12);
}

TEST(Data, OpaqueOperatorsCostWhatTheyDeclare) {
  const Graph graph = lift_text(R"(
program custom(input a: f32[M, K], input b: f32[K, N]) -> (z) {
  dims M = 4, K = 6, N = 5
  kernel c: f32[M, K] { for m:M, k:K   c[m,k] = a[m,k] * 2 }
  opaque y: f32[M, N] = "gated_mm"(c, b) macs M*N*K
  kernel z: f32[M, N] { for m:M, n:N   z[m,n] = y[m,n] + 1 }
})");
  EXPECT_EQ(graph.totals.macs.value, 120);
  EXPECT_EQ(graph.totals.macs_useful.value, 120);
  const Operator* op = find_operator(graph, "gated_mm");
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(op->bytes_in.min.value, 4 * (24 + 30));
  EXPECT_EQ(op->bytes_out.min.value, 4 * 20);
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 4 * (24 + 30));
  EXPECT_TRUE(assumes(graph, "opaque-as-declared"));
}

TEST(Data, DeclaredBytesStandForTheInputs) {
  const Graph graph = lift_text(R"(
program custom(input a: f32[M, K], input b: f32[K, N]) -> (y) {
  dims M = 4, K = 6, N = 5
  opaque y: f32[M, N] = "sparse_mm"(a, b) macs 7 nominal M*N*K reads 150 writes 40
})");
  EXPECT_EQ(graph.totals.macs.value, 120);
  EXPECT_EQ(graph.totals.macs_useful.value, 7);
  const Operator* op = find_operator(graph, "sparse_mm");
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(op->bytes_in.min.value, 150);
  EXPECT_EQ(op->bytes_out.min.value, 40);
  // 96 bytes of a and 120 of b: at least 30 of a and 54 of b, in whole elements.
  EXPECT_EQ(read_bytes(graph, 0), 28);
  EXPECT_EQ(read_bytes(graph, 1), 52);
}

TEST(Data, HolesCountAsNothingYet) {
  const Graph graph = lift_text(R"(
program todo(input a: f32[M, K], param w: f32[K, K], param v: f32[K]) -> (y) {
  dims M = 4, K = 6
  kernel c: f32[M, K] { for m:M, k:K, j:K   c[m,k] += a[m,j] * w[j,k] }
  hole y: f32[M] = "my_op"(c, v)
})");
  EXPECT_EQ(graph.totals.macs_useful.value, 4 * 36);
  EXPECT_EQ(read_bytes(graph, 2), 0);
  EXPECT_TRUE(assumes(graph, "hole-not-counted"));
  const Operator* hole = find_operator(graph, "my_op");
  ASSERT_NE(hole, nullptr);
  EXPECT_EQ(hole->bytes_in.min.value + hole->bytes_out.min.value, 0);
  EXPECT_FALSE(graph.exact);
}

TEST(Data, BlockScaledStorage) {
  const Graph graph = lift_text(R"(
program quantised(input x: bf16[M, K], param w: f32[N, K] as nvfp4, param v: f32[N, J] as mxfp8) -> (y) {
  dims M = 2, K = 64, N = 8, J = 33
  kernel y: f32[M, N] { for m:M, n:N, k:K   y[m,n] += f32(x[m,k]) * w[n,k]  init v[n,0] * v[n,32] }
})");
  EXPECT_EQ(read_bytes(graph, 1), 8 * 64 * 9 / 16);
  EXPECT_EQ(read_bytes(graph, 2), (16 * 33 + 31) / 32);
  const Graph all = lift_text(R"(
program rows(param v: f32[N, J] as mxfp8) -> (y) {
  dims N = 8, J = 33
  kernel y: f32[N] { for n:N, j:J   y[n] += v[n,j] }
})");
  EXPECT_EQ(read_bytes(all, 0), 8 * (33 + 2));
}

TEST(Data, HalfOfASparseWeightIsZero) {
  const auto program = ir::verify_text(R"(
program sparse(input x: bf16[M, K], param w: bf16[N, K], param b: bf16[N], param t: bf16[V, D],
               input i: i64[M]) -> (y, e) {
  dims M = 2, K = 64, N = 8, V = 10, D = 4
  op "to" { kernel u: f32[N, K] { for n:N, k:K   u[n,k] = f32(w[n,k]) } }
  op "linear" { kernel p: f32[M, N] { for m:M, n:N, k:K   p[m,n] += f32(x[m,k]) * u[n,k] } }
  op "bias" { kernel y: f32[M, N] { for m:M, n:N   y[m,n] = p[m,n] + f32(b[n]) } }
  op "embedding" { indexed e: bf16[M, D] { for m:M, d:D   e[m,d] = t[i[m],d] } }
})");
  LiftOptions options;
  options.sparse_weights = true;
  options.storage = *storage_policy_named("params=int4");
  const Graph graph = *lift(*program, options);
  EXPECT_EQ(graph.totals.macs.value, 2 * 64 * 8);
  EXPECT_EQ(graph.totals.macs_useful.value, 2 * 64 * 8 / 2);
  EXPECT_EQ(read_bytes(graph, 1), 8 * 64 / 2 * (4 + 2) / 8);
  EXPECT_EQ(read_bytes(graph, 2), 4);
  EXPECT_EQ(read_bytes(graph, 3), 2);  // one row at least
  EXPECT_EQ(graph.assumptions.back(), "structured-sparsity");
}

TEST(Data, StorageAsAsked) {
  constexpr char kText[] = R"(
program kept(input x: f32[M, K], param w: f32[N, K], state s: f32[M, N], input i: i64[M]) -> (y) {
  dims M = 2, K = 64, N = 8
  kernel p: f32[M, N] { for m:M, n:N, k:K   p[m,n] += x[m,k] * w[n,k] }
  kernel y: f32[M, N] { for m:M, n:N   y[m,n] = p[m,n] + s[m,n] + f32(i[m]) }
  update s = y
})";
  const auto bytes = [&](std::string_view policy) {
    const auto program = ir::verify_text(kText);
    LiftOptions options;
    options.storage = *storage_policy_named(policy);
    const auto graph = lift(*program, options);
    std::vector<int64_t> all;
    for (size_t i = 0; i < 4; ++i) all.push_back(read_bytes(*graph, static_cast<int32_t>(i)));
    all.push_back(graph->totals.bytes_written_outputs.min.value);
    EXPECT_EQ(graph->storage, policy);
    EXPECT_EQ(graph->totals.macs_useful.value, 2 * 64 * 8);
    return all;
  };
  using Bytes = std::vector<int64_t>;
  EXPECT_EQ(bytes("as-written"), (Bytes{512, 2048, 64, 16, 64}));
  EXPECT_EQ(bytes("bf16"), (Bytes{256, 1024, 32, 16, 32}));
  EXPECT_EQ(bytes("params=nvfp4"), (Bytes{512, 512 * 9 / 16, 64, 16, 64}));
  EXPECT_EQ(bytes("params=int4,state=fp8,activations=bf16"), (Bytes{256, 256, 16, 16, 16}));
  for (const char* const wrong : {"", "bf17", "params", "params=", "weights=bf16", "params=bf16,",
                                  "params=bf16,params=fp8", "params=as-written"}) {
    EXPECT_FALSE(storage_policy_named(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace solar::einsum
