i64 array(i64 *restrict args) {
  i64 A_n0 = args[11], A_n1 = args[12], size_n0 = args[22], size_n1 = args[23];
  i64 n_i = args[24], n_j = args[25], size_n4 = args[26], size_n5 = args[27];
  i32 *restrict out_ptr = (void *)args[2];
  i32 *restrict out_idx = (void *)args[5];
  double *restrict out_val = (void *)args[8];
  const i32 *restrict A_ptr = (void *)args[13];
  const i32 *restrict A_idx = (void *)args[16];
  const double *restrict A_val = (void *)args[19];
  i64 out_n = 0;
  if (grow(out_ptr, args + 2, n_i + 1)) return OUT_OF_MEMORY;
  out_ptr[0] = 0;
  if (0 < n_i && (0 < 0 - size_n0 || n_i > A_n0 - size_n0))
    return OUT_OF_BOUNDS;
  if (0 < n_i && (0 < 0 - size_n4 || n_i > A_n0 - size_n4))
    return OUT_OF_BOUNDS | 1 << 8;
  for (i64 i = 0; i < n_i; i++) {
    if (0 < n_j && (0 < 0 - size_n1 || n_j > A_n1 - size_n1))
      return OUT_OF_BOUNDS | 2 << 8;
    if (0 < n_j && (0 < 0 - size_n5 || n_j > A_n1 - size_n5))
      return OUT_OF_BOUNDS | 3 << 8;
    i64 A_q_begin = A_ptr[i + size_n0];
    i64 A_q_lo = search_i32(A_idx, A_q_begin, A_ptr[i + size_n0 + 1], size_n1);
    i64 A_q_hi = search_i32(A_idx, A_q_lo, A_ptr[i + size_n0 + 1], n_j + size_n1);
    i64 A_q = A_q_lo, A_q_2_begin = A_ptr[i + size_n4];
    i64 A_q_2_lo = search_i32(A_idx, A_q_2_begin, A_ptr[i + size_n4 + 1], size_n5);
    i64 A_q_2_hi = search_i32(A_idx, A_q_2_lo, A_ptr[i + size_n4 + 1], n_j + size_n5);
    i64 A_q_2 = A_q_2_lo, visits_2 = A_q_hi - A_q_lo + (A_q_2_hi - A_q_2_lo);
    if (grow_for(out_idx, args + 5, out_n + visits_2, i + 1, n_i)) return OUT_OF_MEMORY;
    if (grow_for(out_val, args + 8, out_n + visits_2, i + 1, n_i)) return OUT_OF_MEMORY;
    while (A_q < A_q_hi && A_q_2 < A_q_2_hi) {  // j in A
      i64 A_j = A_idx[A_q] - size_n1, A_j_2 = A_idx[A_q_2] - size_n5;
      if (A_j == A_j_2) {
        out_val[out_n] = A_val[A_q] + A_val[A_q_2];
        out_idx[out_n++] = A_j;
        A_q++;
        A_q_2++;
      } else if (A_j < A_j_2) {
        out_val[out_n] = A_val[A_q];
        out_idx[out_n++] = A_j;
        A_q++;
      } else {
        out_val[out_n] = A_val[A_q_2];
        out_idx[out_n++] = A_j_2;
        A_q_2++;
      }
    }
    for (i64 A_q_3 = A_q; A_q_3 < A_q_hi; A_q_3++) {  // j in A
      i64 A_j = A_idx[A_q_3] - size_n1;
      out_val[out_n] = A_val[A_q_3];
      out_idx[out_n++] = A_j;
    }
    for (i64 A_q_2_2 = A_q_2; A_q_2_2 < A_q_2_hi; A_q_2_2++) {  // j in A
      i64 A_j_2 = A_idx[A_q_2_2] - size_n5;
      out_val[out_n] = A_val[A_q_2_2];
      out_idx[out_n++] = A_j_2;
    }
    out_ptr[i + 1] = out_n;
  }
  args[4] = n_i + 1;  // length of out_ptr
  args[7] = out_n;  // length of out_idx
  args[10] = out_n;  // length of out_val
  return 0;
}
