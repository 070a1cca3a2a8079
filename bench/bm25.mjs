// Plain BM25, with the parameters that do best over many collections: a floor for searches by words.

const K1 = 0.9;
const B = 0.4;

export class Bm25 {
  #keys = [];
  #lengths = [];
  #postings = new Map();

  add(key, words) {
    const item = this.#keys.push(key) - 1;
    this.#lengths.push(words.length);
    for (const word of words) {
      const posting = this.#postings.get(word) ?? new Map();
      posting.set(item, (posting.get(item) ?? 0) + 1);
      this.#postings.set(word, posting);
    }
  }

  /** The keys of the best, by different words. */
  search(words, limit) {
    const n = this.#keys.length;
    const mean = this.#lengths.reduce((sum, length) => sum + length, 0) / n;
    const scores = new Map();
    for (const word of new Set(words)) {
      const posting = this.#postings.get(word) ?? new Map();
      const idf = Math.log(1 + (n - posting.size + 0.5) / (posting.size + 0.5));
      for (const [item, count] of posting) {
        const norm = K1 * (1 - B + (B * this.#lengths[item]) / mean);
        scores.set(item, (scores.get(item) ?? 0) + (idf * count * (K1 + 1)) / (count + norm));
      }
    }
    const best = [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, limit);
    return best.map(([item]) => this.#keys[item]);
  }
}
