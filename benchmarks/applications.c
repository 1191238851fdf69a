// Edges of an image inside a region, and the best move in a tree of moves.
#include "result.h"

// (B & R) ^ (A & R) for sets of pixels by rows: what R has, and one of A and B.
i64 edges(i64 n, const i32 *A_ptr, const i32 *A_idx, const i32 *B_ptr, const i32 *B_idx,
          const i32 *R_ptr, const i32 *R_idx, Arrays *result) {
    i32 *restrict ptr = new_ints(result, 0, n + 1), *restrict idx = new_ints(result, 1, R_ptr[n]);
    double *restrict val = new_values(result, R_ptr[n]);
    if (!ptr || !idx || !val) return 1;
    i64 end = 0;
    ptr[0] = 0;
    for (i64 i = 0; i < n; i++) {
        i64 p = A_ptr[i], p_end = A_ptr[i + 1], q = B_ptr[i], q_end = B_ptr[i + 1];
        for (i64 r = R_ptr[i]; r < R_ptr[i + 1]; r++) {
            i32 j = R_idx[r];
            while (p < p_end && A_idx[p] < j) p++;
            while (q < q_end && B_idx[q] < j) q++;
            int a = p < p_end && A_idx[p] == j, b = q < q_end && B_idx[q] == j;
            if (a != b) {
                val[end] = 1;
                idx[end++] = j;
            }
        }
        ptr[i + 1] = end;
    }
    trim_ints(result, 1, end);
    trim_values(result, end);
    return 0;
}

static inline double more(double a, double b) { return a > b ? a : b; }
static inline double less(double a, double b) { return a < b ? a : b; }

// max over i of min over j of max over k; what is not stored is 0.
double minimax(i64 n0, i64 n1, i64 n2, const i32 *ptr0, const i32 *ptr1, const i32 *ptr2,
               const double *val) {
    double best = ptr0[1] - ptr0[0] < n0 ? 0 : -INFINITY;
    for (i64 p = ptr0[0]; p < ptr0[1]; p++) {
        double worst = ptr1[p + 1] - ptr1[p] < n1 ? 0 : INFINITY;
        for (i64 q = ptr1[p]; q < ptr1[p + 1]; q++) {
            double own = ptr2[q + 1] - ptr2[q] < n2 ? 0 : -INFINITY;
            for (i64 r = ptr2[q]; r < ptr2[q + 1]; r++) own = more(own, val[r]);
            worst = less(worst, own);
        }
        best = more(best, worst);
    }
    return best;
}
