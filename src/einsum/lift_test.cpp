// Whole programs: counts, footprints, operators.

#include "einsum/lift.h"

#include <gtest/gtest.h>

#include "einsum/lift_test_util.h"

namespace solar::einsum {
namespace {

constexpr char kLinear[] = R"(
program linear(input x: f32[B, S, K], param w: f32[N, K], param b: f32[N]) -> (y) {
  dims B = 2, S = 5, K = 7, N = 4
  op "aten.linear" at "model.py:9" module "fc" {
    kernel p: f32[B, S, N] { for b:B, s:S, n:N, k:K   p[b,s,n] += x[b,s,k] * w[n,k] }
    kernel y: f32[B, S, N] { for b:B, s:S, n:N   y[b,s,n] = p[b,s,n] + b[n] }
  }
})";

TEST(Lift, Linear) {
  const Graph graph = lift_text(kLinear);
  ASSERT_EQ(graph.operators.size(), 1u);
  const Operator& op = graph.operators[0];
  EXPECT_EQ(op.name, "aten.linear");
  EXPECT_EQ(op.at, "model.py:9");
  EXPECT_EQ(op.module, "fc");
  EXPECT_EQ(op.einsum, "p[b,s,n] = sum{k} x[b,s,k] * w[n,k]");
  EXPECT_EQ(op.macs.value, 280);
  EXPECT_EQ(op.macs_useful.value, 280);
  EXPECT_EQ(op.formula, "B*S*N*K");
  EXPECT_EQ(op.elementwise_ops, 40);
  EXPECT_EQ(op.bytes_in.min.value, 4 * (70 + 28 + 4));
  EXPECT_EQ(op.bytes_out.min.value, 4 * 40);
  EXPECT_EQ(graph.totals.flops.value, 560);
  EXPECT_EQ(graph.totals.bytes_read_inputs.example.value, 280);
  EXPECT_EQ(graph.totals.bytes_read_params.example.value, 128);
  EXPECT_EQ(graph.totals.bytes_written_outputs.example.value, 160);
  ASSERT_EQ(graph.mac_classes.size(), 1u);
  EXPECT_EQ(graph.mac_classes[0], (MacClass{ir::ElementType::F32, false, Macs{280}}));
  EXPECT_TRUE(graph.assumptions.empty());
  EXPECT_TRUE(graph.exact);
}

TEST(Lift, PaddedGroupedConvolutionReadsThroughViews) {
  const Graph graph = lift_text(R"(
fn conv<N, G, I, O, H, R, type T>(x: T[N, G, I, H], w: T[G, O, I, R]) -> (y) {
  kernel y: T[N, G, O, H] {
    for n:N, g:G, o:O, p:H, i:I, r:R
    let h = p + r - 1
    where 0 <= h < H
    y[n,g,o,p] += x[n,g,i,h] * w[g,o,i,r]
  }
}
program conv(input x: f32[N, C, H], param w: f32[O, I, 3]) -> (y) {
  dims N = 2, G = 2, I = 2, J = 3, C = G*I, O = G*J, H = 11
  op "aten.conv1d" {
    view xg = x { n, (g:G, i), h -> n, g, i, h }
    view wg = w { (g:G, o), i, r -> g, o, i, r }
    let yg = conv(xg, wg)
    view y = yg { n, g, o, p -> n, (g, o), p }
  }
})");
  EXPECT_EQ(graph.totals.macs.value, 2 * 2 * 3 * 11 * 2 * 3);
  EXPECT_EQ(graph.totals.macs_useful.value, 2 * 2 * 3 * 2 * (33 - 2));
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 4 * 2 * 4 * 11);
  EXPECT_EQ(graph.totals.bytes_read_params.min.value, 4 * 6 * 2 * 3);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 4 * 2 * 6 * 11);
  ASSERT_EQ(graph.mac_classes.size(), 1u);
  EXPECT_TRUE(graph.mac_classes[0].is_convolution);
}

