i64 sddmm(i64 *restrict args) {
  i64 n_i = args[11], n_k = args[23];
  i32 *restrict C_ptr = (void *)args[2];
  i32 *restrict C_idx = (void *)args[5];
  double *restrict C_val = (void *)args[8];
  const i32 *restrict S_ptr = (void *)args[13];
  const i32 *restrict S_idx = (void *)args[16];
  const double *restrict S_val = (void *)args[19];
  const double *restrict A_val = (void *)args[24];
  const double *restrict B_val = (void *)args[29];
  i64 C_n = 0;
  if (grow(C_ptr, args + 2, n_i + 1)) return OUT_OF_MEMORY;
  C_ptr[0] = 0;
  i64 room = (i64)S_ptr[n_i] - S_ptr[0];
  if (grow(C_idx, args + 5, room)) return OUT_OF_MEMORY;
  if (grow(C_val, args + 8, room)) return OUT_OF_MEMORY;
  for (i64 i = 0; i < n_i; i++) {
    for (i64 S_q = S_ptr[i]; S_q < S_ptr[i + 1]; S_q++) {  // j in S[i, j]
      i64 j = S_idx[S_q];
      double S_j = S_val[S_q], C_j = 0;
      #pragma omp simd reduction(+:C_j)
      for (i64 k = 0; k < n_k; k++)
        C_j += S_j * A_val[i * n_k + k] * B_val[j * n_k + k];
      bool C_dirty = 0 < n_k;
      C_val[C_n] = C_j;
      if (C_dirty) {
        C_idx[C_n++] = j;
      }
    }
    C_ptr[i + 1] = C_n;
  }
  args[4] = n_i + 1;  // length of C_ptr
  args[7] = C_n;  // length of C_idx
  args[10] = C_n;  // length of C_val
  return 0;
}
