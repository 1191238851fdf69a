// The inner product of two tensors of order 3, compressed in all modes: intersections at each.
#include "result.h"

double inner(const i32 *restrict A_ptr0, const i32 *restrict A_idx0, const i32 *restrict A_ptr1,
             const i32 *restrict A_idx1, const i32 *restrict A_ptr2, const i32 *restrict A_idx2,
             const double *restrict A_val, const i32 *restrict B_ptr0,
             const i32 *restrict B_idx0, const i32 *restrict B_ptr1, const i32 *restrict B_idx1,
             const i32 *restrict B_ptr2, const i32 *restrict B_idx2,
             const double *restrict B_val) {
    double s = 0;
    i64 p = A_ptr0[0], p_end = A_ptr0[1], q = B_ptr0[0], q_end = B_ptr0[1];
    while (p < p_end && q < q_end) {
        i32 a = A_idx0[p], b = B_idx0[q];
        if (a == b) {
            i64 t = A_ptr1[p], t_end = A_ptr1[p + 1], u = B_ptr1[q], u_end = B_ptr1[q + 1];
            while (t < t_end && u < u_end) {
                i32 c = A_idx1[t], d = B_idx1[u];
                if (c == d) {
                    i64 v = A_ptr2[t], v_end = A_ptr2[t + 1];
                    i64 w = B_ptr2[u], w_end = B_ptr2[u + 1];
                    while (v < v_end && w < w_end) {
                        i32 e = A_idx2[v], f = B_idx2[w];
                        if (e == f) s += A_val[v] * B_val[w];
                        v += e <= f;
                        w += f <= e;
                    }
                }
                t += c <= d;
                u += d <= c;
            }
        }
        p += a <= b;
        q += b <= a;
    }
    return s;
}
