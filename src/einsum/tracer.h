#pragma once
// The trace behind demand.h: statements backwards; a loop until what its steps need of each other
// is found.

#include "einsum/demand.h"

namespace solar::einsum {

class Tracer {
 public:
  Tracer(const ProgramIndex& index, const Prepared& prepared, const Grouping& grouping);
  Demand run();

 private:
  /// Of a loop's carried values: elements that the body reads, and those that only have to be in
  /// place at the end.
  struct Carries {
    std::vector<Region> read = {};
    std::vector<Region> stored = {};
  };
  /// What reads at some points can touch of a tensor.
  struct Reach {
    bool by_data = false;
    Region region = {};  // not by data, or at the example's values; else as if all were 0
    Region whole = {};
    int64_t least = 0;
    int64_t most = 0;
    bool at_example = false;
  };
  /// A body that is traced on trial. What it needs from outside is dropped (an estimate, for a
  /// loop), or noted, to be compared with the other branch's.
  struct Trial {
    int32_t block = 0;
    std::map<ir::TensorId, Region>* outside = nullptr;
  };

  // demand.cpp
  void pass(Mode mode);
  void trace_block(int32_t block);
  void trace(int32_t at);
  void trace_pieces(int32_t at, const Statement& statement);
  void trace_piece(int32_t at, const Statement& statement, const Piece& piece,
                   const Region& wanted);
  Region restricted(const Piece& piece, std::vector<Constraint> constraints, const Region* known,
                    const Region& wanted) const;
  Region close_over_steps(const KernelReader& reader, const Region& wanted, bool& exact) const;
  void read_edges(const Statement& statement, const Piece& piece, const Region& wanted);
  Region wanted_of(const Statement& statement) const;
  bool on_trial() const { return !trials_.empty(); }
  bool on_estimate() const;

  // demand_reads.cpp
  void need_output(ir::TensorId output);
  void need_update(const ir::Update& update);
  void need_result(ir::TensorId base, const Region& region);
  void need_copy(ir::TensorId base, const Region& region);
  void read(const Piece& piece, const Use& use, const Region& domain, const Region& wanted);
  void read_points(const Piece& piece, const FoldedAccess& access, const Region& points);
  Reach reach(const Nest& nest, const std::vector<Linear>& subscripts,
              const std::vector<int64_t>& shape, const Region& points) const;
  void need(ir::TensorId base, const Region& region);
  void account(Touched& touched, const Reach& reach, bool counted) const;
  void merge(Touched& touched, const Region& region) const;
  bool is_outside(ir::TensorId base) const;
  bool is_still_a_port(ir::TensorId id) const;
  bool starts_generated(ir::TensorId inside) const;
  std::optional<ir::TensorId> memory_of(ir::TensorId id);

  // demand_control.cpp
  void trace_loop(int32_t at);
  void loop_pass(int32_t at, const Carries& carried);
  Carries estimate(int32_t at, const Carries& carried);
  Carries carries_needed(int32_t body) const;
  void read_control(int32_t at, ir::TensorId condition);
  void trace_carry(int32_t at, const Region& read, const Region& stored);
  void trace_if(int32_t at);
  void trace_unknown_if(int32_t at);
  std::map<ir::TensorId, Region> trace_branch(int32_t at, int32_t body, const ir::Branch& branch,
                                              const std::vector<Region>& wanted);
  void read_region(ir::TensorId base, const Region& region);

  // demand_opaque.cpp
  void trace_opaque(const Piece& piece, const ir::Opaque& opaque, const Region& domain);
  int64_t elements_from(const ir::Opaque& opaque, ir::TensorId port) const;

  // demand_scatter.cpp
  void trace_scatter(int32_t at, const Statement& statement);
  void trace_scatter_base(const Statement& statement, const Region& read_later,
                          const Region& in_place, const Region& updates, bool by_data);
  static bool known_target(const Piece& piece);

  const ProgramIndex& index_;
  const ir::Program& program_;
  const Prepared& prepared_;
  const Grouping& grouping_;
  Demand result_ = {};
  std::vector<Region> demand_ = {};
  std::map<ir::TensorId, Region> stored_ = {};  // needed in place at the end, not read
  std::map<ir::TensorId, std::optional<ir::TensorId>> memory_ = {};
  std::vector<Trial> trials_ = {};
  Mode mode_ = Mode::Min;
  int32_t operator_ = -1;
};

}  // namespace solar::einsum