TEST(Lift, TransposedConvolution) {
  const Graph graph = lift_text(R"(
program convt(input x: f32[N, C, H, W], param conv_weight: f32[C, O, R, R]) -> (y) {
  dims N = 1, C = 3, O = 2, H = 4, W = 5, R = 3, S = 2, PAD = 1, OP = 1, P = (H-1)*S - 2*PAD + R + OP, Q = (W-1)*S - 2*PAD + R + OP
  op "aten.conv_transpose2d" nominal N*C*O*H*W*R*R {
    kernel y: f32[N, O, P, Q] {
      for n:N, o:O, p:P, q:Q, c:C, r:R, s:R
      let h = p + PAD - r   let w = q + PAD - s
      where h % S == 0, w % S == 0, 0 <= h < S*H, 0 <= w < S*W
      y[n,o,p,q] += x[n, c, h // S, w // S] * conv_weight[c,o,r,s]
    }
  }
})");
  EXPECT_EQ(graph.totals.macs.value, 1080);
  EXPECT_EQ(graph.totals.macs_useful.value, 924);
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 240);
  EXPECT_EQ(graph.totals.bytes_read_params.min.value, 216);
  EXPECT_TRUE(graph.mac_classes[0].is_convolution);
}

constexpr char kCausal[] = R"(
program gqa(input q: f32[B, H, S, D], input k: f32[B, G, S, D], input v: f32[B, G, S, D]) -> (o) {
  dims B = 2, G = 2, R = 3, H = G*R, S = 6, D = 4
  op "scaled_dot_product_attention" nominal B*H*S*S*(D + D) {
    kernel s: f32[B, H, S, S] { for b:B, h:H, i:S, j:S, d:D where j <= i   s[b,h,i,j] += q[b,h,i,d] * k[b, h // R, j, d] }
    kernel m: f32[B, H, S] { for b:B, h:H, i:S, j:S where j <= i   m[b,h,i] max= s[b,h,i,j] }
    kernel e: f32[B, H, S, S] { for b:B, h:H, i:S, j:S where j <= i   e[b,h,i,j] = exp((s[b,h,i,j] - m[b,h,i]) * 0.5)  else 0 }
    kernel z: f32[B, H, S] { for b:B, h:H, i:S, j:S   z[b,h,i] += e[b,h,i,j] }
    kernel u: f32[B, H, S, D] { for b:B, h:H, i:S, j:S, d:D   u[b,h,i,d] += e[b,h,i,j] * v[b, h // R, j, d] }
    kernel o: f32[B, H, S, D] { for b:B, h:H, i:S, d:D   o[b,h,i,d] = u[b,h,i,d] / z[b,h,i] }
  }
})";

TEST(Lift, CausalAttentionWithStructuralZeros) {
  const Graph graph = lift_text(kCausal);
  const int64_t pairs = 2 * 6 * 21;
  EXPECT_EQ(graph.totals.macs.value, 2 * 6 * 36 * 8);
  EXPECT_EQ(graph.totals.macs_useful.value,
            pairs * 8);  // `u` has no guard: e is zero above the diagonal
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 4 * (2 * 6 * 6 * 4 + 2 * 2 * 2 * 6 * 4));
  EXPECT_EQ(graph.totals.special_ops, pairs + 2 * 6 * 6 * 4);
  EXPECT_EQ(graph.assumptions, std::vector<std::string>{"finite-factors"});
}

TEST(Lift, MaskedScoresThroughMinusInfinity) {
  const Graph graph = lift_text(R"(
program masked(input q: f32[S, D], input k: f32[S, D], input v: f32[S, D]) -> (o) {
  dims S = 6, D = 4
  kernel mask: bool[S, S] { for i:S, j:S   mask[i,j] = j <= i }
  kernel s: f32[S, S] { for i:S, j:S, d:D   s[i,j] += q[i,d] * k[j,d] }
  kernel t: f32[S, S] { for i:S, j:S   t[i,j] = select(mask[i,j], s[i,j], -inf) }
  kernel m: f32[S] { for i:S, j:S   m[i] max= t[i,j] }
  kernel e: f32[S, S] { for i:S, j:S   e[i,j] = exp(t[i,j] - m[i]) }
  kernel z: f32[S] { for i:S, j:S   z[i] += e[i,j] }
  kernel u: f32[S, D] { for i:S, j:S, d:D   u[i,d] += e[i,j] * v[j,d] }
  kernel o: f32[S, D] { for i:S, d:D   o[i,d] = u[i,d] / z[i] }
})");
  EXPECT_EQ(graph.totals.macs.value, 2 * 36 * 4);
  EXPECT_EQ(graph.totals.macs_useful.value, 2 * 21 * 4);
  EXPECT_EQ(find_operator(graph, "mask"), nullptr);  // computable without input
}

TEST(Lift, TriangularProductReadsHalf) {
  const Graph graph = lift_text(R"(
program tri(input a: f32[N, N], input b: f32[N, M]) -> (y) {
  dims N = 5, M = 3
  op "triu" { kernel t: f32[N, N] { for i:N, j:N where i <= j   t[i,j] = a[i,j]  else 0 } }
  op "matmul" { kernel y: f32[N, M] { for i:N, m:M, k:N   y[i,m] += t[i,k] * b[k,m] } }
})");
  EXPECT_EQ(graph.totals.macs.value, 75);
  EXPECT_EQ(graph.totals.macs_useful.value, 45);
  EXPECT_EQ(read_bytes(graph, 0), 4 * 15);
  EXPECT_EQ(read_bytes(graph, 1), 4 * 15);
}

TEST(Lift, SelectAgainstZeroIsAGuard) {
  const Graph graph = lift_text(R"(
program tri(input a: f32[N, N], input b: f32[N, M]) -> (y) {
  dims N = 5, M = 3
  kernel y: f32[N, M] { for i:N, m:M, k:N   y[i,m] += select(k <= i and i - k < 2, a[i,k], 0) * b[k,m] }
})");
  EXPECT_EQ(graph.totals.macs.value, 75);
  EXPECT_EQ(graph.totals.macs_useful.value, 27);
  EXPECT_EQ(read_bytes(graph, 0), 4 * 9);
}

TEST(Lift, ProductsOfOneAccessAndScalingsAreElementwise) {
  const Graph graph = lift_text(R"(
program norms(input x: f32[B, N], param g: f32[B]) -> (q, s) {
  dims B = 3, N = 4
  kernel q: f32[B] { for b:B, n:N   q[b] += (x[b,n] - 1) * (x[b,n] - 1) }
  kernel s: f32[B] { for b:B, n:N   s[b] += x[b,n] * g[b] * 0.5 }
})");
  EXPECT_EQ(graph.totals.macs.value, 0);
  EXPECT_EQ(graph.totals.macs_useful.value, 0);
}

TEST(Lift, GramMatrixThroughAViewIsAContraction) {
  const Graph graph = lift_text(R"(
program gram(input x: f32[N, D]) -> (y) {
  dims N = 3, D = 4
  view t = x { n, d -> d, n }
  kernel y: f32[N, N] { for i:N, j:N, d:D   y[i,j] += x[i,d] * t[d,j] }
})");
  EXPECT_EQ(graph.totals.macs.value, 36);
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 48);
}

TEST(Lift, ASummedAxisOfExtentOneIsOneWhereverItComesFrom) {
  const char* text = R"(
program outer(input x: f32[M, K], input y: f32[K, N], input g: f32[M]) -> (p, q, s) {{
  dims M = 3, N = 4, K = {}
  view t = x {{ m, k -> k, m }}
  kernel p: f32[M, N] {{ for i:M, j:N, k:K   p[i,j] += t[k,i] * y[k,j] }}
  slice r = y[0:1, :]
  kernel q: f32[M, N] {{ for i:M, j:N, k:1   q[i,j] += x[i,k] * r[k,j] }}
  kernel s: f32[M] {{ for i:M, k:K   s[i] += x[i,k] * g[i] }}
}})";
  EXPECT_EQ(lift_text(fmt::format(fmt::runtime(text), 2)).totals.macs.value, 24 + 12);
  EXPECT_EQ(lift_text(fmt::format(fmt::runtime(text), 1)).totals.macs.value, 12 + 12);
}

