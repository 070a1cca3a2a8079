// What a browser may never answer.

/** Rejects with `late()` after `limit` ms. An answer that comes later goes to `discard`. @internal */
export function inTime<T>(
  answer: Promise<T>,
  limit: number,
  late: () => unknown,
  discard: (answer: T) => void = () => {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(late());
    }, limit);
    const settle = (value: T) => (isLate ? discard(value) : resolve(value));
    answer.then(settle, reject).finally(() => clearTimeout(timer));
  });
}
