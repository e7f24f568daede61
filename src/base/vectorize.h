// Lets the compiler use the machine's vector units in a loop without binding the program to them.
#pragma once

// Put before a function whose loops are worth it: it is compiled for AVX2 as well, and the
// machine's version is chosen when the program starts. Both give the same bits: expressions are not
// contracted
// (-ffp-contract=off) and sums are written lane by lane. Sanitizers start too late for that choice.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define KINDRED_VECTORIZE __attribute__((target_clones("avx2", "default")))
#else
#define KINDRED_VECTORIZE
#endif
