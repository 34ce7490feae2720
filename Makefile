# The one entry point. Every target sets up what it needs first.
.PHONY: setup build test golden check ci format clean kernelbench long-differential long-mutants long-mutations long-fuzz long-tilings

setup: ## everything that building, testing and checking needs
	@bash scripts/setup.sh development
build: ## the program, as ./solar builds it
	@bash scripts/setup.sh program
test: ## C++ tests, then Python tests (their summary is the last line)
	@bash scripts/test.sh
golden: ## rewrite the golden files; read the diff before committing it
	@SOLAR_UPDATE_GOLDENS=1 bash scripts/test.sh
check: ## layers, formatting, lint, types
	@bash scripts/check.sh
ci: ## check and test
	@bash scripts/ci.sh
kernelbench: ## KERNELBENCH_DIR=PATH: all four levels, hours; goes on where it was stopped (KERNELBENCH_OUT=RUN)
	@test -d "$$KERNELBENCH_DIR/KernelBench/level1" || { echo "set KERNELBENCH_DIR to a checkout of KernelBench" >&2; exit 2; }
	@./solar suite "$$KERNELBENCH_DIR"/KernelBench/level[1-4] --arch h100-sxm,a6000,b200,thor \
		--out "$${KERNELBENCH_OUT:-kernelbench-run}" --resume --fail-on unvalidated
long-differential: ## 20,000 random programs, executors against NumPy: minutes
	@bash scripts/long/differential.sh
long-mutants: ## KERNELBENCH_DIR=PATH: faults in levels 1 to 3, which validation must notice: hours; goes on likewise
	@test -d "$$KERNELBENCH_DIR/KernelBench/level1" || { echo "set KERNELBENCH_DIR to a checkout of KernelBench" >&2; exit 2; }
	@bash scripts/long/mutants.sh "$$KERNELBENCH_DIR"/KernelBench/level[1-3] --out "$${MUTANTS_OUT:-mutants.jsonl}"
long-mutations: ## 100,000 random mutations of programs, under the sanitizers
	@bash scripts/long/mutations.sh
long-tilings: ## 4,000 random einsums: traffic curves against every tiling: an hour or two
	@bash scripts/long/tilings.sh
long-fuzz: ## an hour of fuzzing, under the sanitizers
	@bash scripts/long/fuzz.sh
format: ## format all code
	@bash scripts/format.sh
clean: ## remove what was built; .solar (the environment) stays
	rm -rf build .solar/ready
