// Triangles of a graph given by its strictly lower triangle: for each edge (i, j), the common
// neighbours k of i and j. No values are looked at, no product is formed.
#include "result.h"

double triangles(i64 n, const i32 *restrict ptr, const i32 *restrict idx) {
    i64 count = 0;
    for (i64 i = 0; i < n; i++)
        for (i64 e = ptr[i]; e < ptr[i + 1]; e++) {
            i64 j = idx[e], p = ptr[i], p_end = ptr[i + 1], q = ptr[j], q_end = ptr[j + 1];
            while (p < p_end && q < q_end) {
                i32 a = idx[p], b = idx[q];
                count += a == b;
                p += a <= b;
                q += b <= a;
            }
        }
    return count;
}
