i64 add_three(i64 *restrict args) {
  i32 *restrict d_ptr = (void *)args[1];
  i32 *restrict d_idx = (void *)args[4];
  double *restrict d_val = (void *)args[7];
  const i32 *restrict a_ptr = (void *)args[11];
  const i32 *restrict a_idx = (void *)args[14];
  const double *restrict a_val = (void *)args[17];
  const i32 *restrict b_ptr = (void *)args[21];
  const i32 *restrict b_idx = (void *)args[24];
  const double *restrict b_val = (void *)args[27];
  const i32 *restrict c_ptr = (void *)args[31];
  const i32 *restrict c_idx = (void *)args[34];
  const double *restrict c_val = (void *)args[37];
  i64 d_n = 0;
  if (grow(d_ptr, args + 1, 2)) return OUT_OF_MEMORY;
  d_ptr[0] = 0;
  i64 a_q = a_ptr[0], a_q_end = a_ptr[1], b_q = b_ptr[0], b_q_end = b_ptr[1], c_q = c_ptr[0];
  i64 c_q_end = c_ptr[1], visits_2 = a_q_end - a_q + (b_q_end - b_q) + (c_q_end - c_q);
  if (grow(d_idx, args + 4, visits_2)) return OUT_OF_MEMORY;
  if (grow(d_val, args + 7, visits_2)) return OUT_OF_MEMORY;
  while (a_q < a_q_end && b_q < b_q_end && c_q < c_q_end) {  // i in a[i], b[i], c[i]
    i64 a_i = a_idx[a_q], b_i = b_idx[b_q], c_i = c_idx[c_q], i_next = min(min(a_i, b_i), c_i);
    if (a_i == i_next) {
      if (b_i == i_next) {
        if (c_i == i_next) {
          d_val[d_n] = a_val[a_q] + b_val[b_q] + c_val[c_q];
          d_idx[d_n++] = i_next;
          a_q++;
          b_q++;
          c_q++;
        } else {
          d_val[d_n] = a_val[a_q] + b_val[b_q];
          d_idx[d_n++] = i_next;
          a_q++;
          b_q++;
        }
      } else if (c_i == i_next) {
        d_val[d_n] = a_val[a_q] + c_val[c_q];
        d_idx[d_n++] = i_next;
        a_q++;
        c_q++;
      } else {
        d_val[d_n] = a_val[a_q];
        d_idx[d_n++] = i_next;
        a_q++;
      }
    } else if (b_i == i_next) {
      if (c_i == i_next) {
        d_val[d_n] = b_val[b_q] + c_val[c_q];
        d_idx[d_n++] = i_next;
        b_q++;
        c_q++;
      } else {
        d_val[d_n] = b_val[b_q];
        d_idx[d_n++] = i_next;
        b_q++;
      }
    } else {
      d_val[d_n] = c_val[c_q];
      d_idx[d_n++] = i_next;
      c_q++;
    }
  }
  while (a_q < a_q_end && b_q < b_q_end) {  // i in a[i], b[i]
    i64 a_i = a_idx[a_q], b_i = b_idx[b_q];
    if (a_i == b_i) {
      d_val[d_n] = a_val[a_q] + b_val[b_q];
      d_idx[d_n++] = a_i;
      a_q++;
      b_q++;
    } else if (a_i < b_i) {
      d_val[d_n] = a_val[a_q];
      d_idx[d_n++] = a_i;
      a_q++;
    } else {
      d_val[d_n] = b_val[b_q];
      d_idx[d_n++] = b_i;
      b_q++;
    }
  }
  while (a_q < a_q_end && c_q < c_q_end) {  // i in a[i], c[i]
    i64 a_i = a_idx[a_q], c_i = c_idx[c_q];
    if (a_i == c_i) {
      d_val[d_n] = a_val[a_q] + c_val[c_q];
      d_idx[d_n++] = a_i;
      a_q++;
      c_q++;
    } else if (a_i < c_i) {
      d_val[d_n] = a_val[a_q];
      d_idx[d_n++] = a_i;
      a_q++;
    } else {
      d_val[d_n] = c_val[c_q];
      d_idx[d_n++] = c_i;
      c_q++;
    }
  }
  while (b_q < b_q_end && c_q < c_q_end) {  // i in b[i], c[i]
    i64 b_i = b_idx[b_q], c_i = c_idx[c_q];
    if (b_i == c_i) {
      d_val[d_n] = b_val[b_q] + c_val[c_q];
      d_idx[d_n++] = b_i;
      b_q++;
      c_q++;
    } else if (b_i < c_i) {
      d_val[d_n] = b_val[b_q];
      d_idx[d_n++] = b_i;
      b_q++;
    } else {
      d_val[d_n] = c_val[c_q];
      d_idx[d_n++] = c_i;
      c_q++;
    }
  }
  for (i64 a_q_2 = a_q; a_q_2 < a_q_end; a_q_2++) {  // i in a[i]
    i64 a_i = a_idx[a_q_2];
    d_val[d_n] = a_val[a_q_2];
    d_idx[d_n++] = a_i;
  }
  for (i64 b_q_2 = b_q; b_q_2 < b_q_end; b_q_2++) {  // i in b[i]
    i64 b_i = b_idx[b_q_2];
    d_val[d_n] = b_val[b_q_2];
    d_idx[d_n++] = b_i;
  }
  for (i64 c_q_2 = c_q; c_q_2 < c_q_end; c_q_2++) {  // i in c[i]
    i64 c_i = c_idx[c_q_2];
    d_val[d_n] = c_val[c_q_2];
    d_idx[d_n++] = c_i;
  }
  d_ptr[1] = d_n;
  args[3] = 2;  // length of d_ptr
  args[6] = d_n;  // length of d_idx
  args[9] = d_n;  // length of d_val
  return 0;
}
