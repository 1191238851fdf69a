i64 spmm(i64 *restrict args) {
  i64 n_i = args[5], n_k = args[17];
  double *restrict Y_val = (void *)args[2];
  const i32 *restrict A_ptr = (void *)args[7];
  const i32 *restrict A_idx = (void *)args[10];
  const double *restrict A_val = (void *)args[13];
  const double *restrict X_val = (void *)args[18];
  double Y_w_2[32];
  double Y_w_3[16];
  double Y_w_4[8];
  double Y_w_5[8];
  if (grow(Y_val, args + 2, n_i * n_k)) return OUT_OF_MEMORY;
  i64 k0_parts = n_k / 32 + (n_k % 32 > 0);
  for (i64 i = 0; i < n_i; i++) {
    i64 whole = n_k / 32;
    for (i64 k0 = 0; k0 < whole; k0++) {
      i64 part_start = k0 * 32;
      for (i64 k_3 = 0; k_3 < 32; k_3++) Y_w_2[k_3] = 0;
      for (i64 A_q = A_ptr[i]; A_q < A_ptr[i + 1]; A_q++) {  // j in A[i, j]
        i64 j = A_idx[A_q];
        double A_j = A_val[A_q];
        for (i64 k = 0; k < 32; k++)
          Y_w_2[k] += A_j * X_val[j * n_k + (part_start + k)];
      }
      for (i64 k_2 = 0; k_2 < 32; k_2++)
        Y_val[i * n_k + (part_start + k_2)] = Y_w_2[k_2];
    }
    if (whole < k0_parts) {
      i64 part_start = whole * 32;
      if (n_k - part_start >= 16)
        for (i64 turn = 0; turn < (n_k - part_start + 15) / 16; turn++) {
          i64 at = min(part_start + turn * 16, n_k - 16);
          for (i64 k_4 = 0; k_4 < 16; k_4++) Y_w_3[k_4] = 0;
          for (i64 A_q = A_ptr[i]; A_q < A_ptr[i + 1]; A_q++) {  // j in A[i, j]
            i64 j = A_idx[A_q];
            double A_j = A_val[A_q];
            for (i64 k = 0; k < 16; k++)
              Y_w_3[k] += A_j * X_val[j * n_k + (at + k)];
          }
          for (i64 k_2 = 0; k_2 < 16; k_2++)
            Y_val[i * n_k + (at + k_2)] = Y_w_3[k_2];
        }
      else if (n_k - part_start >= 8)
        for (i64 turn_2 = 0; turn_2 < (n_k - part_start + 7) / 8; turn_2++) {
          i64 at_2 = min(part_start + turn_2 * 8, n_k - 8);
          for (i64 k_5 = 0; k_5 < 8; k_5++) Y_w_4[k_5] = 0;
          for (i64 A_q = A_ptr[i]; A_q < A_ptr[i + 1]; A_q++) {  // j in A[i, j]
            i64 j = A_idx[A_q];
            double A_j = A_val[A_q];
            for (i64 k = 0; k < 8; k++)
              Y_w_4[k] += A_j * X_val[j * n_k + (at_2 + k)];
          }
          for (i64 k_2 = 0; k_2 < 8; k_2++)
            Y_val[i * n_k + (at_2 + k_2)] = Y_w_4[k_2];
        }
      else {
        for (i64 k_6 = 0; k_6 < 8; k_6++) Y_w_5[k_6] = 0;
        for (i64 A_q = A_ptr[i]; A_q < A_ptr[i + 1]; A_q++) {  // j in A[i, j]
          i64 j = A_idx[A_q];
          double A_j = A_val[A_q];
          for (i64 k = part_start; k < n_k; k++) {
            i64 k_place = k - part_start;
            Y_w_5[k_place] += A_j * X_val[j * n_k + k];
          }
        }
        for (i64 k_2 = part_start; k_2 < n_k; k_2++) {
          i64 k_2_place = k_2 - part_start;
          Y_val[i * n_k + k_2] = Y_w_5[k_2_place];
        }
      }
    }
  }
  args[4] = n_i * n_k;  // length of Y_val
  return 0;
}