TEST(Lift, ManyFactorsAtTheirBestOrder) {
  const Graph graph = lift_text(R"(
program chain(input a: f32[I, J], input b: f32[J, K], input c: f32[K, L]) -> (y) {
  dims I = 2, J = 9, K = 8, L = 3
  kernel y: f32[I, L] { for i:I, l:L, j:J, k:K   y[i,l] += a[i,j] * b[j,k] * c[k,l] }
})");
  EXPECT_EQ(graph.totals.macs.value, 2 * 2 * 3 * 9 * 8);
  EXPECT_EQ(graph.totals.macs_useful.value, 2 * 9 * 8 + 2 * 8 * 3);
  EXPECT_EQ(graph.nodes[0].formula, "2*I*L*J*K");
}

TEST(Lift, DeadCodeCostsNothing) {
  const Graph graph = lift_text(R"(
program dead(input x: f32[N, K], param w: f32[M, K], param aux: f32[M, K]) -> (y) {
  dims N = 3, K = 4, M = 5
  op "aux" { kernel a: f32[N, M] { for n:N, m:M, k:K   a[n,m] += x[n,k] * aux[m,k] } }
  op "main" { kernel y: f32[N, M] { for n:N, m:M, k:K   y[n,m] += x[n,k] * w[m,k] } }
  op "unused" { kernel s: f32[] { for n:N, m:M   s[] += a[n,m] * y[n,m] } }
})");
  ASSERT_EQ(graph.operators.size(), 1u);
  EXPECT_EQ(graph.totals.macs.value, 60);
  EXPECT_EQ(graph.totals.bytes_read_params.min.value, 80);
}

