i64 spmv(i64 *restrict args) {
  i64 n_i_2 = args[4];
  double *restrict y_val = (void *)args[1];
  const i32 *restrict A_ptr = (void *)args[6];
  const i32 *restrict A_idx = (void *)args[9];
  const double *restrict A_val = (void *)args[12];
  const double *restrict x_val = (void *)args[16];
  if (grow(y_val, args + 1, n_i_2)) return OUT_OF_MEMORY;
  i64 A_strip_end = (n_i_2 + 2047) >> 11;
  for (i64 k = 0; k < n_i_2; k++) y_val[k] = 0;
  for (i64 A_strip = 0; A_strip < A_strip_end; A_strip++) {
    i64 A_tile_end = (n_i_2 + 65535) >> 16, shift = A_strip * ((n_i_2 + 65535) >> 16);
    for (i64 A_tile = 0; A_tile < A_tile_end; A_tile++)
      for (i64 A_q = A_ptr[A_tile + shift]; A_q < A_ptr[A_tile + shift + 1]; A_q++) {  // A_word in A[i, j]
        i64 A_word = A_idx[A_q], i = (A_strip << 11) + (A_word & 2047);
        i64 j = (A_tile << 16) + (A_word >> 11);
        y_val[i] += A_val[A_q] * x_val[j];
        y_val[j] += A_val[A_q] * x_val[i];
      }
  }
  i64 at_5 = ((n_i_2 + 2047) >> 11) * ((n_i_2 + 65535) >> 16);
  for (i64 A_q_2 = A_ptr[at_5]; A_q_2 < A_ptr[at_5 + 1]; A_q_2++) {  // i_2 in A[i, j]
    i64 i_2 = A_idx[A_q_2];
    y_val[i_2] += A_val[A_q_2] * x_val[i_2];
  }
  args[3] = n_i_2;  // length of y_val
  return 0;
}
