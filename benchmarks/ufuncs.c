// Functions of two and three sparse matrices by rows, each over its own iteration space.
#include "result.h"

typedef struct {
    i32 *restrict ptr, *restrict idx;
    double *restrict val;
    _Bool *restrict truth;  // the same memory, of results that are true or false, as NumPy's
    i64 n;
} Sink;

static inline void push(Sink *out, i32 j, double x) {
    out->idx[out->n] = j;
    out->val[out->n++] = x;
}

static inline void tell(Sink *out, i32 j, _Bool x) {
    out->idx[out->n] = j;
    out->truth[out->n++] = x;
}

static int begin(Arrays *result, Sink *out, i64 n, i64 most) {
    out->ptr = new_ints(result, 0, n + 1);
    out->idx = new_ints(result, 1, most);
    out->val = new_values(result, most);
    out->truth = (void *)out->val;
    out->n = 0;
    if (!out->ptr || !out->idx || !out->val) return 1;
    out->ptr[0] = 0;
    return 0;
}

static i64 end(Arrays *result, const Sink *out) {
    trim_ints(result, 1, out->n);
    trim_values(result, out->n);
    return 0;
}

#define ROWS(most)                                      \
    Sink out;                                           \
    if (begin(result, &out, n, most)) return 1;         \
    for (i64 i = 0; i < n; out.ptr[++i] = out.n)

// A ^ B as truth values: the union.
i64 logical_xor(i64 n, const i32 *A_ptr, const i32 *A_idx, const double *A_val, const i32 *B_ptr,
                const i32 *B_idx, const double *B_val, Arrays *result) {
    ROWS(A_ptr[n] + B_ptr[n]) {
        i64 p = A_ptr[i], p_end = A_ptr[i + 1], q = B_ptr[i], q_end = B_ptr[i + 1];
        while (p < p_end && q < q_end) {
            i32 a = A_idx[p], b = B_idx[q];
            if (a == b) tell(&out, a, (A_val[p++] != 0) != (B_val[q++] != 0));
            else if (a < b) tell(&out, a, A_val[p++] != 0);
            else tell(&out, b, B_val[q++] != 0);
        }
        for (; p < p_end; p++) tell(&out, A_idx[p], A_val[p] != 0);
        for (; q < q_end; q++) tell(&out, B_idx[q], B_val[q] != 0);
    }
    return end(result, &out);
}

// What A stores, with what B stores there: f(a, b), or a where B stores nothing.
#define OVER_FIRST(name, TA, TB, both)                                                          \
    i64 name(i64 n, const i32 *A_ptr, const i32 *A_idx, const TA *A_val, const i32 *B_ptr,      \
             const i32 *B_idx, const TB *B_val, Arrays *result) {                               \
        ROWS(A_ptr[n]) {                                                                        \
            i64 q = B_ptr[i], q_end = B_ptr[i + 1];                                             \
            for (i64 p = A_ptr[i]; p < A_ptr[i + 1]; p++) {                                     \
                i32 j = A_idx[p];                                                               \
                while (q < q_end && B_idx[q] < j) q++;                                          \
                TA a = A_val[p];                                                                \
                if (q < q_end && B_idx[q] == j) {                                               \
                    TB b = B_val[q++];                                                          \
                    push(&out, j, both);                                                        \
                } else push(&out, j, a);                                                        \
            }                                                                                   \
        }                                                                                       \
        return end(result, &out);                                                               \
    }

OVER_FIRST(ldexp_, double, i64, ldexp(a, b))
OVER_FIRST(right_shift, i64, i64, a >> (b < 63 ? b : 63))

static inline double power_of(double x, double n) { return n == 2 ? x * x : pow(x, n); }

// pow(A, B), which is 1 where B stores nothing: what B stores.
i64 power(i64 n, const i32 *A_ptr, const i32 *A_idx, const double *A_val, const i32 *B_ptr,
          const i32 *B_idx, const double *B_val, Arrays *result) {
    ROWS(B_ptr[n]) {
        i64 p = A_ptr[i], p_end = A_ptr[i + 1];
        for (i64 q = B_ptr[i]; q < B_ptr[i + 1]; q++) {
            i32 j = B_idx[q];
            while (p < p_end && A_idx[p] < j) p++;
            push(&out, j, power_of(p < p_end && A_idx[p] == j ? A_val[p++] : 0, B_val[q]));
        }
    }
    return end(result, &out);
}

// (A ^ B) & C: what C stores and A or B does.
i64 xor_and(i64 n, const i32 *A_ptr, const i32 *A_idx, const double *A_val, const i32 *B_ptr,
            const i32 *B_idx, const double *B_val, const i32 *C_ptr, const i32 *C_idx,
            const double *C_val, Arrays *result) {
    ROWS(C_ptr[n]) {
        i64 p = A_ptr[i], p_end = A_ptr[i + 1], q = B_ptr[i], q_end = B_ptr[i + 1];
        for (i64 r = C_ptr[i]; r < C_ptr[i + 1]; r++) {
            i32 j = C_idx[r];
            while (p < p_end && A_idx[p] < j) p++;
            while (q < q_end && B_idx[q] < j) q++;
            int a = p < p_end && A_idx[p] == j, b = q < q_end && B_idx[q] == j;
            if (a || b)
                tell(&out, j, ((a && A_val[p] != 0) != (b && B_val[q] != 0)) && C_val[r] != 0);
        }
    }
    return end(result, &out);
}