TEST(Lift, OnlyTheDemandedPartIsWork) {
  const Graph graph = lift_text(R"(
program part(input x: f32[N, K], param w: f32[M, K]) -> (y) {
  dims N = 6, K = 4, M = 5
  op "mm" { kernel p: f32[N, M] { for n:N, m:M, k:K   p[n,m] += x[n,k] * w[m,k] } }
  slice q = p[1:6:2, 0:3]
  op "relu" { kernel y: f32[3, 3] { for n:3, m:3   y[n,m] = max(q[n,m], 0) } }
})");
  EXPECT_EQ(graph.totals.macs.value, 120);
  EXPECT_EQ(graph.totals.macs_useful.value, 36);
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 4 * 3 * 4);
  EXPECT_EQ(graph.totals.bytes_read_params.min.value, 4 * 3 * 4);
  EXPECT_EQ(find_operator(graph, "relu")->bytes_in.min.value, 36);
  EXPECT_EQ(find_operator(graph, "mm")->bytes_out.min.value, 36);
}

TEST(Lift, ConcatIsAnOperatorOfItsOwnAndSlicesUndoIt) {
  const Graph graph = lift_text(R"(
program cat(input x: f32[N, K], input z: f32[M, K]) -> (y, r) {
  dims N = 3, M = 2, K = 4
  op "cat" { let c = concat(x, z; axis = 0) }
  op "double" { kernel y: f32[N + M, K] { for n:N + M, k:K   y[n,k] = c[n,k] + c[n,k] } }
  op "cat2" { let d = concat(x, z; axis = 0) }
  slice e = d[N:N+M, :]
  op "neg" { kernel r: f32[M, K] { for m:M, k:K   r[m,k] = -e[m,k] } }
})");
  const Operator* cat = find_operator(graph, "cat");
  ASSERT_NE(cat, nullptr);
  EXPECT_EQ(cat->bytes_in.min.value, 80);
  EXPECT_EQ(cat->bytes_out.min.value, 80);
  EXPECT_EQ(cat->einsum, "c = concat(x, z; axis = 0)");
  EXPECT_EQ(find_operator(graph, "cat2")->bytes_in.min.value, 32);
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 80);
}

constexpr char kTied[] = R"(
program tied(input ids: i64[T], param table: f32[V, W], param mix: f32[W, W]) -> (y) {
  dims T = 5, V = 20, W = 6
  op "aten.embedding" { indexed e: f32[T, W] { for t:T, w:W   e[t,w] = table[ids[t], w] } }
  op "aten.matmul" { kernel h: f32[T, W] { for t:T, w:W, k:W   h[t,w] += e[t,k] * mix[k,w] } }
  view tt = table { v, w -> w, v }
  op "aten.matmul" { kernel y: f32[T, V] { for t:T, v:V, w:W   y[t,v] += h[t,w] * tt[w,v] } }
})";

