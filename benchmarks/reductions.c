// Sums and maxima of a matrix by rows: of each row, of each column, of everything.
#include "result.h"

static inline double larger(double a, double b) { return a > b ? a : b; }

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
    double t[32], s = -INFINITY;
    i64 q = ptr[0], end = ptr[n];
    for (int k = 0; k < 32; k++) t[k] = -INFINITY;
    for (; q + 31 < end; q += 32) for (int k = 0; k < 32; k++) t[k] = larger(t[k], val[q + k]);
    for (int k = 0; k < 32; k++) s = larger(s, t[k]);
    for (; q < end; q++) s = larger(s, val[q]);
    return s;
}
