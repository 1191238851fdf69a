// What the C functions of these benchmarks share: types, results that they allocate, a sort, and a
// sum of rows.
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

// Sums of a function so marked may be reassociated, and then vectorized, as Linnet's are.
#if defined(__clang__)
#define REASSOCIATE
#pragma clang fp reassociate(on)
#else
// gcc would otherwise jam two rows into one loop and fetch the second with gathers.
#pragma GCC optimize("no-loop-unroll-and-jam")
#define REASSOCIATE \
    __attribute__((optimize("associative-math", "no-signed-zeros", "no-trapping-math")))
#endif

typedef int32_t i32;
typedef int64_t i64;

// Index arrays in storage order (ptr, idx, ptr, idx, …), their lengths, and the stored values.
typedef struct {
    i64 count[8];
    i32 *ints[8];
    double *values;
    i64 stored;
} Arrays;

void release(Arrays *a) {
    for (int k = 0; k < 8; k++) free(a->ints[k]);
    free(a->values);
    memset(a, 0, sizeof *a);
}

// Memory in large pages where there is much of it, as NumPy does: the first write to each of many
// small pages would cost more than what is computed. Pages that are not written cost nothing.
static inline void *allocate(i64 bytes) {
    char *p = malloc(bytes ? bytes : 1);
#if defined(__linux__)
    i64 skip = 4096 - (uintptr_t)p % 4096;
    if (p && bytes >= 1 << 22) madvise(p + skip, bytes - skip, MADV_HUGEPAGE);
#endif
    return p;
}

static inline i32 *new_ints(Arrays *a, int k, i64 n) {
    a->count[k] = n;
    return a->ints[k] = allocate(n * sizeof(i32));
}

static inline double *new_values(Arrays *a, i64 n) {
    a->stored = n;
    return a->values = allocate(n * sizeof(double));
}

// Give back what was not needed.
static inline void trim_ints(Arrays *a, int k, i64 n) {
    a->count[k] = n;
    a->ints[k] = realloc(a->ints[k], (n ? n : 1) * sizeof(i32));
}

static inline void trim_values(Arrays *a, i64 n) {
    a->stored = n;
    a->values = realloc(a->values, (n ? n : 1) * sizeof(double));
}

static inline i32 least(i32 a, i32 b) { return a < b ? a : b; }
static inline i32 most(i32 a, i32 b) { return a > b ? a : b; }

// Sort n coordinates without branches to mispredict: long lists are divided, short ones have their
// two largest moved to the end in each pass.
static void sort_ints(i32 *a, i64 n) {
    while (n > 24) {
        i32 x = a[n / 4], y = a[n / 2], z = a[n - n / 4];
        i32 pivot = most(least(x, y), least(most(x, y), z));
        i64 cut = 0;
        for (i64 k = 0; k < n; k++) {
            i32 key = a[k];
            a[k] = a[cut];
            a[cut] = key;
            cut += key < pivot;
        }
        // The shorter part by recursion, the longer one by the loop.
        if (cut < n - cut) { sort_ints(a, cut); a += cut; n -= cut; }
        else { sort_ints(a + cut, n - cut); n = cut; }
    }
    for (i64 end = n; end > 1; end -= 2) {
        i32 x = least(a[0], a[1]), y = most(a[0], a[1]);
        for (i64 k = 2; k < end; k++) {
            i32 z = a[k];
            a[k - 2] = least(x, z);
            x = most(x, least(y, z));
            y = most(y, z);
        }
        a[end - 2] = x;
        a[end - 1] = y;
    }
}

// y = sum of val[q] * X[idx[q]] over q, for rows of m values. Four rows at a time: y is loaded and
// stored a quarter as often.
static inline void sum_rows(i64 m, double *restrict y, i64 q, i64 end, const i32 *restrict idx,
                            const double *restrict val, const double *restrict X) {
    memset(y, 0, m * sizeof(double));
    for (; q + 3 < end; q += 4) {
        double a = val[q], b = val[q + 1], c = val[q + 2], d = val[q + 3];
        const double *restrict s = X + idx[q] * m, *restrict t = X + idx[q + 1] * m;
        const double *restrict u = X + idx[q + 2] * m, *restrict v = X + idx[q + 3] * m;
        for (i64 k = 0; k < m; k++) y[k] += (a * s[k] + b * t[k]) + (c * u[k] + d * v[k]);
    }
    for (; q < end; q++) {
        const double *restrict x = X + idx[q] * m;
        double a = val[q];
        for (i64 k = 0; k < m; k++) y[k] += a * x[k];
    }
}
