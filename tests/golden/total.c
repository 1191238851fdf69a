i64 total(i64 *restrict args) {
  double *restrict s_val = (void *)args[0];
  const i32 *restrict A1_ptr = (void *)args[6];
  const i32 *restrict A2_ptr = (void *)args[12];
  const i32 *restrict A3_ptr = (void *)args[18];
  const double *restrict A_val = (void *)args[24];
  if (grow(s_val, args + 0, 1)) return OUT_OF_MEMORY;
  double s = 0;
  i64 A3_q_first = A3_ptr[A2_ptr[A1_ptr[0]]];
  i64 A3_q_count = max(A3_ptr[A2_ptr[A1_ptr[1]]], A3_q_first) - A3_q_first;
  i64 A3_q_part = A3_q_count < 16384 ? 0 : A3_q_count >> 2;
  double s_part = -0.0, s_part_2 = -0.0, s_part_3 = -0.0;
  #pragma omp simd reduction(+:s, s_part, s_part_2, s_part_3)
  for (i64 A3_q = A3_q_first; A3_q < A3_q_first + A3_q_part; A3_q++) {  // k in A[i, j, k]
    s += A_val[A3_q];
    s_part += A_val[A3_q + A3_q_part];
    s_part_2 += A_val[A3_q + A3_q_part * 2];
    s_part_3 += A_val[A3_q + A3_q_part * 3];
  }
  #pragma omp simd reduction(+:s)
  for (i64 A3_q_2 = A3_q_first + A3_q_part * 4; A3_q_2 < A3_q_first + A3_q_count; A3_q_2++)  // k in A[i, j, k]
    s += A_val[A3_q_2];
  s += s_part;
  s += s_part_2;
  s += s_part_3;
  s_val[0] = s;
  args[2] = 1;  // length of s_val
  return 0;
}
