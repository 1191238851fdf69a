i64 scale(i64 *restrict args) {
  i64 n_i = args[11];
  i32 *restrict B_ptr = (void *)args[2];
  i32 *restrict B_idx = (void *)args[5];
  double *restrict B_val = (void *)args[8];
  const i32 *restrict A_ptr = (void *)args[13];
  const i32 *restrict A_idx = (void *)args[16];
  const double *restrict A_val = (void *)args[19];
  i64 B_n = 0;
  if (grow(B_ptr, args + 2, n_i + 1)) return OUT_OF_MEMORY;
  B_ptr[0] = 0;
  i64 room = (i64)A_ptr[n_i] - A_ptr[0];
  if (grow(B_idx, args + 5, room)) return OUT_OF_MEMORY;
  if (grow(B_val, args + 8, room)) return OUT_OF_MEMORY;
  i64 shift = (i64)0 - A_ptr[0];
  for (i64 A_q = A_ptr[0]; A_q < A_ptr[n_i]; A_q++) {  // j in A[i, j]
    i64 j = A_idx[A_q];
    B_val[shift + A_q] = A_val[A_q] * 2.0;
    B_idx[shift + A_q] = j;
  }
  for (i64 i = 0; i < n_i; i++) {
    B_n = shift + A_ptr[i + 1];
    B_ptr[i + 1] = B_n;
  }
  args[4] = n_i + 1;  // length of B_ptr
  args[7] = B_n;  // length of B_idx
  args[10] = B_n;  // length of B_val
  return 0;
}
