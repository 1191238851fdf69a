i64 gustavson(i64 *restrict args) {
  i64 n_i = args[11], n_j = args[23];
  i32 *restrict C_ptr = (void *)args[2];
  i32 *restrict C_idx = (void *)args[5];
  double *restrict C_val = (void *)args[8];
  const i32 *restrict A_ptr = (void *)args[13];
  const i32 *restrict A_idx = (void *)args[16];
  const double *restrict A_val = (void *)args[19];
  const i32 *restrict B_ptr = (void *)args[24];
  const i32 *restrict B_idx = (void *)args[27];
  const double *restrict B_val = (void *)args[30];
  i32 *restrict w_idx = (void *)args[37];
  i64 *restrict w_key = (void *)args[43];
  double *restrict w_val = (void *)args[46];
  i64 C_n = 0, w_n = 0, w_ready = 0;
  if (grow(C_ptr, args + 2, n_i + 1)) return OUT_OF_MEMORY;
  C_ptr[0] = 0;
  if (0 < n_j) {
    w_ready = n_j;
    if (grow(w_idx, args + 37, n_j)) return OUT_OF_MEMORY;
    if (grow(w_key, args + 43, (n_j >> 5) + 3)) return OUT_OF_MEMORY;
    for (i64 k_2 = 0; k_2 < (n_j >> 5) + 3; k_2++) w_key[k_2] = 0;
    if (grow(w_val, args + 46, n_j)) return OUT_OF_MEMORY;
  }
  i64 last = (i64)A_ptr[n_i] - 1;
  for (i64 i = 0; i < n_i; i++) {
    if (w_n > 0) clear_bits_i64_i32(w_key, w_ready, w_idx, w_n);
    w_n = 0;
    for (i64 A_q = A_ptr[i]; A_q < A_ptr[i + 1]; A_q++) {  // k in A[i, k]
      i64 ahead = min(A_q + 16, last);
      prefetch(B_ptr, A_idx[ahead]);
      i64 ahead_2 = min(A_q + 8, last), soon = B_ptr[A_idx[ahead_2]];
      prefetch(B_idx, soon);
      prefetch(B_val, soon);
      prefetch(B_val, soon + 8);
      i64 k = A_idx[A_q];
      double A_k = A_val[A_q];
      for (i64 B_q = B_ptr[k]; B_q < B_ptr[k + 1]; B_q++) {  // j in B[k, j]
        i64 j = B_idx[B_q];
        if ((w_key[j >> 6] & shl_i64(1, j & 63)) == 0) {
          w_key[j >> 6] |= shl_i64(1, j & 63);
          w_idx[w_n++] = j;
          w_val[j] = 0;
        }
        w_val[j] += A_k * B_val[B_q];
      }
    }
    order_bits_i64_i32(w_key, n_j, w_idx, w_n);
    if (grow_for(C_idx, args + 5, C_n + w_n, i + 1, n_i)) return OUT_OF_MEMORY;
    if (grow_for(C_val, args + 8, C_n + w_n, i + 1, n_i)) return OUT_OF_MEMORY;
    for (i64 w_q = 0; w_q < w_n; w_q++) {  // j_2 in w[j]
      i64 j_2 = w_idx[w_q];
      C_val[C_n] = w_val[w_idx[w_q]];
      C_idx[C_n++] = j_2;
    }
    C_ptr[i + 1] = C_n;
  }
  args[4] = n_i + 1;  // length of C_ptr
  args[7] = C_n;  // length of C_idx
  args[10] = C_n;  // length of C_val
  return 0;
}
