i64 spmm(i64 *restrict args) {
  i64 n_i = args[5], n_k = args[17];
  double *restrict Y_val = (void *)args[2];
  const i32 *restrict A_ptr = (void *)args[7];
  const i32 *restrict A_idx = (void *)args[10];
  const double *restrict A_val = (void *)args[13];
  const double *restrict X_val = (void *)args[18];
  double held[32];
  if (grow(Y_val, args + 2, n_i * n_k)) return OUT_OF_MEMORY;
  for (i64 i = 0; i < n_i; i++)
    if (n_k <= 128 && (n_k & 7) == 0 && (i64)A_ptr[i] < A_ptr[i + 1]) {
      i64 k_at = 0;
      while (k_at + 32 <= n_k) {
        for (i64 r = 0; r < 32; r++) held[r] = 0;
        for (i64 A_q = A_ptr[i]; A_q < A_ptr[i + 1]; A_q++) {  // j in A[i, j]
          i64 j = A_idx[A_q];
          double A_j = A_val[A_q];
          for (i64 r = 0; r < 32; r++)
            held[r] += A_j * X_val[j * n_k + (k_at + r)];
        }
        for (i64 r = 0; r < 32; r++)
          Y_val[i * n_k + (k_at + r)] = held[r];
        k_at += 32;
      }
      if (k_at + 16 <= n_k) {
        for (i64 r_2 = 0; r_2 < 16; r_2++) held[r_2] = 0;
        for (i64 A_q = A_ptr[i]; A_q < A_ptr[i + 1]; A_q++) {  // j in A[i, j]
          i64 j = A_idx[A_q];
          double A_j = A_val[A_q];
          for (i64 r_2 = 0; r_2 < 16; r_2++)
            held[r_2] += A_j * X_val[j * n_k + (k_at + r_2)];
        }
        for (i64 r_2 = 0; r_2 < 16; r_2++)
          Y_val[i * n_k + (k_at + r_2)] = held[r_2];
        k_at += 16;
      }
      if (k_at + 8 <= n_k) {
        for (i64 r_3 = 0; r_3 < 8; r_3++) held[r_3] = 0;
        for (i64 A_q = A_ptr[i]; A_q < A_ptr[i + 1]; A_q++) {  // j in A[i, j]
          i64 j = A_idx[A_q];
          double A_j = A_val[A_q];
          for (i64 r_3 = 0; r_3 < 8; r_3++)
            held[r_3] += A_j * X_val[j * n_k + (k_at + r_3)];
        }
        for (i64 r_3 = 0; r_3 < 8; r_3++)
          Y_val[i * n_k + (k_at + r_3)] = held[r_3];
      }
    } else {
      for (i64 k_2 = i * n_k; k_2 < (i + 1) * n_k; k_2++) Y_val[k_2] = 0;
      for (i64 A_q = A_ptr[i]; A_q < A_ptr[i + 1]; A_q++) {  // j in A[i, j]
        i64 j = A_idx[A_q];
        double A_j = A_val[A_q];
        for (i64 k = 0; k < n_k; k++)
          Y_val[i * n_k + k] += A_j * X_val[j * n_k + k];
      }
    }
  args[4] = n_i * n_k;  // length of Y_val
  return 0;
}
