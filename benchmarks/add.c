// C = A + B and D = A + B + C, all by rows: unions of sorted lists.
#include "result.h"

typedef struct { const i32 *ptr, *idx; const double *val; } Csr;
typedef struct { i32 *restrict idx; double *restrict val; i64 n; } Sink;

static inline void push(Sink *out, i32 j, double x) {
    out->idx[out->n] = j;
    out->val[out->n++] = x;
}

static inline void tail(Sink *out, Csr A, i64 p, i64 end) {
    for (; p < end; p++) push(out, A.idx[p], A.val[p]);
}

static inline void merge(Sink *out, Csr A, i64 p, i64 p_end, Csr B, i64 q, i64 q_end) {
    while (p < p_end && q < q_end) {
        i32 a = A.idx[p], b = B.idx[q];
        if (a == b) push(out, a, A.val[p++] + B.val[q++]);
        else if (a < b) push(out, a, A.val[p++]);
        else push(out, b, B.val[q++]);
    }
    tail(out, A, p, p_end);
    tail(out, B, q, q_end);
}

static int begin(Arrays *result, Sink *out, i64 n, i64 most) {
    i32 *ptr = new_ints(result, 0, n + 1);
    out->idx = new_ints(result, 1, most);
    out->val = new_values(result, most);
    out->n = 0;
    return !ptr || !out->idx || !out->val;
}

static void end(Arrays *result, const Sink *out) {
    trim_ints(result, 1, out->n);
    trim_values(result, out->n);
}

i64 add2(i64 n, const i32 *A_ptr, const i32 *A_idx, const double *A_val, const i32 *B_ptr,
         const i32 *B_idx, const double *B_val, Arrays *result) {
    Csr A = {A_ptr, A_idx, A_val}, B = {B_ptr, B_idx, B_val};
    Sink out;
    if (begin(result, &out, n, A_ptr[n] + B_ptr[n])) return 1;
    i32 *restrict ptr = result->ints[0];
    ptr[0] = 0;
    for (i64 i = 0; i < n; i++) {
        merge(&out, A, A.ptr[i], A.ptr[i + 1], B, B.ptr[i], B.ptr[i + 1]);
        ptr[i + 1] = out.n;
    }
    end(result, &out);
    return 0;
}

i64 add3(i64 n, const i32 *A_ptr, const i32 *A_idx, const double *A_val, const i32 *B_ptr,
         const i32 *B_idx, const double *B_val, const i32 *C_ptr, const i32 *C_idx,
         const double *C_val, Arrays *result) {
    Csr A = {A_ptr, A_idx, A_val}, B = {B_ptr, B_idx, B_val}, C = {C_ptr, C_idx, C_val};
    Sink out;
    if (begin(result, &out, n, A_ptr[n] + B_ptr[n] + C_ptr[n])) return 1;
    i32 *restrict ptr = result->ints[0];
    ptr[0] = 0;
    for (i64 i = 0; i < n; i++) {
        i64 p = A.ptr[i], p_end = A.ptr[i + 1], q = B.ptr[i], q_end = B.ptr[i + 1];
        i64 r = C.ptr[i], r_end = C.ptr[i + 1];
        while (p < p_end && q < q_end && r < r_end) {
            i32 a = A.idx[p], b = B.idx[q], c = C.idx[r], j = a < b ? a : b;
            j = c < j ? c : j;
            double x = 0;
            if (a == j) x = A.val[p++];
            if (b == j) x += B.val[q++];
            if (c == j) x += C.val[r++];
            push(&out, j, x);
        }
        if (p == p_end) merge(&out, B, q, q_end, C, r, r_end);
        else if (q == q_end) merge(&out, A, p, p_end, C, r, r_end);
        else merge(&out, A, p, p_end, B, q, q_end);
        ptr[i + 1] = out.n;
    }
    end(result, &out);
    return 0;
}