TEST(Lift, TiedEmbeddingIsReadOnce) {
  const Graph graph = lift_text(kTied);
  EXPECT_EQ(graph.totals.macs.value, 780);
  EXPECT_EQ(graph.totals.macs_useful.value, 780);
  EXPECT_EQ(graph.totals.bytes_read_inputs, (ByteRange{Bytes{40}, Bytes{40}, Bytes{40}}));
  EXPECT_EQ(graph.totals.bytes_read_params, (ByteRange{Bytes{624}, Bytes{624}, Bytes{624}}));
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 400);
  EXPECT_TRUE(graph.totals.depends_on_data);
  const Operator* embedding = find_operator(graph, "aten.embedding");
  ASSERT_NE(embedding, nullptr);
  EXPECT_EQ(embedding->bytes_in.min.value, 40 + 24);
  EXPECT_EQ(embedding->bytes_in.max.value, 40 + 5 * 24);
}

constexpr char kRows[] = R"(
program rows(input ids: i64[B, S], param table: f32[V, D]) -> (y) {
  dims B = 2, S = 3, V = 1000, D = 4
  op "aten.embedding" { indexed e: f32[B, S, D] { for b:B, s:S, d:D   e[b,s,d] = table[ids[b,s], d] } }
  op "aten.sum" { kernel y: f32[B, D] { for b:B, d:D, s:S   y[b,d] += e[b,s,d] } }
})";

TEST(Lift, EmbeddingRowsDependOnTheIndices) {
  const Graph unknown = lift_text(kRows);
  EXPECT_EQ(unknown.totals.bytes_read_params, (ByteRange{Bytes{16}, Bytes{96}, Bytes{96}}));
  EXPECT_FALSE(unknown.totals.example_known);
  LiftOptions options;
  options.index_values = [](ir::TensorId) { return std::vector<int64_t>{5, 900, 5, 17, 900, 2}; };
  const Graph known = lift_text(kRows, options);
  EXPECT_EQ(known.totals.bytes_read_params, (ByteRange{Bytes{16}, Bytes{64}, Bytes{96}}));
  EXPECT_TRUE(known.totals.example_known);
  EXPECT_EQ(known.totals.bytes_read_inputs.example.value, 48);
  EXPECT_EQ(known.totals.macs.value, 0);
}

TEST(Lift, GeneratedPositionsAreAPlainSlice) {
  const Graph graph = lift_text(R"(
program positions(param table: f32[V, D]) -> (y) {
  dims S = 3, V = 10, D = 4
  op "arange" { kernel p: i64[S] { for s:S   p[s] = s + 2 } }
  op "aten.embedding" { indexed y: f32[S, D] { for s:S, d:D   y[s,d] = table[p[s], d] } }
})");
  EXPECT_EQ(graph.totals.bytes_read_params, (ByteRange{Bytes{48}, Bytes{48}, Bytes{48}}));
  EXPECT_FALSE(graph.totals.depends_on_data);
  EXPECT_EQ(graph.operators.size(), 1u);
}

TEST(Lift, OutputsThatAliasOrRepeatAreWrittenOnce) {
  const Graph graph = lift_text(R"(
program out(input x: f32[N, M], state c: f32[N]) -> (y, y2, xt, z) {
  dims N = 3, M = 4
  kernel y: f32[N, M] { for n:N, m:M   y[n,m] = x[n,m] + c[n] }
  view y2 = y { n, m -> m, n }
  view xt = x { n, m -> m, n }
  slice z = y[0:1, :]
  kernel c2: f32[N] { for n:N   c2[n] = c[n] + 1 }
  update c = c2
})");
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 48);
  EXPECT_EQ(graph.totals.bytes_read_params.min.value, 12);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 48 + 12);
}

TEST(Lift, ConstantsFoldAndExpandCountsAtItsBase) {
  const Graph graph = lift_text(R"(
program folded(input x: f32[N], const c: f32[3] = [1, 2, 3]) -> (y) {
  dims N = 3, R = 4
  op "iota" { kernel i: f32[N] { for n:N   i[n] = f32(n) } }
  op "scale" { kernel j: f32[N] { for n:N   j[n] = i[n] * 2 } }
  view e = x { n -> r:R, n }
  op "add" { kernel y: f32[R, N] { for r:R, n:N   y[r,n] = e[r,n] * j[n] + c[n] } }
})");
  EXPECT_EQ(graph.operators.size(), 1u);
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 12);
  ASSERT_TRUE(graph.least);
  EXPECT_EQ(graph.least->totals.bytes_read_inputs.min.value, 8);  // j[0] is 0
  EXPECT_EQ(graph.totals.bytes_read_params.min.value, 12);
  EXPECT_EQ(graph.operators[0].bytes_in.min.value, 24);
}

