i64 concat(i64 *restrict args) {
  i64 n_i0 = args[11], n_i1 = args[12], n_i1_1 = args[23], size_n0 = args[33];
  i64 size_n2 = args[35], size_n3 = args[36], size_n4 = args[37];
  i32 *restrict C_ptr = (void *)args[2];
  i32 *restrict C_idx = (void *)args[5];
  double *restrict C_val = (void *)args[8];
  const i32 *restrict A0_ptr = (void *)args[13];
  const i32 *restrict A0_idx = (void *)args[16];
  const double *restrict A0_val = (void *)args[19];
  const i32 *restrict A1_ptr = (void *)args[24];
  const i32 *restrict A1_idx = (void *)args[27];
  const double *restrict A1_val = (void *)args[30];
  i64 C_n = 0;
  if (grow(C_ptr, args + 2, n_i0 + 1)) return OUT_OF_MEMORY;
  C_ptr[0] = 0;
  if (grow(C_idx, args + 5, size_n0)) return OUT_OF_MEMORY;
  if (grow(C_val, args + 8, size_n0)) return OUT_OF_MEMORY;
  i64 room = (i64)A0_ptr[n_i0] - A0_ptr[0] + ((i64)A1_ptr[n_i0] - A1_ptr[0]);
  if (grow(C_idx, args + 5, room)) return OUT_OF_MEMORY;
  if (grow(C_val, args + 8, room)) return OUT_OF_MEMORY;
  for (i64 i0 = 0; i0 < n_i0; i0++) {
    if (0 < n_i1 && (0 < 0 - size_n3 || n_i1 > size_n2 - size_n3))
      return OUT_OF_BOUNDS;
    for (i64 A0_q = A0_ptr[i0]; A0_q < A0_ptr[i0 + 1]; A0_q++) {  // i1 in A0
      i64 i1 = A0_idx[A0_q];
      C_val[C_n] = A0_val[A0_q];
      C_idx[C_n++] = i1 + size_n3;
    }
    if (0 < n_i1_1 && (0 < 0 - size_n4 || n_i1_1 > size_n2 - size_n4))
      return OUT_OF_BOUNDS | 1 << 8;
    for (i64 A1_q = A1_ptr[i0]; A1_q < A1_ptr[i0 + 1]; A1_q++) {  // i1_1 in A1
      i64 i1_1 = A1_idx[A1_q];
      C_val[C_n] = A1_val[A1_q];
      C_idx[C_n++] = i1_1 + size_n4;
    }
    C_ptr[i0 + 1] = C_n;
  }
  args[4] = n_i0 + 1;  // length of C_ptr
  args[7] = C_n;  // length of C_idx
  args[10] = C_n;  // length of C_val
  return 0;
}
