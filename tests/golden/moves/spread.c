i64 spread(i64 *restrict args) {
  i64 n_i0 = args[11], size_n0 = args[30], size_n2 = args[32];
  i32 *restrict C_ptr = (void *)args[2];
  i32 *restrict C_idx = (void *)args[5];
  double *restrict C_val = (void *)args[8];
  const i32 *restrict A_ptr = (void *)args[13];
  const i32 *restrict A_idx = (void *)args[16];
  const double *restrict A_val = (void *)args[19];
  const i32 *restrict S_val = (void *)args[23];
  const i32 *restrict T_val = (void *)args[27];
  i64 C_n = 0;
  if (grow(C_ptr, args + 2, n_i0 + 1)) return OUT_OF_MEMORY;
  C_ptr[0] = 0;
  if (grow(C_idx, args + 5, size_n0)) return OUT_OF_MEMORY;
  if (grow(C_val, args + 8, size_n0)) return OUT_OF_MEMORY;
  for (i64 i0 = 0; i0 < n_i0; i0++) {
    for (i64 A_q = A_ptr[i0]; A_q < A_ptr[i0 + 1]; A_q++) {  // i1 in A
      i64 i1 = A_idx[A_q], q_start = S_val[i1], q_end = T_val[i1];
      double A_i1 = A_val[A_q];
      if (q_start < q_end && (q_start < 0 || q_end > size_n2))
        return OUT_OF_BOUNDS;
      i64 visits_2 = max(q_end - q_start, 0);
      if (grow_for(C_idx, args + 5, C_n + visits_2, i0 + 1, n_i0)) return OUT_OF_MEMORY;
      if (grow_for(C_val, args + 8, C_n + visits_2, i0 + 1, n_i0)) return OUT_OF_MEMORY;
      for (i64 q = q_start; q < q_end; q++) {
        C_val[C_n] = A_i1;
        C_idx[C_n++] = q;
      }
    }
    C_ptr[i0 + 1] = C_n;
  }
  args[4] = n_i0 + 1;  // length of C_ptr
  args[7] = C_n;  // length of C_idx
  args[10] = C_n;  // length of C_val
  return 0;
}