TEST(Lift, ScansNeedEveryEarlierStep) {
  const Graph graph = lift_text(R"(
program scan(input x: f32[B, T]) -> (y) {
  dims B = 2, T = 7
  kernel s: f32[B, T] { for b:B, seq t:T   s[b,t] = prev + x[b,t]   init 0 }
  slice y0 = s[:, 3]
  kernel y: f32[B] { for b:B   y[b] = y0[b] * 2 }
})");
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 2 * 4 * 4);
  EXPECT_TRUE(graph.exact);
}

TEST(Lift, UnusedArgReductionIndicesAndInitReads) {
  const Graph graph = lift_text(R"(
program best(input x: f32[N, D], param b: f32[N]) -> (v, y) {
  dims N = 3, D = 4
  kernel v: f32[N], ix: i64[N] { for n:N, d:D   v[n], ix[n] argmax= x[n,d], d }
  kernel y: f32[N] { for n:N, d:D where d < 2   y[n] += x[n,d]   init b[n] }
})");
  EXPECT_EQ(graph.totals.bytes_read_params.min.value, 12);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 24);
}

TEST(Lift, ElseReadsWhereNoPointArrives) {
  const Graph graph = lift_text(R"(
program pad(input x: f32[N], param p: f32[M]) -> (y) {
  dims N = 3, M = 7
  kernel y: f32[M] { for m:M where 2 <= m < 5   y[m] = x[m - 2]   else p[m] }
})");
  EXPECT_EQ(read_bytes(graph, 0), 12);
  EXPECT_EQ(read_bytes(graph, 1), 16);
}

TEST(Lift, ExplicitPaddingBeforeAConvolution) {
  const Graph graph = lift_text(R"(
program padded(input x: f32[H], param w: f32[R]) -> (y) {
  dims H = 8, R = 3
  op "pad" { kernel xp: f32[H + 2] { for h:H + 2 where 1 <= h <= H   xp[h] = x[h - 1]   else 0 } }
  op "aten.conv1d" { kernel y: f32[H] { for p:H, r:R   y[p] += xp[p + r] * w[r] } }
})");
  EXPECT_EQ(graph.totals.macs.value, 24);
  EXPECT_EQ(graph.totals.macs_useful.value, 22);
}

TEST(Lift, GathersOfIntermediatesNeedOneRowAtLeast) {
  const Graph graph = lift_text(R"(
program pick(input x: f32[N, K], input ids: i64[B], param w: f32[M, K]) -> (y) {
  dims N = 6, K = 4, M = 5, B = 2
  op "convert_mm" { kernel p: f32[N, M] { for n:N, m:M, k:K   p[n,m] += x[n,k] * w[m,k] } }
  op "gather" { indexed y: f32[B, M] { for b:B, m:M   y[b,m] = p[ids[b], m] } }
})");
  EXPECT_EQ(graph.totals.macs.value, 120);
  EXPECT_EQ(graph.totals.macs_useful.value, 20);
  EXPECT_EQ(graph.totals.bytes_read_inputs, (ByteRange{Bytes{32}, Bytes{112}, Bytes{112}}));
  EXPECT_TRUE(assumes(graph, "one-row-gathers"));
  EXPECT_FALSE(graph.mac_classes.at(0).is_convolution);
}

TEST(Lift, SelectsOnDataReadBothBranches) {
  const Graph graph = lift_text(R"(
program choose(input c: bool[N], input a: f32[N], input b: f32[N]) -> (y, z) {
  dims N = 4
  kernel y: f32[N] { for n:N   y[n] = select(c[n], a[n], b[n]) }
  kernel z: f32[N] { for n:N   z[n] = select(a[n] > 0, a[n], 0.1 * a[n]) }
})");
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 4 + 32);
  EXPECT_TRUE(assumes(graph, "both-branches-read"));
}

TEST(Lift, ASelectOfOneTensorReadsItAnyway) {
  const Graph graph = lift_text(R"(
program leaky(input a: f32[N]) -> (z) {
  dims N = 4
  kernel z: f32[N] { for n:N   z[n] = select(a[n] > 0, a[n], 0.1 * a[n]) }
})");
  EXPECT_TRUE(graph.assumptions.empty());
}

