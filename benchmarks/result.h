// What the C functions of these benchmarks share: types, results that they allocate, a sort.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Sums of a function so marked may be reassociated, and then vectorized, as Linnet's are.
#if defined(__clang__)
#define REASSOCIATE
#pragma clang fp reassociate(on)
#else
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

// Room for n elements; pages that are not written cost nothing.
static inline i32 *new_ints(Arrays *a, int k, i64 n) {
    a->count[k] = n;
    return a->ints[k] = malloc((n ? n : 1) * sizeof(i32));
}

static inline double *new_values(Arrays *a, i64 n) {
    a->stored = n;
    return a->values = malloc((n ? n : 1) * sizeof(double));
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

// Sort n coordinates: insertion for short lists, else quicksort around the median of three.
static void sort_ints(i32 *a, i64 n) {
    while (n > 24) {
        i32 x = a[0], y = a[n / 2], z = a[n - 1];
        i32 pivot = x < y ? (y < z ? y : (x < z ? z : x)) : (x < z ? x : (y < z ? z : y));
        i64 l = 0, r = n - 1;
        for (;;) {
            while (a[l] < pivot) l++;
            while (a[r] > pivot) r--;
            if (l >= r) break;
            i32 t = a[l]; a[l] = a[r]; a[r] = t;
            l++, r--;
        }
        // The shorter part by recursion, the longer one by the loop.
        i64 cut = r + 1;
        if (cut < n - cut) { sort_ints(a, cut); a += cut; n -= cut; }
        else { sort_ints(a + cut, n - cut); n = cut; }
    }
    for (i64 k = 1; k < n; k++) {
        i32 x = a[k];
        i64 m = k;
        while (m > 0 && a[m - 1] > x) { a[m] = a[m - 1]; m--; }
        a[m] = x;
    }
}
