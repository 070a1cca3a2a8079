// What is done to the vectors of words once, so that a text is the sum of its words and nothing
// else is to be done.
//
// Rare words weigh more (smooth inverse frequency: Arora, Liang, Ma, "A Simple but Tough-to-Beat
// Baseline for Sentence Embeddings", 2017). What all texts have in common is taken away, and the
// directions in which they differ most count less: half of the way to equal variance. There they
// made one number of the first of these directions, which is left out; half whitened, a question
// in other words finds its fact among a hundred about as often, and among fifteen more often.

/** Vectors row by row, all of these words. @internal */
export interface Rows {
  readonly dims: number;
  readonly vectors: Float32Array;
}

// Of a word of this frequency half of the vector counts.
const HALF_WEIGHT = 1e-3;
// Below this share of the mean variance a direction is noise, which would be blown up.
const LEAST_VARIANCE = 0.05;
// Of the sentence model's numbers beside those of the table, and how much they count.
const MOST_OF_SENTENCES = 60;
const SENTENCES = 0.8;

/** How often the word of a rank is used, by Zipf's law as Mandelbrot corrected it. @internal */
export function frequencies(count: number): Float64Array {
  const each = new Float64Array(count).map((_, rank) => 1 / (rank + 2.7));
  const all = each.reduce((sum, x) => sum + x, 0);
  return each.map((x) => x / all);
}

/**
 * The rows of words, the most frequent first: `table`, and behind it the main directions of
 * `sentences`. Those for which `isSilent` have no direction.
 * @internal
 */
export function weighed(
  words: readonly string[],
  table: Rows,
  sentences: Rows | undefined,
  isSilent: (word: string) => boolean,
): Rows {
  const often = frequencies(words.length);
  const parts = [spread(table, often, table.dims)];
  if (sentences) parts.push(spread(sentences, often, MOST_OF_SENTENCES));
  const dims = parts.reduce((sum, part) => sum + part.dims, 0);
  const vectors = new Float32Array(words.length * dims);
  words.forEach((word, i) => {
    if (isSilent(word)) return;
    const weight = HALF_WEIGHT / (HALF_WEIGHT + (often[i] as number));
    let at = i * dims;
    for (const [p, part] of parts.entries()) {
      const factor = p === 0 ? weight : weight * SENTENCES;
      for (let d = 0; d < part.dims; d++) {
        vectors[at++] = factor * (part.vectors[i * part.dims + d] as number);
      }
    }
  });
  return { dims, vectors };
}

// Unit rows around their mean, along the main directions, which are brought half of the way to
// the same variance, and unit rows again: of each word as it stands in texts.
function spread({ dims, vectors }: Rows, often: Float64Array, most: number): Rows {
  const rows = vectors.slice();
  toUnits(rows, dims);
  const mean = new Float64Array(dims);
  for (let i = 0; i < often.length; i++) {
    for (let d = 0; d < dims; d++) {
      mean[d] = (mean[d] as number) + (often[i] as number) * (rows[i * dims + d] as number);
    }
  }
  for (let i = 0; i < rows.length; i++) rows[i] = (rows[i] as number) - (mean[i % dims] as number);
  const { values, directions } = principal(covariance(rows, often, dims));
  const kept = Math.min(most, dims);
  const total = values.reduce((sum, value) => sum + Math.max(value, 0), 0);
  const least = (LEAST_VARIANCE * total) / dims || 1;
  const along = new Float32Array(often.length * kept);
  for (let k = 0; k < kept; k++) {
    const direction = directions[k] as Float64Array;
    const factor = Math.max(values[k] as number, least) ** -0.25;
    for (let i = 0; i < often.length; i++) {
      let sum = 0;
      for (let d = 0; d < dims; d++)
        sum += (direction[d] as number) * (rows[i * dims + d] as number);
      along[i * kept + k] = factor * sum;
    }
  }
  toUnits(along, kept);
  return { dims: kept, vectors: along };
}

function toUnits(rows: Float32Array, dims: number): void {
  for (let at = 0; at < rows.length; at += dims) {
    const row = rows.subarray(at, at + dims);
    const length = Math.hypot(...row);
    if (length > 0) for (let d = 0; d < dims; d++) row[d] = (row[d] as number) / length;
  }
}

function covariance(rows: Float32Array, often: Float64Array, dims: number): Float64Array[] {
  const all = Array.from({ length: dims }, () => new Float64Array(dims));
  for (let i = 0; i < often.length; i++) {
    const row = rows.subarray(i * dims, (i + 1) * dims);
    for (let a = 0; a < dims; a++) {
      const line = all[a] as Float64Array;
      const factor = (often[i] as number) * (row[a] as number);
      for (let b = a; b < dims; b++) line[b] = (line[b] as number) + factor * (row[b] as number);
    }
  }
  for (let a = 0; a < dims; a++) {
    for (let b = 0; b < a; b++) {
      (all[a] as Float64Array)[b] = (all[b] as Float64Array)[a] as number;
    }
  }
  return all;
}

const SWEEPS = 12;
const SMALL = 1e-12;

// Eigenvectors of a symmetric matrix, that of the greatest eigenvalue first: Jacobi's rotations,
// which need no library and no luck with a beginning.
function principal(matrix: Float64Array[]): { values: number[]; directions: Float64Array[] } {
  const n = matrix.length;
  const columns = Array.from({ length: n }, (_, i) => {
    const unit = new Float64Array(n);
    unit[i] = 1;
    return unit;
  });
  const trace = matrix.reduce((sum, row, i) => sum + (row[i] as number), 0);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let largest = 0;
    for (let p = 0; p < n; p++) {
      for (let q = p + 1; q < n; q++) {
        const off = (matrix[p] as Float64Array)[q] as number;
        largest = Math.max(largest, Math.abs(off));
        if (Math.abs(off) > (SMALL * trace) / n) rotate(matrix, columns, p, q);
      }
    }
    if (largest <= (1e-9 * trace) / n) break;
  }
  const values = matrix.map((row, i) => row[i] as number);
  const order = values
    .map((_, i) => i)
    .sort((a, b) => (values[b] as number) - (values[a] as number));
  return {
    values: order.map((i) => values[i] as number),
    directions: order.map((i) => columns[i] as Float64Array),
  };
}

// Makes the element at (p, q) zero. `columns` are the eigenvectors, each as a row.
function rotate(matrix: Float64Array[], columns: Float64Array[], p: number, q: number): void {
  const rowP = matrix[p] as Float64Array;
  const rowQ = matrix[q] as Float64Array;
  const theta = ((rowQ[q] as number) - (rowP[p] as number)) / (2 * (rowP[q] as number));
  const tangent = Math.sign(theta || 1) / (Math.abs(theta) + Math.hypot(theta, 1));
  const cosine = 1 / Math.hypot(tangent, 1);
  const sine = tangent * cosine;
  for (const row of matrix) mix(row, p, row, q, cosine, sine);
  for (let i = 0; i < matrix.length; i++) mix(rowP, i, rowQ, i, cosine, sine);
  const [a, b] = [columns[p] as Float64Array, columns[q] as Float64Array];
  for (let i = 0; i < matrix.length; i++) mix(a, i, b, i, cosine, sine);
}

function mix(
  a: Float64Array,
  i: number,
  b: Float64Array,
  j: number,
  cosine: number,
  sine: number,
): void {
  const [x, y] = [a[i] as number, b[j] as number];
  a[i] = cosine * x - sine * y;
  b[j] = sine * x + cosine * y;
}
