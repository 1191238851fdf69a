// Matricized tensor times Khatri-Rao product, orders 3 to 5, m columns.
#include "result.h"

#define ROW(M, i) ((M) + (i64)(i) * m)

i64 mttkrp3(i64 n, i64 m, const i32 *restrict ptr0, const i32 *restrict idx0,
            const i32 *restrict ptr1, const i32 *restrict idx1, const i32 *restrict ptr2,
            const i32 *restrict idx2, const double *restrict val, const double *restrict B,
            const double *restrict C, double *restrict Y) {
    memset(Y, 0, n * m * sizeof(double));
    for (i64 p = ptr0[0]; p < ptr0[1]; p++) {
        double *restrict y = ROW(Y, idx0[p]);
        for (i64 q = ptr1[p]; q < ptr1[p + 1]; q++) {
            const double *restrict b = ROW(B, idx1[q]);
            for (i64 r = ptr2[q]; r < ptr2[q + 1]; r++) {
                const double *restrict c = ROW(C, idx2[r]);
                double x = val[r];
                for (i64 k = 0; k < m; k++) y[k] += x * b[k] * c[k];
            }
        }
    }
    return 0;
}

i64 mttkrp4(i64 n, i64 m, const i32 *restrict ptr0, const i32 *restrict idx0,
            const i32 *restrict ptr1, const i32 *restrict idx1, const i32 *restrict ptr2,
            const i32 *restrict idx2, const i32 *restrict ptr3, const i32 *restrict idx3,
            const double *restrict val, const double *restrict B, const double *restrict C,
            const double *restrict D, double *restrict Y) {
    memset(Y, 0, n * m * sizeof(double));
    for (i64 p = ptr0[0]; p < ptr0[1]; p++) {
        double *restrict y = ROW(Y, idx0[p]);
        for (i64 q = ptr1[p]; q < ptr1[p + 1]; q++) {
            const double *restrict b = ROW(B, idx1[q]);
            for (i64 r = ptr2[q]; r < ptr2[q + 1]; r++) {
                const double *restrict c = ROW(C, idx2[r]);
                for (i64 s = ptr3[r]; s < ptr3[r + 1]; s++) {
                    const double *restrict d = ROW(D, idx3[s]);
                    double x = val[s];
                    for (i64 k = 0; k < m; k++) y[k] += x * b[k] * c[k] * d[k];
                }
            }
        }
    }
    return 0;
}

i64 mttkrp5(i64 n, i64 m, const i32 *restrict ptr0, const i32 *restrict idx0,
            const i32 *restrict ptr1, const i32 *restrict idx1, const i32 *restrict ptr2,
            const i32 *restrict idx2, const i32 *restrict ptr3, const i32 *restrict idx3,
            const i32 *restrict ptr4, const i32 *restrict idx4, const double *restrict val,
            const double *restrict B, const double *restrict C, const double *restrict D,
            const double *restrict E, double *restrict Y) {
    memset(Y, 0, n * m * sizeof(double));
    for (i64 p = ptr0[0]; p < ptr0[1]; p++) {
        double *restrict y = ROW(Y, idx0[p]);
        for (i64 q = ptr1[p]; q < ptr1[p + 1]; q++) {
            const double *restrict b = ROW(B, idx1[q]);
            for (i64 r = ptr2[q]; r < ptr2[q + 1]; r++) {
                const double *restrict c = ROW(C, idx2[r]);
                for (i64 s = ptr3[r]; s < ptr3[r + 1]; s++) {
                    const double *restrict d = ROW(D, idx3[s]);
                    for (i64 t = ptr4[s]; t < ptr4[s + 1]; t++) {
                        const double *restrict e = ROW(E, idx4[t]);
                        double x = val[t];
                        for (i64 k = 0; k < m; k++) y[k] += x * b[k] * c[k] * d[k] * e[k];
                    }
                }
            }
        }
    }
    return 0;
}

// The same with the rows of the levels below summed first and then scaled: fewer multiplications
// where fibers are long, more passes over short rows where they are not.

// u += v * x
static inline void scale(i64 m, double *restrict u, const double *restrict v,
                         const double *restrict x) {
    for (i64 t = 0; t < m; t++) u[t] += v[t] * x[t];
}

i64 factored3(i64 n, i64 m, const i32 *restrict ptr0, const i32 *restrict idx0,
            const i32 *restrict ptr1, const i32 *restrict idx1, const i32 *restrict ptr2,
            const i32 *restrict idx2, const double *restrict val, const double *restrict B,
            const double *restrict C, double *restrict Y) {
    double w[m];
    memset(Y, 0, n * m * sizeof(double));
    for (i64 p = ptr0[0]; p < ptr0[1]; p++)
        for (i64 q = ptr1[p]; q < ptr1[p + 1]; q++) {
            sum_rows(m, w, ptr2[q], ptr2[q + 1], idx2, val, C);
            scale(m, ROW(Y, idx0[p]), w, ROW(B, idx1[q]));
        }
    return 0;
}

i64 factored4(i64 n, i64 m, const i32 *restrict ptr0, const i32 *restrict idx0,
            const i32 *restrict ptr1, const i32 *restrict idx1, const i32 *restrict ptr2,
            const i32 *restrict idx2, const i32 *restrict ptr3, const i32 *restrict idx3,
            const double *restrict val, const double *restrict B, const double *restrict C,
            const double *restrict D, double *restrict Y) {
    double v[m], w[m];
    memset(Y, 0, n * m * sizeof(double));
    for (i64 p = ptr0[0]; p < ptr0[1]; p++)
        for (i64 q = ptr1[p]; q < ptr1[p + 1]; q++) {
            memset(v, 0, sizeof v);
            for (i64 r = ptr2[q]; r < ptr2[q + 1]; r++) {
                sum_rows(m, w, ptr3[r], ptr3[r + 1], idx3, val, D);
                scale(m, v, w, ROW(C, idx2[r]));
            }
            scale(m, ROW(Y, idx0[p]), v, ROW(B, idx1[q]));
        }
    return 0;
}

i64 factored5(i64 n, i64 m, const i32 *restrict ptr0, const i32 *restrict idx0,
            const i32 *restrict ptr1, const i32 *restrict idx1, const i32 *restrict ptr2,
            const i32 *restrict idx2, const i32 *restrict ptr3, const i32 *restrict idx3,
            const i32 *restrict ptr4, const i32 *restrict idx4, const double *restrict val,
            const double *restrict B, const double *restrict C, const double *restrict D,
            const double *restrict E, double *restrict Y) {
    double u[m], v[m], w[m];
    memset(Y, 0, n * m * sizeof(double));
    for (i64 p = ptr0[0]; p < ptr0[1]; p++)
        for (i64 q = ptr1[p]; q < ptr1[p + 1]; q++) {
            memset(u, 0, sizeof u);
            for (i64 r = ptr2[q]; r < ptr2[q + 1]; r++) {
                memset(v, 0, sizeof v);
                for (i64 s = ptr3[r]; s < ptr3[r + 1]; s++) {
                    sum_rows(m, w, ptr4[s], ptr4[s + 1], idx4, val, E);
                    scale(m, v, w, ROW(D, idx3[s]));
                }
                scale(m, u, v, ROW(C, idx2[r]));
            }
            scale(m, ROW(Y, idx0[p]), u, ROW(B, idx1[q]));
        }
    return 0;
}
