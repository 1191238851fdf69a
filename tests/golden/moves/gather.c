i64 gather(i64 *restrict args) {
  i64 A_n0 = args[11], n_i0 = args[22], size_n0 = args[26];
  i32 *restrict C_ptr = (void *)args[2];
  i32 *restrict C_idx = (void *)args[5];
  double *restrict C_val = (void *)args[8];
  const i32 *restrict A_ptr = (void *)args[13];
  const i32 *restrict A_idx = (void *)args[16];
  const double *restrict A_val = (void *)args[19];
  const i32 *restrict P_val = (void *)args[23];
  i64 C_n = 0;
  if (grow(C_ptr, args + 2, n_i0 + 1)) return OUT_OF_MEMORY;
  C_ptr[0] = 0;
  if (grow(C_idx, args + 5, size_n0)) return OUT_OF_MEMORY;
  if (grow(C_val, args + 8, size_n0)) return OUT_OF_MEMORY;
  i64 last = n_i0 - 1;
  for (i64 i0 = 0; i0 < n_i0; i0++) {
    i64 ahead = min(i0 + 10, last);
    if (!((i64)P_val[ahead] < 0 || P_val[ahead] >= A_n0)) {
      i64 soon = A_ptr[P_val[ahead]];
      prefetch(A_idx, soon);
      prefetch(A_val, soon);
      prefetch(A_val, soon + 8);
    }
    i64 at = P_val[i0];
    if (at < 0 || at >= A_n0) return OUT_OF_BOUNDS;
    i64 visits_2 = (i64)A_ptr[at + 1] - A_ptr[at];
    if (grow_for(C_idx, args + 5, C_n + visits_2, i0 + 1, n_i0)) return OUT_OF_MEMORY;
    if (grow_for(C_val, args + 8, C_n + visits_2, i0 + 1, n_i0)) return OUT_OF_MEMORY;
    for (i64 A_q = A_ptr[at]; A_q < A_ptr[at + 1]; A_q++) {  // i1 in A
      i64 i1 = A_idx[A_q];
      C_val[C_n] = A_val[A_q];
      C_idx[C_n++] = i1;
    }
    C_ptr[i0 + 1] = C_n;
  }
  args[4] = n_i0 + 1;  // length of C_ptr
  args[7] = C_n;  // length of C_idx
  args[10] = C_n;  // length of C_val
  return 0;
}