TEST(Lift, SelectsOnIndicesReadOneBranch) {
  const Graph graph = lift_text(R"(
program shift(input x: f32[T], input r: f32[T]) -> (y) {
  dims T = 7
  kernel y: f32[T] { for t:T   y[t] = select(t + 3 < T, x[min(t + 3, T - 1)], r[t]) }
})");
  EXPECT_EQ(read_bytes(graph, 0), 4 * 4);
  EXPECT_EQ(read_bytes(graph, 1), 4 * 3);
}

TEST(Lift, StateFromAnInputIsACopy) {
  const Graph graph = lift_text(R"(
program keep(input x: f32[N], state s: f32[N]) -> (y) {
  dims N = 4
  kernel y: f32[N] { for n:N   y[n] = s[n] * 2 }
  update s = x
})");
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 16);
  EXPECT_EQ(graph.totals.bytes_written_outputs.min.value, 32);
  ASSERT_NE(find_operator(graph, "update"), nullptr);
  EXPECT_EQ(find_operator(graph, "update")->bytes_out.min.value, 16);
}

TEST(Lift, ZerosOfConstantsAreKnown) {
  const Graph graph = lift_text(R"(
program masked(input x: f32[N, M], const c: f32[2, 3] = [1, 0, 2, 0, 0, 3]) -> (y) {
  dims N = 2, M = 3
  kernel y: f32[] { for n:N, m:M   y[] += x[n,m] * c[n,m] }
})");
  EXPECT_EQ(graph.totals.macs.value, 6);
  EXPECT_EQ(graph.totals.macs_useful.value, 3);
  EXPECT_EQ(graph.totals.bytes_read_inputs.min.value, 12);
  EXPECT_EQ(graph.assumptions, std::vector<std::string>{"finite-factors"});
}

TEST(Lift, MoreThanCanBeEnumeratedIsALowerBound) {
  const Graph graph = lift_text(R"(
program large(input x: f32[A, B, C, D], input w: f32[A, B, C, D]) -> (y) {
  dims A = 150, B = 151, C = 152, D = 153
  kernel y: f32[] { for a:A, b:B, c:C, d:D where (a + b + c + d) % 7 != 3   y[] += x[a,b,c,d] * w[a,b,c,d] }
})");
  EXPECT_FALSE(graph.exact);
  EXPECT_GT(graph.totals.macs_useful.value, 0);
  EXPECT_LT(graph.totals.macs_useful.value, int64_t{150} * 151 * 152 * 153 / 7 * 6);
  EXPECT_EQ(graph.totals.macs.value, int64_t{150} * 151 * 152 * 153);
}

TEST(Lift, MorePointsThanNumbersIsALowerBound) {
  const Graph graph = lift_text(R"(
program huge(input x: f32[1]) -> (y) {
  dims N = 3000000000
  kernel y: f32[1] { for a:1, i:N, j:N, k:N where i + j + k <= 1   y[a] max= x[a]   init 0 }
})");
  EXPECT_FALSE(graph.exact);
}

TEST(Lift, SharedSubexpressionsDoNotExplode) {
  std::string lets = "let p0 = x[n] ";
  for (int i = 0; i < 60; ++i) {
    lets += "let p" + std::to_string(i + 1) + " = p" + std::to_string(i) + " * p" +
            std::to_string(i) + " ";
  }
  const Graph graph =
      lift_text("program power(input x: f32[N]) -> (y) { dims N = 3 kernel y: f32[] { for n:N " +
                lets + " y[] += p60 } }");
  EXPECT_EQ(graph.totals.macs.value, 0);
  EXPECT_EQ(graph.totals.elementwise_ops, 3 * 61);
}

TEST(Lift, CountsThatDoNotFitAreErrors) {
  const auto program = ir::verify_text(R"(
program huge(input a: f32[N, N], input b: f32[N, N]) -> (y) {
  dims N = 3000000
  kernel y: f32[N, N] { for i:N, j:N, k:N   y[i,j] += a[i,k] * b[k,j] }
})");
  if (!program) return;  // the verifier may refuse it first
  const auto graph = lift(*program);
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error()[0].kind, DiagnosticKind::CountOverflow);
  EXPECT_NE(graph.error()[0].message.find("`y`"), std::string::npos);
}

}  // namespace
}  // namespace solar::einsum
