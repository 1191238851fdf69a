i64 roll(i64 *restrict args) {
  i64 n_i0 = args[11], n_i1 = args[12], size_n0 = args[22], size_n2 = args[24];
  i64 size_n3 = args[25], n_i1_1 = args[26];
  i32 *restrict C_ptr = (void *)args[2];
  i32 *restrict C_idx = (void *)args[5];
  double *restrict C_val = (void *)args[8];
  const i32 *restrict A_ptr = (void *)args[13];
  const i32 *restrict A_idx = (void *)args[16];
  const double *restrict A_val = (void *)args[19];
  i64 C_n = 0;
  if (grow(C_ptr, args + 2, n_i0 + 1)) return OUT_OF_MEMORY;
  C_ptr[0] = 0;
  if (grow(C_idx, args + 5, size_n0)) return OUT_OF_MEMORY;
  if (grow(C_val, args + 8, size_n0)) return OUT_OF_MEMORY;
  i64 room = (i64)A_ptr[n_i0] - A_ptr[0];
  if (grow(C_idx, args + 5, room)) return OUT_OF_MEMORY;
  if (grow(C_val, args + 8, room)) return OUT_OF_MEMORY;
  for (i64 i0 = 0; i0 < n_i0; i0++) {
    i64 shift = -n_i1_1;
    if (n_i1_1 < n_i1 && (n_i1_1 < 0 - shift || n_i1 > size_n2 - shift))
      return OUT_OF_BOUNDS;
    i64 A_q_begin = A_ptr[i0], A_q_lo = search_i32(A_idx, A_q_begin, A_ptr[i0 + 1], n_i1_1);
    for (i64 A_q = A_q_lo; A_q < A_ptr[i0 + 1]; A_q++) {  // i1 in A
      i64 i1 = A_idx[A_q];
      C_val[C_n] = A_val[A_q];
      C_idx[C_n++] = i1 + shift;
    }
    if (0 < n_i1_1 && (0 < 0 - size_n3 || n_i1_1 > size_n2 - size_n3))
      return OUT_OF_BOUNDS | 1 << 8;
    i64 A_q_2_lo = A_ptr[i0], A_q_2_hi = search_i32(A_idx, A_q_2_lo, A_ptr[i0 + 1], n_i1_1);
    for (i64 A_q_2 = A_q_2_lo; A_q_2 < A_q_2_hi; A_q_2++) {  // i1_1 in A
      i64 i1_1 = A_idx[A_q_2];
      C_val[C_n] = A_val[A_q_2];
      C_idx[C_n++] = i1_1 + size_n3;
    }
    C_ptr[i0 + 1] = C_n;
  }
  args[4] = n_i0 + 1;  // length of C_ptr
  args[7] = C_n;  // length of C_idx
  args[10] = C_n;  // length of C_val
  return 0;
}
