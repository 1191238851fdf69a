i64 add(i64 *restrict args) {
  i64 n_i = args[11];
  i32 *restrict C_ptr = (void *)args[2];
  i32 *restrict C_idx = (void *)args[5];
  double *restrict C_val = (void *)args[8];
  const i32 *restrict A_ptr = (void *)args[13];
  const i32 *restrict A_idx = (void *)args[16];
  const double *restrict A_val = (void *)args[19];
  const i32 *restrict B_ptr = (void *)args[24];
  const i32 *restrict B_idx = (void *)args[27];
  const double *restrict B_val = (void *)args[30];
  i64 C_n = 0;
  if (grow(C_ptr, args + 2, n_i + 1)) return OUT_OF_MEMORY;
  C_ptr[0] = 0;
  i64 room = (i64)A_ptr[n_i] - A_ptr[0] + ((i64)B_ptr[n_i] - B_ptr[0]);
  if (grow(C_idx, args + 5, room)) return OUT_OF_MEMORY;
  if (grow(C_val, args + 8, room)) return OUT_OF_MEMORY;
  for (i64 i = 0; i < n_i; i++) {
    i64 A_q = A_ptr[i], A_q_end = A_ptr[i + 1], B_q = B_ptr[i], B_q_end = B_ptr[i + 1];
    while (A_q < A_q_end && B_q < B_q_end) {  // j in A[i, j], B[i, j]
      i64 A_j = A_idx[A_q], B_j = B_idx[B_q];
      if (A_j == B_j) {
        C_val[C_n] = A_val[A_q] + B_val[B_q];
        C_idx[C_n++] = A_j;
        A_q++;
        B_q++;
      } else if (A_j < B_j) {
        C_val[C_n] = A_val[A_q];
        C_idx[C_n++] = A_j;
        A_q++;
      } else {
        C_val[C_n] = B_val[B_q];
        C_idx[C_n++] = B_j;
        B_q++;
      }
    }
    for (i64 A_q_2 = A_q; A_q_2 < A_q_end; A_q_2++) {  // j in A[i, j]
      i64 A_j = A_idx[A_q_2];
      C_val[C_n] = A_val[A_q_2];
      C_idx[C_n++] = A_j;
    }
    for (i64 B_q_2 = B_q; B_q_2 < B_q_end; B_q_2++) {  // j in B[i, j]
      i64 B_j = B_idx[B_q_2];
      C_val[C_n] = B_val[B_q_2];
      C_idx[C_n++] = B_j;
    }
    C_ptr[i + 1] = C_n;
  }
  args[4] = n_i + 1;  // length of C_ptr
  args[7] = C_n;  // length of C_idx
  args[10] = C_n;  // length of C_val
  return 0;
}
