// Sums and maxima of a matrix by rows: of each row, of each column, of everything.
// The largest of numbers is NaN if one of them is, as in NumPy, SciPy and Linnet; what is called
// `numbers` below knows of no NaN: `a > b ? a : b` is a number again after one.
#include "result.h"

// Vectors as the processor has them: cc takes longer ones apart, element by element.
#ifdef __AVX512F__
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
typedef double Vector __attribute__((vector_size(8 * LANES), aligned(8)));
typedef i64 Flags __attribute__((vector_size(8 * LANES)));

// A vector of maxima, and where a NaN was among the values: nothing waits for the test.
typedef struct { Vector most; Flags nan; } Most;

static inline Most first(const double *v) {
    Vector x = *(const Vector *)v;
    return (Most){x, x != x};
}

static inline void take(Most *m, const double *v) {
    Vector x = *(const Vector *)v;
    Flags more = m->most > x;
    m->most = (Vector)((more & (Flags)m->most) | (~more & (Flags)x));
    m->nan |= x != x;
}

static inline double larger(double a, double b) { return a > b ? a : b; }

static inline double larger_or_nan(double a, double b) {
    double m = b > a ? b : a;
    return b != b ? b : m;
}

REASSOCIATE
i64 row_sum(i64 n, const i32 *restrict ptr, const double *restrict val, double *restrict y) {
    for (i64 i = 0; i < n; i++) {
        i64 q = ptr[i], end = ptr[i + 1];
        double s = 0;
        if (end - q < 32) for (; q < end; q++) s += val[q];
        else {
            double t[8] = {0};
            for (; q + 7 < end; q += 8) for (int k = 0; k < 8; k++) t[k] += val[q + k];
            for (int k = 0; k < 8; k++) s += t[k];
            for (; q < end; q++) s += val[q];
        }
        y[i] = s;
    }
    return 0;
}

i64 row_max(i64 n, const i32 *restrict ptr, const double *restrict val, double *restrict y) {
    for (i64 i = 0; i < n; i++) {
        i64 q = ptr[i], end = ptr[i + 1], nan = 0;
        double s = -INFINITY;
        if (end - q >= 16) {
            Most m = first(val + q);
            for (q += LANES; q + LANES <= end; q += LANES) take(&m, val + q);
            for (int k = 0; k < LANES; k++) s = larger(s, m.most[k]), nan |= m.nan[k];
        }
        for (; q < end; q++) s = larger(s, val[q]), nan |= val[q] != val[q];
        y[i] = nan ? NAN : s;
    }
    return 0;
}

i64 row_max_numbers(i64 n, const i32 *restrict ptr, const double *restrict val, double *restrict y) {
    for (i64 i = 0; i < n; i++) {
        i64 q = ptr[i], end = ptr[i + 1];
        double s = -INFINITY;
        if (end - q >= 32) {
            double t[8];
            for (int k = 0; k < 8; k++) t[k] = val[q + k];
            for (q += 8; q + 7 < end; q += 8) for (int k = 0; k < 8; k++) t[k] = larger(t[k], val[q + k]);
            for (int k = 0; k < 8; k++) s = larger(s, t[k]);
        }
        for (; q < end; q++) s = larger(s, val[q]);
        y[i] = s;
    }
    return 0;
}

i64 column_sum(i64 n, i64 m, const i32 *restrict ptr, const i32 *restrict idx,
               const double *restrict val, double *restrict y) {
    memset(y, 0, m * sizeof(double));
    for (i64 q = 0; q < ptr[n]; q++) y[idx[q]] += val[q];
    return 0;
}

i64 column_max(i64 n, i64 m, const i32 *restrict ptr, const i32 *restrict idx,
               const double *restrict val, double *restrict y) {
    for (i64 j = 0; j < m; j++) y[j] = -INFINITY;
    for (i64 q = 0; q < ptr[n]; q++) y[idx[q]] = larger_or_nan(y[idx[q]], val[q]);
    return 0;
}

i64 column_max_numbers(i64 n, i64 m, const i32 *restrict ptr, const i32 *restrict idx,
                       const double *restrict val, double *restrict y) {
    for (i64 j = 0; j < m; j++) y[j] = -INFINITY;
    for (i64 q = 0; q < ptr[n]; q++) y[idx[q]] = larger(y[idx[q]], val[q]);
    return 0;
}

// Four vectors of accumulators, so that memory and not the adder is the limit.
double total_sum(i64 n, const i32 *restrict ptr, const double *restrict val) {
    double t[32] = {0}, s = 0;
    i64 q = ptr[0], end = ptr[n];
    for (; q + 31 < end; q += 32) for (int k = 0; k < 32; k++) t[k] += val[q + k];
    for (int k = 0; k < 32; k++) s += t[k];
    for (; q < end; q++) s += val[q];
    return s;
}

double total_max(i64 n, const i32 *restrict ptr, const double *restrict val) {
    i64 q = ptr[0], end = ptr[n], nan = 0;
    double s = -INFINITY;
    if (end - q >= 4 * LANES) {
        Most m[4];
        for (int k = 0; k < 4; k++) m[k] = first(val + q + LANES * k);
        for (q += 4 * LANES; q + 4 * LANES <= end; q += 4 * LANES)
            for (int k = 0; k < 4; k++) take(m + k, val + q + LANES * k);
        for (int k = 0; k < 4; k++)
            for (int l = 0; l < LANES; l++) s = larger(s, m[k].most[l]), nan |= m[k].nan[l];
    }
    for (; q < end; q++) s = larger(s, val[q]), nan |= val[q] != val[q];
    return nan ? NAN : s;
}

double total_max_numbers(i64 n, const i32 *restrict ptr, const double *restrict val) {
    double t[32], s = -INFINITY;
    i64 q = ptr[0], end = ptr[n];
    for (int k = 0; k < 32; k++) t[k] = -INFINITY;
    for (; q + 31 < end; q += 32) for (int k = 0; k < 32; k++) t[k] = larger(t[k], val[q + k]);
    for (int k = 0; k < 32; k++) s = larger(s, t[k]);
    for (; q < end; q++) s = larger(s, val[q]);
    return s;
}
