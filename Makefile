# Two commands do it all on a fresh Debian 12: `make test` and `make demo`.
KINDRED := build/release/kindred
# OFF: for one machine at a time, without libmpi.
WITH_MPI := ON

.PHONY: help install install-peers build check test demo screenshots bench fuzz asan tsan dev format clean

help:
	@echo "make test    install what is missing, build, run every test"
	@echo "make check   the unit tests alone, without the program"
	@echo "make demo    install what is missing, build, run the demo on Fashion-MNIST"
	@echo "make build   leaves $(KINDRED)"
	@echo "make bench   views beside torchvision's, how a round scales, what matching costs, linear evaluation beside scikit-learn's,"
	@echo "             convolutions and whole rounds beside PyTorch's, startup beside /bin/true (half an hour)"
	@echo "make fuzz SECONDS=60   what reads bytes from outside, fuzzed by libFuzzer; the time is divided among the targets"
	@echo "make asan    the tests under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make tsan    the tests under ThreadSanitizer"
	@echo "make dev     the tests with symbols and the standard library's own checks"
	@echo "make screenshots  the README's pictures, of the demo's run"
	@echo "make format  clang-format over every C++ file"

install:
	@tools/install_packages.sh build test
	@tools/install_node_modules.sh web

install-peers: install
	@tools/install_packages.sh peers
	@tools/install_node_modules.sh tests/interchange tests/page

build: install
	cmake --preset release -DKINDRED_WITH_MPI=$(strip $(WITH_MPI))
	cmake --build --preset release --target kindred

# Runs ctest of the preset $(1) with $(2), then says what of the programs $(3) ran and what was skipped. Results of an
# earlier run are not to be taken for this one's.
define run_tests
	@rm -rf build/$(1)/test-results
	@status=0; ctest --preset $(1) --output-junit test-results/ctest.xml $(2) || status=$$?; \
	  tests/summary.py build/$(1) $(3) || status=$$?; exit $$status
endef

check: install
	cmake --preset release
	cmake --build --preset release --target kindred_tests kindred_torch_tests kindred_fuzz_replay
	$(call run_tests,release,-L unit,kindred_tests kindred_torch_tests kindred_fuzz_replay)

test: install-peers
	cmake --preset release
	cmake --build --preset release
	$(call run_tests,release)

asan tsan dev: install-peers
	cmake --preset $@
	cmake --build --preset $@
	$(call run_tests,$@)

# Crashes are left in build/fuzz/crashes; every input that was found is kept for the next time.
SECONDS := 60
fuzz: install
	@tools/install_packages.sh fuzz
	cmake --preset fuzz
	cmake --build --preset fuzz
	tests/fuzz/run.py --seconds $(SECONDS)

demo: build
	@tools/install_packages.sh demo
	@tools/demo.sh $(KINDRED)

# What the program pins its libraries to: the benches link them, so it is said here.
PINNED := OPENBLAS_CORETYPE=Haswell ATEN_CPU_CAPABILITY=avx2 ONEDNN_MAX_CPU_ISA=AVX2

bench: install
	@tools/install_packages.sh bench
	cmake --preset release
	cmake --build --preset release --target kindred bench_views bench_round bench_matching bench_linear bench_layers
	bench/views.py
	$(PINNED) build/release/bench/bench_round
	$(PINNED) build/release/bench/bench_matching
	$(PINNED) bench/linear.py
	$(PINNED) build/release/bench/bench_layers
	bench/round.py
	bench/startup.py

# The README's pictures, of the demo's run.
screenshots: demo
	@tools/install_packages.sh peers
	@tools/install_node_modules.sh tests/page
	node tests/page/screenshots.js $(KINDRED) runs/demo docs/pictures

format:
	clang-format -i src/*/*.h src/*/*.cc tests/*.h tests/*.cc tests/fuzz/*.h tests/fuzz/*.cc bench/*.cc

clean:
	rm -rf build
