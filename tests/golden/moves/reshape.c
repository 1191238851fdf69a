i64 reshape(i64 *restrict args) {
  i64 n_i0 = args[11], n_i1 = args[12], size_n0 = args[22], size_n1 = args[23];
  i64 size_n2 = args[24];
  i32 *restrict C_ptr = (void *)args[2];
  i32 *restrict C_idx = (void *)args[5];
  double *restrict C_val = (void *)args[8];
  const i32 *restrict A_ptr = (void *)args[13];
  const i32 *restrict A_idx = (void *)args[16];
  const double *restrict A_val = (void *)args[19];
  i64 C_n = 0, C_f = 0;
  if (grow(C_ptr, args + 2, size_n1 + 1)) return OUT_OF_MEMORY;
  C_ptr[0] = 0;
  if (grow(C_idx, args + 5, size_n0)) return OUT_OF_MEMORY;
  if (grow(C_val, args + 8, size_n0)) return OUT_OF_MEMORY;
  for (i64 i0 = 0; i0 < n_i0; i0++)
    for (i64 A_q = A_ptr[i0]; A_q < A_ptr[i0 + 1]; A_q++) {  // i1 in A
      i64 i1 = A_idx[A_q], t0 = i0 * n_i1 + i1, at = floor_div_i64(t0, size_n2);
      if (at < 0 || at >= size_n1) return OUT_OF_BOUNDS;
      i64 at_2 = floor_mod_i64(t0, size_n2);
      if (at_2 < 0 || at_2 >= size_n2) return OUT_OF_BOUNDS | 1 << 8;
      while (C_f <= at) {
        C_ptr[C_f++] = C_n;
      }
      if (grow_for(C_idx, args + 5, C_n + 1, i0 + 1, n_i0)) return OUT_OF_MEMORY;
      if (grow_for(C_val, args + 8, C_n + 1, i0 + 1, n_i0)) return OUT_OF_MEMORY;
      C_val[C_n] = A_val[A_q];
      C_idx[C_n++] = at_2;
    }
  while (C_f <= size_n1) {
    C_ptr[C_f++] = C_n;
  }
  args[4] = size_n1 + 1;  // length of C_ptr
  args[7] = C_n;  // length of C_idx
  args[10] = C_n;  // length of C_val
  return 0;
}
