i64 transpose(i64 *restrict args) {
  i64 n_i = args[11], n_j = args[12];
  i32 *restrict B_ptr = (void *)args[2];
  i32 *restrict B_idx = (void *)args[5];
  double *restrict B_val = (void *)args[8];
  const i32 *restrict A_ptr = (void *)args[13];
  const i32 *restrict A_idx = (void *)args[16];
  const double *restrict A_val = (void *)args[19];
  i32 *restrict B_count_val = (void *)args[23];
  if (grow(B_count_val, args + 23, n_j)) return OUT_OF_MEMORY;
  for (i64 k = 0; k < n_j; k++) B_count_val[k] = 0;
  for (i64 A_q_2 = A_ptr[0]; A_q_2 < A_ptr[n_i]; A_q_2++) {  // j in A[i, j]
    i64 j_2 = A_idx[A_q_2];
    B_count_val[j_2]++;
  }
  if (grow(B_ptr, args + 2, n_j + 1)) return OUT_OF_MEMORY;
  i64 B_n = allot_i32_i32(B_count_val, n_j, B_ptr);
  if (grow(B_idx, args + 5, B_n + 1)) return OUT_OF_MEMORY;
  if (grow(B_val, args + 8, B_n + 1)) return OUT_OF_MEMORY;
  i64 last = (i64)A_ptr[n_i] - 1;
  bool far = (last - A_ptr[0]) * 12 >= 8388608;
  if (far)
    for (i64 i = 0; i < n_i; i++)
      for (i64 A_q = A_ptr[i]; A_q < A_ptr[i + 1]; A_q++) {  // j in A[i, j]
        i64 ahead = min(A_q + 20, last);
        prefetch(B_ptr, (i64)A_idx[ahead] + 1);
        i64 ahead_2 = min(A_q + 10, last), soon = B_ptr[(i64)A_idx[ahead_2] + 1];
        prefetch(B_val, soon);
        prefetch(B_idx, soon);
        i64 j = A_idx[A_q], B_q = B_ptr[j + 1];
        B_val[B_q] = A_val[A_q];
        B_idx[B_q] = i;
        B_ptr[j + 1] = B_q + 1;
      }
  else
    for (i64 i = 0; i < n_i; i++)
      for (i64 A_q = A_ptr[i]; A_q < A_ptr[i + 1]; A_q++) {  // j in A[i, j]
        i64 j = A_idx[A_q], B_q = B_ptr[j + 1];
        B_val[B_q] = A_val[A_q];
        B_idx[B_q] = i;
        B_ptr[j + 1] = B_q + 1;
      }
  args[4] = n_j + 1;  // length of B_ptr
  args[7] = B_n;  // length of B_idx
  args[10] = B_n;  // length of B_val
  return 0;
}
